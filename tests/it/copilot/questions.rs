//! Forms of MCP servers, plans to approve.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{CopilotServer, Program, message_text};

fn greeter() -> Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agents/mcp_server.mjs");
    json!({ "command": "node", "args": [script] })
}

#[tokio::test]
async fn a_form_of_an_mcp_server_is_filled_in_or_declined() {
    let script = greeter();
    let config = format!(
        "[mcp_servers.greeter]\ncommand = {}\nargs = {}\n[[permissions.rules]]\ntool = \"greeter-*\"\ndecision = \"allow\"",
        script["command"], script["args"]
    );
    for program in Program::BOTH {
        let copilot = CopilotServer::start_with(program, &config).await;
        let session = copilot.session("ask").await;
        for (answer, said) in [
            (json!({ "content": { "name": "Ada" } }), "Hello, Ada!"),
            (json!({ "answer": "Grace" }), "Hello, Grace!"),
            (json!({ "decline": true }), "Nobody to greet: decline"),
        ] {
            let after = session.get("").await.json()["lastSeq"].as_u64().expect("a number");
            let request = session.prompt_and_get_request("@@tool greeter-greet {}").await;
            let asked = &session.get("").await.json()["requests"][0]["body"];
            assert_eq!(asked["form"]["required"], json!(["name"]), "{asked}");
            assert!(asked["question"].as_str().expect("words").contains("Whom shall I greet?"));
            let incomplete = session.post(&format!("/answer/{request}"), json!({ "content": {} })).await;
            assert_eq!(incomplete.error(400), "IncompleteAnswer");
            assert_eq!(session.post(&format!("/answer/{request}"), json!({})).await.error(400), "InvalidJson");
            let answered = session.post(&format!("/answer/{request}"), answer).await;
            assert_eq!(answered.status, 200, "{}", answered.text());
            let events = session.events_after(after).await.until_callback("onIdle").await;
            assert!(message_text(&events).contains(said), "{program:?} {}", message_text(&events));
        }
    }
}

#[tokio::test]
async fn a_session_brings_its_own_mcp_server_and_a_broken_one_is_named() {
    let copilot = CopilotServer::start(Program::Runtime).await;
    let servers = json!({ "greeter": greeter(), "broken": { "command": "/no/such/program" } });
    let session =
        copilot.session_with(json!({ "permissionMode": "allow-all", "options": { "mcpServers": servers } })).await;
    let request = session.prompt_and_get_request("@@tool greeter-greet {}").await;
    session.post(&format!("/answer/{request}"), json!({ "content": { "name": "Ada" } })).await;
    let events = session.events_after(0).await.until_callback("onIdle").await;
    assert!(message_text(&events).contains("Hello, Ada!"), "{}", message_text(&events));
    let notice = events.iter().map(crate::support::SseEvent::json).find(|event| event["kind"] == "mcp");
    let message = notice.expect("a notice")["message"].as_str().expect("words").to_owned();
    assert!(message.contains("broken"), "{message}");
}

#[tokio::test]
async fn a_plan_is_shown_changed_and_approved() {
    let copilot = CopilotServer::start(Program::Runtime).await;
    let session = copilot.session_with(json!({ "options": { "mode": "plan" } })).await;
    let prompt = "@@tool exit_plan_mode {\"summary\":\"- do it\",\"actions\":[\"interactive\"],\"recommendedAction\":\"interactive\"}";
    let request = session.prompt_and_get_request(prompt).await;
    let asked = session.get("").await.json()["requests"][0]["body"].clone();
    assert_eq!(asked["detail"], "- do it", "{asked}");
    let approve = asked["choices"][0].as_str().expect("a choice").to_owned();
    session.post(&format!("/answer/{request}"), json!({ "answer": "do it in Rust" })).await;
    let events = session.events_after(0).await.until_callback("onIdle").await;
    assert!(
        message_text(&events).contains("do it in Rust"),
        "the agent hears what to change: {}",
        message_text(&events)
    );
    let after = session.get("").await.json()["lastSeq"].as_u64().expect("a number");
    let request = session.prompt_and_get_request(prompt).await;
    session.post(&format!("/answer/{request}"), json!({ "answer": approve })).await;
    let events = session.events_after(after).await.until_callback("onIdle").await;
    let modes: Vec<Value> =
        events.iter().map(crate::support::SseEvent::json).filter(|event| event["kind"] == "mode").collect();
    assert!(modes.iter().any(|notice| notice["message"] == "The mode is now interactive."), "{modes:?}");
}

#[tokio::test]
async fn a_mode_that_does_not_exist_is_named() {
    let copilot = CopilotServer::start(Program::Runtime).await;
    let session = copilot.session_with(json!({ "options": { "mode": "sleepy" } })).await;
    assert_eq!(session.ask("@@plain").await["verdict"], "failed");
    assert!(session.get("/log").await.text().contains("sleepy"));
}
