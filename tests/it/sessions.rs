//! What sessions do: states, turns, prompts that queue, interrupt, stop, reopen, delete.

use hyper::Method;
use serde_json::json;

use crate::support::{Server, TestSession, callbacks};

#[tokio::test]
async fn a_prompt_is_answered_and_the_turn_ends_with_agent_end_and_idle() {
    let server = Server::start().await;
    let session = server.session().await;
    let outcome = session.ask("hello").await;
    assert_eq!(outcome["verdict"], "succeeded");
    assert!(outcome["text"].as_str().expect("text").contains("demo"), "{outcome}");
    let names = callbacks(&session.log().await);
    let expected =
        ["onUserPrompt", "onNotice", "onAgentStart", "onStartMessage", "onEndMessage", "onAgentEnd", "onIdle"];
    assert_eq!(names, expected, "deltas are dropped when their block ends");
}

#[tokio::test]
async fn a_new_session_says_nothing_before_its_first_prompt() {
    let server = Server::start().await;
    let session = server.session().await;
    session
        .http
        .header("content-type", "application/json")
        .send(Method::PATCH, &session.path(""), json!({ "title": "mine", "model": "demo-slow" }).to_string())
        .await;
    assert_eq!(session.log().await, []);
    let details = session.get("").await.json();
    assert_eq!((&details["title"], &details["lastSeq"]), (&json!("mine"), &json!(0)));
    session.post("/stop", json!({})).await;
    let live = session.get("/live/fresh").await.json();
    assert_eq!(live, json!({ "error": "SessionClosed" }), "a session that got no query delivers nothing");
}

#[tokio::test]
async fn prompts_queue_while_a_turn_runs_and_run_in_order() {
    let server = Server::start().await;
    let session = server.session().await;
    session.prompt("question").await;
    session.events_after(0).await.until_callback("onQuestionAsked").await;
    assert_eq!(session.prompt("hello").await["promptId"], "prompt-2");
    assert_eq!(session.prompt("error third").await["promptId"], "prompt-3");
    assert_eq!(session.queued().await, ["prompt-2", "prompt-3"]);
    let request = session.get("").await.json()["requests"][0]["requestId"].as_str().expect("an id").to_owned();
    session.post(&format!("/answer/{request}"), json!({ "answer": "red" })).await;
    let mut idles = 0;
    let events = session
        .events_after(0)
        .await
        .until(|event| {
            idles += usize::from(event.callback() == "onIdle");
            idles == 3
        })
        .await;
    let queued: Vec<_> = events
        .iter()
        .filter(|event| event.callback() == "onUserPrompt")
        .map(|event| event.json()["queued"].clone())
        .collect();
    assert_eq!(queued, [json!(false), json!(true), json!(true)]);
    let turns: Vec<_> = events
        .iter()
        .map(crate::support::SseEvent::json)
        .filter(|event| event["callback"] == "onAgentStart" || event["callback"] == "onAgentEnd")
        .map(|event| event["turnId"].as_str().expect("an id").to_owned())
        .collect();
    assert_eq!(turns, ["turn-1", "turn-1", "turn-2", "turn-2", "turn-3", "turn-3"]);
}

#[tokio::test]
async fn an_interrupt_ends_the_turn_and_keeps_the_session() {
    let server = Server::start().await;
    let session = server.session().await;
    session.prompt("many 1000000 500 10").await;
    let mut stream = session.events_after(0).await;
    stream.until_callback("onMessage").await;
    let reply = session.post("/interrupt", json!({})).await;
    assert_eq!((reply.status.as_u16(), reply.json()["interrupted"].clone()), (202, json!(true)));
    let tail: Vec<String> = stream
        .until_callback("onIdle")
        .await
        .iter()
        .map(crate::support::SseEvent::callback)
        .filter(|name| name != "onMessage")
        .collect();
    assert_eq!(tail, ["onEndMessage", "onNotice", "onAgentEnd", "onIdle"]);
    assert_eq!(session.state().await, "ready");
    assert_eq!(session.ask("hello").await["verdict"], "succeeded");
    let idle = session.post("/interrupt", json!({})).await;
    assert_eq!((idle.status.as_u16(), idle.json()["interrupted"].clone()), (202, json!(false)));
}

#[tokio::test]
async fn stop_ends_the_agent_and_the_session_and_nothing_follows() {
    let server = Server::start().await;
    let session = server.session().await;
    session.prompt("many 1000000 500 10").await;
    session.prompt("hello").await;
    session.events_after(0).await.until_callback("onMessage").await;
    assert_eq!(session.post("/stop", json!({})).await.json(), json!({ "result": "Closed" }));
    let log = session.log().await;
    let names = callbacks(&log);
    assert_eq!(
        names[names.len() - 4..],
        ["onAgentEnd", "onIdle", "onPromptCancelled", "onNotice"],
        "the queued prompt is said to be dropped"
    );
    assert_eq!(session.state().await, "closed");
    assert_eq!(session.post("/stop", json!({})).await.json(), json!({ "error": "SessionNotFound" }));
    assert_eq!(session.http.post(&session.path("/query"), "hello").await.json(), json!({ "error": "SessionNotFound" }));
    assert_eq!(session.post("/prompt", json!({ "text": "hello" })).await.error(409), "SessionClosed");
    assert_eq!(session.log().await, log);
}

#[tokio::test]
async fn a_reopened_session_works_again_with_the_same_id_and_numbers_that_go_on() {
    let server = Server::start().await;
    let session = server.session().await;
    session.ask("hello").await;
    assert_eq!(session.post("/reopen", json!({})).await.error(409), "SessionNotClosed");
    session.post("/stop", json!({})).await;
    let last = session.get("").await.json()["lastSeq"].as_u64().expect("a number");
    let server = server.restart().await;
    let session = session.seen_by(server.http());
    assert_eq!(session.post("/reopen", json!({})).await.json()["state"], "ready");
    session.ask("hello").await;
    let log = session.log().await;
    assert!(log.windows(2).all(|pair| pair[0].0 < pair[1].0));
    assert_eq!(log.iter().find(|(seq, _)| *seq > last).expect("more").1["callback"], "onUserPrompt");
}

#[tokio::test]
async fn readers_go_on_after_a_reopen() {
    let server = Server::start().await;
    let session = server.session().await;
    session.ask("hello").await;
    session.post("/stop", json!({})).await;
    session.get("/live/reader").await;
    assert_eq!(session.get("/live/reader").await.json(), json!({ "error": "SessionClosed" }));
    session.post("/reopen", json!({})).await;
    session.ask("hello").await;
    let batch = session.get("/live/reader").await.json();
    assert_eq!(batch["responses"][0]["promptId"], "prompt-2", "{batch}");
}

#[tokio::test]
async fn the_same_idempotency_key_makes_a_repeated_prompt_harmless_even_after_a_restart() {
    let server = Server::start().await;
    let session = server.session().await;
    let keyed = |http: &crate::support::Http| http.header("idempotency-key", "key-1");
    let body = json!({ "text": "hello", "wait": true });
    let first = keyed(&server.http()).post_json(&session.path("/prompt"), &body).await.json();
    let server = server.kill_and_restart().await;
    let http = server.http();
    let again = keyed(&http).post_json(&session.path("/prompt"), &body).await.json();
    assert_eq!(first, again, "the same outcome, from the store");
    assert_eq!(keyed(&http).post(&session.path("/query"), "hello").await.text(), "{}");
    let other = keyed(&http).post_json(&session.path("/prompt"), &json!({ "text": "help" })).await;
    assert_eq!(other.error(422), "IdempotencyKeyReused");
    let picture = json!({ "text": "hello", "attachments": [{ "name": "a", "mime": "image/png", "data": "AAAA" }] });
    let other = keyed(&http).post_json(&session.path("/prompt"), &picture).await;
    assert_eq!(other.error(422), "IdempotencyKeyReused", "attachments count too");
    let session = session.seen_by(http);
    let prompts = callbacks(&session.log().await).iter().filter(|name| *name == "onUserPrompt").count();
    assert_eq!(prompts, 1);
}

#[tokio::test]
async fn steering_is_refused_where_the_runtime_cannot_and_is_a_plain_prompt_when_nothing_runs() {
    let server = Server::start().await;
    let session = server.session().await;
    let steer = json!({ "text": "question", "mode": "steer" });
    assert_eq!(session.post("/prompt", steer.clone()).await.status, 200);
    session.events_after(0).await.until_callback("onQuestionAsked").await;
    assert_eq!(session.post("/prompt", steer).await.error(409), "SteeringNotSupported");
}

#[tokio::test]
async fn title_model_and_permissions_can_be_changed_and_are_kept() {
    let server = Server::start().await;
    let session = server.session().await;
    session.ask("hello").await;
    let patch = async |http: &crate::support::Http, body: serde_json::Value| {
        http.header("content-type", "application/json").send(Method::PATCH, &session.path(""), body.to_string()).await
    };
    let changes = json!({ "title": "A title", "model": "demo-slow", "permissionMode": "deny" });
    assert_eq!(patch(&session.http, changes).await.status, 200);
    assert_eq!(patch(&session.http, json!({ "model": "no-such" })).await.error(400), "ModelIdNotFound");
    assert_eq!(patch(&session.http, json!({ "effort": "high" })).await.status, 200);
    let log = session.log().await;
    let names = callbacks(&log);
    assert!(names.contains(&"onTitleChanged".to_owned()), "{names:?}");
    let notices =
        log.iter().filter(|(_, response)| response["kind"] == "model").map(|(_, response)| &response["message"]);
    let told: Vec<&str> =
        notices.filter_map(serde_json::Value::as_str).filter(|words| words.starts_with("From")).collect();
    assert_eq!(told, ["From the next turn on, the model is demo-slow.", "From the next turn on, the effort is high."]);
    let server = server.restart().await;
    let details = session.seen_by(server.http()).get("").await.json();
    assert_eq!(details["title"], "A title");
    assert_eq!(details["model"], "demo-slow");
    assert_eq!(details["permissionMode"], "deny");
}

#[tokio::test]
async fn sessions_are_listed_newest_first_in_pages_and_by_state() {
    let server = Server::start().await;
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.insert(0, server.session().await.id);
    }
    server.http().post(&format!("/api/copilot/session/{}/stop", ids[2]), "").await;
    let list = async |query: &str| server.http().get(&format!("/api/copilot/session?{query}")).await.json();
    let names = |page: &serde_json::Value| -> Vec<String> {
        page["sessions"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|entry| entry["sessionId"].as_str().expect("an id").to_owned())
            .collect()
    };
    let (mut seen, mut query) = (Vec::new(), "limit=2".to_owned());
    loop {
        let page = list(&query).await;
        seen.extend(names(&page));
        match page["next"].as_str() {
            Some(next) => query = format!("limit=2&after={next}"),
            None => break,
        }
    }
    assert_eq!(seen, ids);
    assert_eq!(names(&list("state=closed").await), [ids[2].clone()]);
    assert_eq!(server.http().get("/api/copilot/session?state=asleep").await.error(400), "InvalidState");
}

#[tokio::test]
async fn deleting_a_running_session_stops_it_and_its_id_is_never_used_again() {
    let server = Server::start().await;
    let session = server.session().await;
    session.prompt("many 1000000 500 10").await;
    let mut stream = session.events_after(0).await;
    stream.until_callback("onMessage").await;
    let deleted = session.http.send(Method::DELETE, &session.path(""), "").await;
    assert_eq!(deleted.status, 204);
    while stream.next().await.is_some() {}
    assert_eq!(session.get("").await.error(404), "SessionNotFound");
    assert_eq!(session.get("/live").await.json(), json!({ "error": "SessionNotFound" }));
    let server = server.restart().await;
    assert_eq!(server.session().await.id, "session-2");
    assert_eq!(server.http().get("/api/copilot/session").await.json()["sessions"].as_array().expect("a list").len(), 1);
}

#[tokio::test]
async fn a_crashed_agent_ends_its_turn_with_an_error_and_comes_back_by_itself() {
    let server = Server::start().await;
    let session = server.session().await;
    let outcome = session.ask("crash").await;
    assert_eq!(outcome["verdict"], "failed");
    let mut stream = session.events_after(0).await;
    let events = stream.until(|event| event.json()["state"] == "ready").await;
    let names: Vec<String> =
        events.iter().map(crate::support::SseEvent::callback).filter(|name| name != "onMessage").collect();
    let expected = [
        "onUserPrompt",
        "onNotice",
        "onAgentStart",
        "onStartMessage",
        "sessionError",
        "onEndMessage",
        "onNotice",
        "onAgentEnd",
        "onIdle",
        "onStateChanged",
        "onStateChanged",
    ];
    assert_eq!(names, expected);
    let end = events.iter().find(|event| event.callback() == "onEndMessage").expect("an end").json();
    assert_eq!(end["completeContent"], "The demo agent is about to", "the partial text is kept");
    assert_eq!(session.ask("hello").await["verdict"], "succeeded");
}

#[tokio::test]
async fn an_agent_that_dies_again_and_again_is_given_up_and_tried_anew_with_the_next_prompt() {
    let server = Server::builder().config("[recovery]\nattempts = 2\nfirst_delay = \"1ms\"").start().await;
    let session = server.session().await;
    for _ in 0..3 {
        session.ask("crash").await;
    }
    session.events_after(0).await.until(|event| event.json()["state"] == "failed").await;
    let details = session.get("").await.json();
    assert_eq!(details["state"], "failed");
    assert!(details["stateDetail"].as_str().expect("a reason").contains("2 attempts"), "{details}");
    assert_eq!(session.ask("hello").await["verdict"], "succeeded");
}

#[tokio::test]
async fn the_number_of_open_sessions_and_of_queued_prompts_is_limited() {
    let server = Server::builder().config("[limits]\nsessions = 1\nqueued_prompts = 1").start().await;
    let session = server.session().await;
    let body = json!({ "runtime": "demo" });
    assert_eq!(server.http().post_json("/api/copilot/session", &body).await.error(429), "TooManySessions");
    session.prompt("question").await;
    session.events_after(0).await.until_callback("onQuestionAsked").await;
    session.prompt("hello").await;
    assert_eq!(session.post("/prompt", json!({ "text": "one too many" })).await.error(429), "TooManyQueuedPrompts");
    session.post("/stop", json!({})).await;
    TestSession::start(server.http()).await;
}

#[tokio::test]
async fn the_limit_of_sessions_holds_for_many_who_create_at_once() {
    let server = Server::builder().config("[limits]\nsessions = 3").start().await;
    let (http, body) = (server.http(), json!({ "runtime": "demo" }));
    let creates = (0..20).map(|_| http.post_json("/api/copilot/session", &body));
    let replies = futures_util::future::join_all(creates).await;
    assert_eq!(replies.iter().filter(|reply| reply.status == 201).count(), 3);
    assert!(replies.iter().all(|reply| reply.status == 201 || reply.error(429) == "TooManySessions"));
}

#[tokio::test]
async fn the_list_of_a_closed_session_has_its_end() {
    let server = Server::start().await;
    let session = server.session().await;
    session.ask("hello").await;
    session.post("/stop", json!({})).await;
    let log = session.log().await;
    let patch = session.http.header("content-type", "application/json");
    let reply = patch.send(Method::PATCH, &session.path(""), json!({ "title": "later" }).to_string()).await;
    assert_eq!(reply.json()["title"], "later");
    assert_eq!(session.log().await, log);
}

#[tokio::test]
async fn a_projects_own_file_chooses_the_model_and_cannot_do_more() {
    let server = Server::start().await;
    let project = server.work();
    let create = async || {
        let body = json!({ "workingDirectory": project });
        server.http().post_json("/api/copilot/session", &body).await
    };
    std::fs::write(project.join(".flightdeck.toml"), "[sessions]\nmodel = \"demo-slow\"").expect("written");
    assert_eq!(create().await.json()["model"], "demo-slow");
    std::fs::write(project.join(".flightdeck.toml"), "[permissions]\ndefault = \"allow-all\"").expect("written");
    assert_eq!(create().await.error(400), "ProjectConfigurationInvalid");
}

#[tokio::test]
async fn a_repeated_creation_with_the_same_key_returns_the_same_session_even_after_a_crash() {
    let server = Server::start().await;
    let body = json!({ "runtime": "demo", "title": "mine" });
    let first = server.http().header("idempotency-key", "k").post_json("/api/copilot/session", &body).await;
    assert_eq!(first.status, 201);
    let id = first.json()["sessionId"].clone();
    assert_eq!(first.json()["origin"], "api");
    let server = server.kill_and_restart().await;
    let keyed = server.http().header("idempotency-key", "k");
    assert_eq!(keyed.post_json("/api/copilot/session", &body).await.json()["sessionId"], id);
    let other = json!({ "runtime": "demo", "title": "another" });
    assert_eq!(keyed.post_json("/api/copilot/session", &other).await.error(422), "IdempotencyKeyReused");
    assert_eq!(keyed.post("/api/copilot/session/start/demo", "").await.error(422), "IdempotencyKeyReused");
    let sessions = server.http().get("/api/copilot/session").await.json()["sessions"].clone();
    assert_eq!(sessions.as_array().map(Vec::len), Some(1), "{sessions}");

    let portal = server.http().header("idempotency-key", "other");
    let started = portal.post("/api/copilot/session/start/demo", "").await.json();
    assert_ne!(started["sessionId"], id);
    assert_eq!(portal.post("/api/copilot/session/start/demo", "").await.json(), started);
}

#[tokio::test]
async fn the_outcome_of_a_failed_turn_has_its_class_and_a_hint() {
    let server = Server::start().await;
    let session = server.session().await;
    let failed = session.ask("error out of luck").await;
    assert_eq!(
        (&failed["verdict"], &failed["errorClass"], &failed["retry"]),
        (&json!("failed"), &json!("unknown"), &json!("later"))
    );
    let succeeded = session.ask("hello").await;
    assert_eq!((succeeded.get("errorClass"), succeeded.get("retry")), (None, None), "{succeeded}");
}
