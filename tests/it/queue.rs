//! Prompts that wait: changed, cancelled and reordered until their turn begins.

use hyper::Method;
use serde_json::{Value, json};

use crate::support::{Reply, Server, TestSession, page};

async fn change(session: &TestSession, prompt: &str, text: &str) -> Reply {
    session.http.patch_json(&session.path(&format!("/prompt/{prompt}")), &json!({ "text": text })).await
}

async fn change_from(session: &TestSession, prompt: &str, before: &str, text: &str) -> Reply {
    let body = json!({ "text": text, "before": before });
    session.http.patch_json(&session.path(&format!("/prompt/{prompt}")), &body).await
}

async fn cancel(session: &TestSession, prompt: &str) -> Reply {
    session.http.delete(&session.path(&format!("/prompt/{prompt}"))).await
}

async fn order(session: &TestSession, prompts: &[&str]) -> Reply {
    let http = session.http.header("content-type", "application/json");
    http.send(Method::PUT, &session.path("/queue"), json!({ "promptIds": prompts }).to_string()).await
}

/// A session whose first prompt waits for an answer, with three that are queued.
async fn with_queue(server: &Server) -> (TestSession, String) {
    let session = server.session().await;
    let request = session.prompt_and_get_request("question").await;
    for text in ["hello", "reason", "help"] {
        session.prompt(text).await;
    }
    (session, request)
}

fn turns(log: &[(u64, Value)]) -> Vec<String> {
    let begun = log.iter().filter(|(_, response)| response["callback"] == "onAgentStart");
    begun.map(|(_, response)| response["turnId"].as_str().expect("an id").to_owned()).collect()
}

fn callbacks(log: &[(u64, Value)], name: &str) -> Vec<Value> {
    log.iter().map(|(_, response)| response.clone()).filter(|response| response["callback"] == name).collect()
}

#[tokio::test]
async fn queued_prompts_are_changed_reordered_and_cancelled_and_the_agent_gets_what_is_left() {
    let server = Server::start().await;
    let (session, request) = with_queue(&server).await;
    let changed = change(&session, "prompt-2", "error changed").await;
    assert_eq!(changed.status, 200, "{}", changed.text());
    assert_eq!(changed.json()["queuedPrompts"][0]["text"], "error changed");
    let moved = order(&session, &["prompt-4", "prompt-2", "prompt-3"]).await;
    assert_eq!(moved.status, 200, "{}", moved.text());
    assert_eq!(session.queued().await, ["prompt-4", "prompt-2", "prompt-3"]);
    assert_eq!(cancel(&session, "prompt-3").await.status, 204);
    session.post(&format!("/answer/{request}"), json!({ "answer": "red" })).await;
    session.events_after(0).await.until(|event| event.json()["sessionError"] == "demo error: changed").await;
    session.events_after(0).await.until(|event| event.json()["turnId"] == "turn-2").await;
    let log = session.log().await;
    assert_eq!(turns(&log), ["turn-1", "turn-4", "turn-2"]);
    assert_eq!(
        callbacks(&log, "onQueueReordered"),
        [json!({ "callback": "onQueueReordered", "promptIds": ["prompt-4", "prompt-2", "prompt-3"] })]
    );
    assert_eq!(
        callbacks(&log, "onPromptCancelled"),
        [json!({ "callback": "onPromptCancelled", "promptId": "prompt-3" })]
    );
}

#[tokio::test]
async fn who_waits_for_a_cancelled_prompt_learns_that_it_was_dropped() {
    let server = Server::start().await;
    let session = server.session().await;
    session.prompt_and_get_request("question").await;
    let waiting = {
        let session = session.seen_by(server.http());
        tokio::spawn(async move { session.ask("hello").await })
    };
    session.events_after(0).await.until(|event| event.json()["promptId"] == "prompt-2").await;
    assert_eq!(cancel(&session, "prompt-2").await.status, 204);
    let outcome = waiting.await.expect("answered");
    assert_eq!((&outcome["promptId"], &outcome["verdict"]), (&json!("prompt-2"), &json!("dropped")));
}

#[tokio::test]
async fn prompts_that_wait_when_the_session_is_closed_are_cancelled_and_it_is_said_how_many() {
    let server = Server::start().await;
    let (session, _) = with_queue(&server).await;
    session.post("/stop", json!({})).await;
    let log = session.log().await;
    let cancelled: Vec<Value> =
        callbacks(&log, "onPromptCancelled").iter().map(|event| event["promptId"].clone()).collect();
    assert_eq!(cancelled, ["prompt-2", "prompt-3", "prompt-4"]);
    let dropped: Vec<&Value> = log.iter().map(|(_, response)| response).filter(|it| it["kind"] == "dropped").collect();
    let words = json!("3 queued prompts were not sent because the session was closed.");
    assert_eq!(dropped.iter().map(|notice| &notice["message"]).collect::<Vec<_>>(), [&words]);
}

#[tokio::test]
async fn a_repeated_change_is_harmless_and_a_late_one_is_refused() {
    let server = Server::start().await;
    let (session, _) = with_queue(&server).await;
    for _ in 0..2 {
        assert_eq!(change(&session, "prompt-2", "other").await.status, 200);
        assert_eq!(order(&session, &["prompt-3", "prompt-2", "prompt-4"]).await.status, 200);
    }
    for _ in 0..2 {
        assert_eq!(cancel(&session, "prompt-4").await.status, 204);
    }
    assert_eq!(order(&session, &["prompt-3", "prompt-2", "prompt-4"]).await.error(409), "QueueChanged");
    let log = session.log().await;
    assert_eq!(callbacks(&log, "onPromptChanged").len(), 1, "what changes nothing leaves no event");
    assert_eq!(callbacks(&log, "onQueueReordered").len(), 1);
    assert_eq!(callbacks(&log, "onPromptCancelled").len(), 1);
    assert_eq!(change(&session, "prompt-1", "late").await.error(409), "PromptNotQueued", "its turn runs");
    assert_eq!(cancel(&session, "prompt-1").await.error(409), "PromptNotQueued");
    assert_eq!(change(&session, "prompt-4", "late").await.error(409), "PromptNotQueued", "it was cancelled");
    assert_eq!(change(&session, "prompt-9", "none").await.error(404), "PromptNotFound");
    assert_eq!(cancel(&session, "nonsense").await.error(404), "PromptNotFound");
    assert_eq!(change(&session, "prompt-2", "  ").await.error(400), "EmptyPrompt");
    assert_eq!(change(&session, "prompt-2", &"x".repeat(1024 * 1024 + 1)).await.error(413), "PromptTooLarge");
    assert_eq!(order(&session, &["prompt-3"]).await.error(409), "QueueChanged");
    assert_eq!(order(&session, &["prompt-3", "prompt-3"]).await.error(409), "QueueChanged");
    let path = "/api/copilot/session/session-99/prompt/prompt-1";
    assert_eq!(session.http.patch_json(path, &json!({ "text": "x" })).await.error(404), "SessionNotFound");
    session.post("/stop", json!({})).await;
    assert_eq!(change(&session, "prompt-2", "closed").await.error(409), "PromptNotQueued");
    assert_eq!(cancel(&session, "prompt-2").await.status, 204, "it was dropped with the session");
}

#[tokio::test]
async fn a_change_of_a_text_that_was_changed_meanwhile_is_refused() {
    let server = Server::start().await;
    let (session, _) = with_queue(&server).await;
    assert_eq!(change_from(&session, "prompt-2", "hello", "first").await.status, 200);
    let late = change_from(&session, "prompt-2", "hello", "second").await;
    assert!(late.json()["message"].as_str().expect("a message").contains("prompt-2 has changed"));
    assert_eq!(late.error(409), "PromptChanged");
    let queued = session.get("").await.json()["queuedPrompts"][0]["text"].clone();
    assert_eq!(queued, "first");
    assert_eq!(change_from(&session, "prompt-2", "hello", "first").await.status, 200, "a repeated change is harmless");
    assert_eq!(change_from(&session, "prompt-2", "first", "second").await.status, 200);
    assert_eq!(
        change(&session, "prompt-2", "third").await.status,
        200,
        "who does not say what they read replaces any text"
    );
    let changed: Vec<Value> =
        callbacks(&session.log().await, "onPromptChanged").iter().map(|change| change["text"].clone()).collect();
    assert_eq!(changed, ["first", "second", "third"]);
    let empty = session.http.patch_json(&session.path("/prompt/prompt-2"), &json!({ "before": "third" })).await;
    assert_eq!(empty.error(400), "InvalidJson");
}

#[tokio::test]
async fn a_killed_server_keeps_the_queue_as_it_was_left() {
    let server = Server::start().await;
    let session = page(&server).await;
    let session = TestSession::start_with(session, json!({ "runtime": "demo" })).await;
    session.prompt("many 1000000 200 10").await;
    for text in ["hello", "reason", "help"] {
        session.prompt(text).await;
    }
    session.events_after(0).await.until_callback("onMessage").await;
    assert_eq!(change(&session, "prompt-4", "error kept").await.status, 200);
    assert_eq!(order(&session, &["prompt-4", "prompt-3", "prompt-2"]).await.status, 200);
    assert_eq!(cancel(&session, "prompt-2").await.status, 204);
    let server = server.kill_and_restart().await;
    let session = session.seen_by(server.http());
    assert_eq!(session.queued().await, ["prompt-4", "prompt-3"]);
    assert_eq!(cancel(&session, "prompt-2").await.status, 204, "still cancelled");
    session.post("/retry", json!({})).await;
    session.events_after(0).await.until(|event| event.json()["sessionError"] == "demo error: kept").await;
    session.events_after(0).await.until(|event| event.json()["turnId"] == "turn-3").await;
    assert_eq!(turns(&session.log().await), ["turn-1", "turn-4", "turn-3"]);
}

#[tokio::test]
async fn the_key_of_a_changed_prompt_still_finds_it() {
    let server = Server::start().await;
    let session = server.session().await;
    session.prompt_and_get_request("question").await;
    let keyed = session.seen_by(session.http.header("idempotency-key", "k"));
    let first = keyed.prompt("hello").await;
    assert_eq!(change(&session, "prompt-2", "reason").await.status, 200);
    assert_eq!(keyed.prompt("hello").await, first, "the same request is the same prompt");
    assert_eq!(session.queued().await, ["prompt-2"]);
}
