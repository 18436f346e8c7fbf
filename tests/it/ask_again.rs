//! Prompts that are asked again, and queued prompts that wait for that decision.

use serde_json::{Value, json};

use crate::support::{Server, TestSession, page};

/// The turns of a log, in the order in which they began.
fn turns(log: &[(u64, Value)]) -> Vec<String> {
    let begun = log.iter().filter(|(_, response)| response["callback"] == "onAgentStart");
    begun.map(|(_, response)| response["turnId"].as_str().expect("an id").to_owned()).collect()
}

#[tokio::test]
async fn a_prompt_that_was_cut_off_is_asked_again_before_queued_prompts() {
    let server = Server::start().await;
    let first = server.session().await;
    first.prompt("many 100000 1000").await;
    first.prompt("hello").await;
    first.events_after(0).await.until_callback("onMessage").await;
    let server = server.kill_and_restart().await;
    let session = first.seen_by(server.http());
    let asked = session.post("/ask-again", json!({ "promptId": "prompt-2" })).await;
    assert_eq!(asked.error(409), "PromptNotOver", "it is queued");
    let asked = session.post("/ask-again", json!({ "promptId": "prompt-1" })).await;
    assert_eq!((asked.status.as_u16(), &asked.json()["promptId"]), (200, &json!("prompt-3")), "{}", asked.text());
    session.events_after(0).await.until(|event| event.json()["turnId"] == "turn-3").await;
    session.post("/interrupt", json!({})).await;
    session.events_after(0).await.until(|event| event.json()["turnId"] == "turn-2").await;
    let log = session.log().await;
    assert_eq!(turns(&log), ["turn-1", "turn-3", "turn-2"], "the queued prompt does not overtake");
    let texts: Vec<&Value> = log.iter().map(|(_, event)| &event["text"]).filter(|text| text.is_string()).collect();
    assert_eq!(texts, ["many 100000 1000", "hello", "many 100000 1000"]);
}

#[tokio::test]
async fn a_repetition_with_the_same_key_is_the_same_prompt() {
    let server = Server::start().await;
    let session = server.session().await;
    assert_eq!(session.ask("crash").await["verdict"], "failed");
    let keyed = session.seen_by(session.http.header("idempotency-key", "k"));
    let one = keyed.post("/ask-again", json!({ "promptId": "prompt-1", "wait": true })).await.json();
    let two = keyed.post("/ask-again", json!({ "promptId": "prompt-1", "wait": true })).await.json();
    assert_eq!((&one["promptId"], &one["verdict"]), (&json!("prompt-2"), &json!("failed")), "{one}");
    assert_eq!(one, two);
}

#[tokio::test]
async fn only_a_prompt_that_did_not_do_its_work_is_asked_again() {
    let server = Server::start().await;
    let session = server.session().await;
    session.ask("hello").await;
    let ask = async |prompt: &str| session.post("/ask-again", json!({ "promptId": prompt })).await;
    assert_eq!(ask("prompt-1").await.error(409), "PromptSucceeded");
    assert_eq!(ask("prompt-7").await.error(404), "PromptNotFound");
    assert_eq!(ask("seven").await.error(400), "InvalidJson");
    assert_eq!(session.post("/ask-again", json!({})).await.error(400), "InvalidJson");
}

#[tokio::test]
async fn in_a_session_of_a_person_queued_prompts_wait_after_the_agent_was_lost() {
    let server = Server::start().await;
    let session = TestSession::start_with(page(&server).await, json!({ "runtime": "demo" })).await;
    session.prompt("permission").await;
    session.prompt("crash").await;
    session.prompt("hello").await;
    let asked = session.events_after(0).await.until_callback("onPermissionRequested").await;
    let request = asked.last().expect("one").json()["requestId"].as_str().expect("an id").to_owned();
    session.post(&format!("/permission/{request}"), json!({ "decision": "deny" })).await;
    let waits =
        |event: &crate::support::SseEvent| event.json()["kind"] == "queue-held" && event.data.contains("1 queued");
    session.events_after(0).await.until(waits).await;
    assert_eq!(turns(&session.log().await), ["turn-1", "turn-2"]);
    assert_eq!(session.post("/retry", json!({})).await.status, 202);
    session.events_after(0).await.until(|event| event.json()["turnId"] == "turn-3").await;
}

/// The server stopped in between, so that nobody remembers why the queue waits.
#[tokio::test]
async fn a_queue_that_a_restart_left_waiting_is_sent_by_a_retry() {
    let server = Server::start().await;
    let session = server.session().await;
    session.prompt("many 100000 1000").await;
    session.prompt("hello").await;
    session.events_after(0).await.until_callback("onMessage").await;
    let server = server.kill_and_restart().await;
    let session = session.seen_by(server.http());
    session.events_after(0).await.until(|event| event.json()["kind"] == "queue-held").await;
    assert_eq!(turns(&session.log().await), ["turn-1"]);
    assert_eq!(session.post("/retry", json!({})).await.status, 202);
    session.events_after(0).await.until(|event| event.json()["turnId"] == "turn-2").await;
}

#[tokio::test]
async fn in_a_session_of_a_program_queued_prompts_do_not_wait() {
    let server = Server::start().await;
    let session = server.session().await;
    session.prompt("crash").await;
    session.prompt("hello").await;
    session.events_after(0).await.until(|event| event.json()["turnId"] == "turn-2").await;
}
