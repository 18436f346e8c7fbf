//! Server-sent events: of one session, resumable; of all sessions, for an inbox.

use serde_json::json;

use crate::support::{Server, SseEvent, TestSession, a_moment, message_text};

#[tokio::test]
async fn numbers_increase_and_a_reader_resumes_with_no_gap_and_no_repeat() {
    let server = Server::start().await;
    let session = server.session().await;
    session.prompt("many 2000 0 10").await;
    let mut stream = session.events_after(0).await;
    let mut all = Vec::new();
    // Hangs up every hundred events and comes again with the number of the last one.
    'reading: loop {
        for _ in 0..100 {
            let event = stream.next().await.expect("more");
            assert_eq!(event.event, None);
            let done = event.callback() == "onIdle";
            all.push(event);
            if done {
                break 'reading;
            }
        }
        let last = all.last().and_then(|event: &SseEvent| event.id).expect("a number");
        stream = session.http.header("last-event-id", &last.to_string()).events(&session.path("/events")).await;
    }
    let ids: Vec<u64> = all.iter().map(|event| event.id.expect("a number")).collect();
    assert!(ids.windows(2).all(|pair| pair[0] < pair[1]));
    assert_eq!(all.iter().filter(|event| event.callback() == "onEndMessage").count(), 1);
    assert_eq!(message_text(&all).len(), 20_000);
}

#[tokio::test]
async fn a_stream_resumes_across_a_restart() {
    let server = Server::start().await;
    let session = server.session().await;
    session.ask("hello").await;
    let last =
        session.events_after(0).await.until_callback("onIdle").await.last().and_then(|event| event.id).expect("one");
    let server = server.kill_and_restart().await;
    let session = session.seen_by(server.http());
    let mut stream = session.events_after(last).await;
    session.prompt("hello").await;
    let next = stream.next().await.expect("one");
    assert_eq!((next.id, next.callback()), (Some(last + 1), "onUserPrompt".to_owned()));
}

#[tokio::test]
async fn a_closed_session_says_so_and_a_reconnect_gets_204() {
    let server = Server::start().await;
    let session = server.session().await;
    let mut waiting = session.events_after(0).await;
    session.ask("hello").await;
    session.post("/stop", json!({})).await;
    let events = waiting.until(|event| event.event.is_some()).await;
    let closed = events.last().expect("one");
    assert_eq!(closed.event.as_deref(), Some("closed"));
    assert_eq!(waiting.next().await, None);
    let last = closed.id.expect("the last number");
    let again = session.http.header("last-event-id", &last.to_string()).get(&session.path("/events")).await;
    assert_eq!(again.status, 204);
    let mut late = session.events_after(0).await;
    let history = late.until(|event| event.event.is_some()).await;
    assert_eq!(history.len(), 8, "seven responses without the dropped deltas, then the close");
}

#[tokio::test]
async fn an_empty_closed_session_says_so_once() {
    let server = Server::start().await;
    let session = server.session().await;
    session.post("/stop", json!({})).await;
    let mut stream = session.http.events(&session.path("/events")).await;
    let closed = stream.next().await.expect("the close");
    assert_eq!((closed.event.as_deref(), closed.id), (Some("closed"), Some(0)));
    assert_eq!(session.http.header("last-event-id", "0").get(&session.path("/events")).await.status, 204);
}

#[tokio::test]
async fn at_full_speed_ten_viewers_get_every_delta() {
    let server = Server::start().await;
    let session = server.session().await;
    let mut viewers = Vec::new();
    for _ in 0..10 {
        let mut stream = session.events_after(0).await;
        viewers.push(tokio::spawn(async move { stream.until_callback("onIdle").await }));
    }
    session.prompt("many 20000 0 40").await;
    for viewer in viewers {
        let events = viewer.await.expect("a viewer");
        let deltas = events.iter().filter(|event| event.callback() == "onMessage").count();
        assert_eq!(deltas, 20_000);
        let text: String =
            events.iter().filter_map(|event| event.json()["delta"].as_str().map(str::to_owned)).collect();
        let end = events.iter().find(|event| event.callback() == "onEndMessage").expect("an end").json();
        assert_eq!(end["completeContent"], json!(text));
    }
}

#[tokio::test]
async fn a_viewer_that_never_reads_holds_nobody_up() {
    let server = Server::start().await;
    let session = server.session().await;
    let stalled = session.events_after(0).await;
    let other = server.session().await;
    session.prompt("many 60000 0 200").await;
    let mut keeps_up = session.events_after(0).await;
    assert_eq!(other.ask("hello").await["verdict"], "succeeded");
    let events = keeps_up.until_callback("onIdle").await;
    assert_eq!(message_text(&events).len(), 12_000_000);
    drop(stalled);
    assert_eq!(session.ask("hello").await["verdict"], "succeeded");
}

#[tokio::test]
async fn readers_of_one_session_are_limited() {
    let server = Server::builder().config("[limits]\nreaders_per_session = 1").start().await;
    let session = server.session().await;
    let first = session.events_after(0).await;
    assert_eq!(session.get("/events").await.error(429), "TooManyReaders");
    drop(first);
    while server.http().get("/api/health").await.json()["readers"] != json!(0) {
        a_moment().await;
    }
    session.events_after(0).await;
}

#[tokio::test]
async fn a_quiet_stream_says_that_it_is_still_there() {
    let server = Server::start().await;
    let session = server.session().await;
    let mut stream = session.events_after(0).await;
    assert_eq!(stream.next_comment().await, ": keep-alive");
}

#[tokio::test]
async fn the_inbox_says_once_that_the_latest_states_were_sent() {
    let server = Server::start().await;
    let mut inbox = server.http().events("/api/events").await;
    let first = inbox.next().await.expect("an event");
    assert_eq!((first.event.as_deref(), first.data.as_str()), (Some("current"), "{}"), "also when nothing is open");
    let session = server.session().await;
    let changes = inbox.until(|event| event.json()["sessionId"] == json!(session.id)).await;
    assert!(changes.iter().all(|event| event.event.is_none()), "{changes:#?}");
    let mut inbox = server.http().events("/api/events").await;
    let states = inbox.until(|event| event.event.as_deref() == Some("current")).await;
    assert!(states.iter().any(|event| event.json()["sessionId"] == json!(session.id)), "{states:#?}");
}

#[tokio::test]
async fn the_inbox_shows_states_and_open_requests_of_all_sessions() {
    let server = Server::start().await;
    let quiet = server.session().await;
    let mut inbox = server.http().events("/api/events").await;
    inbox.until(|event| event.json()["sessionId"] == json!(quiet.id)).await;
    let session = server.session().await;
    let request = session.prompt_and_get_request("permission").await;
    let seen = inbox.until(|event| event.json()["pending"][0].is_object()).await;
    let entry = seen.last().expect("one").json();
    assert_eq!((&entry["sessionId"], &entry["state"]), (&json!(session.id), &json!("waiting")));
    assert_eq!(
        (&entry["pending"][0]["requestId"], &entry["pending"][0]["kind"]),
        (&json!(request), &json!("permission"))
    );
    session.post(&format!("/permission/{request}"), json!({ "decision": "deny" })).await;
    let of_session = |event: &SseEvent, state: &str| {
        event.json()["sessionId"] == json!(session.id) && event.json()["state"] == json!(state)
    };
    inbox.until(|event| of_session(event, "ready")).await;
    let server = server.kill_and_restart().await;
    let mut inbox = server.http().events("/api/events").await;
    let session = TestSession { http: server.http(), id: quiet.id };
    inbox.until(|event| event.json()["sessionId"] == json!(session.id)).await;
}
