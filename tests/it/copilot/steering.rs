//! Prompts in mid-turn, other models, attachments.

use serde_json::{Value, json};

use crate::support::{CopilotServer, Program};

const TINY_PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn said_to_the_model(copilot: &CopilotServer) -> String {
    Value::from(copilot.model.requests()).to_string()
}

#[tokio::test]
async fn a_prompt_that_steers_reaches_the_running_turn_and_one_that_queues_waits() {
    let copilot = CopilotServer::start(Program::Runtime).await;
    let session = copilot.session("ask").await;
    let request = session.prompt_and_get_request("@@bash true").await;
    let steered = session.post("/prompt", json!({ "text": "@@echo steered", "mode": "steer" })).await;
    assert_eq!(steered.status, 200, "{}", steered.text());
    let queued = session.post("/prompt", json!({ "text": "@@echo queued", "mode": "queue" })).await;
    assert_eq!(queued.status, 200);
    assert_eq!(session.queued().await.len(), 1, "the steered one does not wait");
    session.post(&format!("/permission/{request}"), json!({ "decision": "allow-once" })).await;
    let mut stream = session.events_after(0).await;
    let first = stream.until_callback("onIdle").await;
    assert!(first.iter().any(|event| event.data.contains("ECHO[steered]")), "{first:?}");
    assert!(!first.iter().any(|event| event.data.contains("ECHO[queued]")), "{first:?}");
    let second = stream.until_callback("onIdle").await;
    assert!(second.iter().any(|event| event.data.contains("ECHO[queued]")), "{second:?}");
}

#[tokio::test]
async fn another_model_and_effort_count_from_the_next_turn_on() {
    let copilot = CopilotServer::start_with(Program::Runtime, "[agents.copilot]\nmodels = [\"other-model\"]").await;
    let session = copilot.session("ask").await;
    session.ask("@@plain").await;
    let patched =
        session.http.patch_json(&session.path(""), &json!({ "model": "other-model", "effort": "high" })).await;
    assert_eq!(patched.status, 200, "{}", patched.text());
    session.ask("@@plain").await;
    let requests = copilot.model.requests();
    assert_eq!(requests.first().expect("asked")["model"], "scripted-model");
    assert_eq!(requests.last().expect("asked")["model"], "other-model");
    assert!(requests.last().expect("asked").to_string().contains("high"), "{}", requests.last().expect("asked"));
    let unknown = session.http.patch_json(&session.path(""), &json!({ "model": "nope" })).await;
    assert_eq!(unknown.error(400), "ModelIdNotFound");
}

#[tokio::test]
async fn pictures_and_files_come_along() {
    let copilot = CopilotServer::start(Program::Runtime).await;
    let session = copilot.session("allow-all").await;
    // "a note of mine" in base64.
    let attachments = json!([
        { "name": "dot.png", "mime": "image/png", "data": TINY_PNG },
        { "name": "note.txt", "mime": "text/plain", "data": "YSBub3RlIG9mIG1pbmU=" },
    ]);
    let outcome = session.post("/prompt", json!({ "text": "@@plain", "attachments": attachments, "wait": true })).await;
    assert_eq!(outcome.json()["verdict"], "succeeded", "{}", outcome.text());
    let said = said_to_the_model(&copilot);
    assert!(said.contains(&format!("data:image/png;base64,{TINY_PNG}")), "{said}");
    assert!(said.contains("a note of mine"), "{said}");
}
