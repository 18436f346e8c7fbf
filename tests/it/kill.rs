//! `kill -9`: what anybody has seen is there, numbers go on, the turn says that it was interrupted.

use serde_json::{Value, json};

use crate::support::{Server, SseEvent, callbacks, message_text};

#[tokio::test]
async fn after_a_kill_in_mid_stream_everything_seen_is_there_and_the_turn_is_closed() {
    let server = Server::start().await;
    let session = server.session().await;
    session.prompt("many 1000000 0 20").await;
    let mut stream = session.events_after(0).await;
    let mut seen: Vec<SseEvent> = Vec::new();
    while seen.len() < 3000 {
        seen.push(stream.next().await.expect("more"));
    }
    let mut server = server;
    server.kill().await;
    // What is still in the socket was published before the kill, too.
    while let Some(event) = stream.next().await {
        seen.push(event);
    }
    let server = server.kill_and_restart().await;
    let session = session.seen_by(server.http());
    let log = session.log().await;
    let names = callbacks(&log);
    assert_eq!(names[names.len() - 4..], ["onEndMessage", "onNotice", "onAgentEnd", "onIdle"]);
    let (_, notice) = &log[log.len() - 3];
    assert_eq!(notice["kind"], "interrupted");
    let last_seen = seen.last().and_then(|event| event.id).expect("a number");
    let (end_seq, end) = &log[log.len() - 4];
    assert!(*end_seq > last_seen, "numbers go on above what was seen");
    let kept = end["completeContent"].as_str().expect("text");
    assert!(kept.starts_with(&message_text(&seen)), "everything seen is kept");
    assert_eq!(session.state().await, "ready");

    // A viewer that was there goes on without gap or repeat, and the session works.
    let mut stream = session.events_after(last_seen).await;
    assert_eq!(session.ask("hello").await["verdict"], "succeeded");
    let more = stream.until(|event| event.json()["promptId"] == "prompt-2").await;
    assert!(more.iter().all(|event| event.id > Some(last_seen)));
    assert!(more.iter().any(|event| event.callback() == "onEndMessage"));
    assert_eq!(server.session().await.id, "session-2", "ids go on");
}

#[tokio::test]
async fn a_permission_request_of_the_demo_is_still_answerable_after_a_kill() {
    for (decision, expected) in [("allow-once", "You allowed it"), ("deny", "You denied it")] {
        let server = Server::start().await;
        let session = server.session().await;
        let request = session.prompt_and_get_request("permission").await;
        let server = server.kill_and_restart().await;
        let session = session.seen_by(server.http());
        assert_eq!(session.state().await, "waiting");
        let inbox = server.http().events("/api/events").await.next_entry().await;
        assert_eq!(inbox["pending"][0]["requestId"], json!(request));
        let reply = session.post(&format!("/permission/{request}"), json!({ "decision": decision })).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        let events = session.events_after(0).await.until_callback("onIdle").await;
        assert!(message_text(&events).contains(expected));
        let names = callbacks(&session.log().await);
        assert_eq!(names.iter().filter(|name| name.starts_with("onPermission")).count(), 2);
        assert!(!names.contains(&"sessionError".to_owned()));
    }
}

#[tokio::test]
async fn a_request_that_survived_a_restart_can_be_interrupted() {
    let server = Server::start().await;
    let session = server.session().await;
    session.prompt_and_get_request("question").await;
    let server = server.restart().await;
    let session = session.seen_by(server.http());
    assert_eq!(session.state().await, "waiting", "a clean restart keeps it too");
    session.post("/interrupt", json!({})).await;
    session.events_after(0).await.until_callback("onIdle").await;
    assert_eq!(session.ask("hello").await["verdict"], "succeeded");
}

/// One turn that waits for a person and two prompts behind it, then a kill.
async fn kill_with_queue(config: &str) -> (Server, crate::support::TestSession) {
    let server = Server::builder().config(config).start().await;
    let session = server.session().await;
    session.prompt("many 1000000 200 10").await;
    session.prompt("hello").await;
    session.prompt("help").await;
    session.events_after(0).await.until_callback("onMessage").await;
    let server = server.kill_and_restart().await;
    let session = session.seen_by(server.http());
    (server, session)
}

fn started_turns(log: &[(u64, Value)]) -> Vec<String> {
    log.iter()
        .filter(|(_, response)| response["callback"] == "onAgentStart")
        .map(|(_, response)| response["turnId"].as_str().expect("an id").to_owned())
        .collect()
}

#[tokio::test]
async fn queued_prompts_are_kept_and_go_on_with_the_next_one() {
    let (_server, session) = kill_with_queue("").await;
    assert_eq!(session.queued().await, ["prompt-2", "prompt-3"]);
    assert_eq!(session.ask("reason").await["verdict"], "succeeded");
    assert_eq!(started_turns(&session.log().await), ["turn-1", "turn-2", "turn-3", "turn-4"]);
}

#[tokio::test]
async fn queued_prompts_go_on_when_one_of_them_is_sent_again() {
    let server = Server::start().await;
    let session = server.session().await;
    session.prompt("many 1000000 200 10").await;
    let http = server.http().header("idempotency-key", "mine");
    let asked = session.seen_by(http).prompt("hello").await;
    session.events_after(0).await.until_callback("onMessage").await;
    let server = server.kill_and_restart().await;
    let again = session.seen_by(server.http().header("idempotency-key", "mine")).ask("hello").await;
    assert_eq!((&again["promptId"], &again["verdict"]), (&asked["promptId"], &json!("succeeded")));
    let session = session.seen_by(server.http());
    assert_eq!(started_turns(&session.log().await), ["turn-1", "turn-2"]);
}

#[tokio::test]
async fn queued_prompts_go_on_at_the_start_where_configured() {
    let (_server, session) = kill_with_queue("[sessions]\nresume = \"at-start\"").await;
    let mut stream = session.events_after(0).await;
    stream.until(|event| event.json()["turnId"] == "turn-3" && event.callback() == "onAgentEnd").await;
    assert_eq!(started_turns(&session.log().await), ["turn-1", "turn-2", "turn-3"]);
}

#[tokio::test]
async fn the_shared_cursor_may_repeat_after_a_kill_and_never_skips() {
    let server = Server::start().await;
    let session = server.session().await;
    session.ask("hello").await;
    let mut before = Vec::new();
    for _ in 0..4 {
        before.push(session.get("/live").await.json());
    }
    let server = server.kill_and_restart().await;
    let session = session.seen_by(server.http());
    let mut after = Vec::new();
    loop {
        let response = session.get("/live").await.json();
        let done = response["callback"] == "onIdle";
        after.push(response);
        if done {
            break;
        }
    }
    let stored: Vec<Value> = session.log().await.into_iter().map(|(_, response)| response).collect();
    assert!(stored.ends_with(&after), "{after:?}");
    assert!(before.len() + after.len() >= stored.len(), "nothing is skipped: {before:?} {after:?}");
}

#[tokio::test]
async fn killed_again_and_again_the_log_stays_whole() {
    let mut server = Server::start().await;
    let session = server.session().await;
    for round in 1..=4 {
        let seen = session.seen_by(server.http());
        seen.prompt("many 1000000 0 30").await;
        let last = seen.get("").await.json()["lastSeq"].as_u64().expect("a number");
        seen.events_after(last).await.until_callback("onMessage").await;
        server = server.kill_and_restart().await;
        let log = session.seen_by(server.http()).log().await;
        assert!(log.windows(2).all(|pair| pair[0].0 < pair[1].0));
        let count = |name: &str| callbacks(&log).iter().filter(|callback| *callback == name).count();
        for name in ["onUserPrompt", "onAgentStart", "onStartMessage", "onEndMessage", "onAgentEnd", "onIdle"] {
            assert_eq!(count(name), round, "{name}");
        }
        assert_eq!(count("onMessage"), 0, "deltas of ended blocks are gone");
    }
}
