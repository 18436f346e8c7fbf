//! Requests of the real `copilot --acp` that nobody has answered when the server or the agent ends. The agent does not
//! keep them, so the answer becomes a prompt, and what it allows is not asked for again.

use serde_json::{Value, json};

use crate::copilot::until_recorded;
use crate::support::{CopilotServer, Program, TestSession, programs_of, send_signal, until_gone};

async fn end(copilot: CopilotServer, how: &str) -> CopilotServer {
    let CopilotServer { mut server, model } = copilot;
    let agents = programs_of(&server);
    match how {
        "agent" => {
            for agent in &agents {
                send_signal("KILL", *agent);
            }
            return CopilotServer { server, model };
        }
        "server" => server.kill().await,
        _ => assert!(server.stop().await, "a clean end"),
    }
    for agent in agents {
        until_gone(agent).await;
    }
    CopilotServer { server: server.start_again().await, model }
}

async fn asking(copilot: &CopilotServer, prompt: &str) -> (TestSession, String) {
    let session = copilot.session_with(json!({ "runtime": "copilot-acp", "permissionMode": "ask" })).await;
    let request = session.prompt_and_get_request(prompt).await;
    // A kill before that loses the agent's whole session.
    until_recorded(copilot, "@@", 1).await;
    (session, request)
}

#[tokio::test]
async fn what_is_allowed_after_the_end_of_server_or_agent_runs_once() {
    for how in ["agent", "server", "stop"] {
        let copilot = CopilotServer::start(Program::Cli).await;
        let (first, request) = asking(&copilot, "@@insist echo ran >> made.txt").await;
        let copilot = end(copilot, how).await;
        let session = first.seen_by(copilot.server.http());
        let mut stream = session.events_after(0).await;
        stream.until(|event| event.json()["kind"] == "request-kept").await;
        let details = session.get("").await.json();
        assert_eq!((&details["state"], &details["requests"][0]["requestId"]), (&json!("waiting"), &json!(request)));
        let answered = session.post(&format!("/permission/{request}"), json!({ "decision": "allow-once" })).await;
        assert_eq!(answered.status, 200, "{how}: {}", answered.text());
        stream.until_callback("onGeneratedUserPrompt").await;
        stream.until_callback("onIdle").await;
        let log = session.log().await;
        let made = std::fs::read_to_string(copilot.server.work().join("made.txt")).unwrap_or_default();
        assert_eq!(made, "ran\n", "{how}: {log:#?}");
        let allowed: Vec<&Value> =
            log.iter().map(|(_, event)| event).filter(|event| event["callback"] == "onPermissionAllowed").collect();
        assert_eq!(allowed.len(), 1, "{how}: {log:#?}");
        assert_eq!(allowed[0]["by"], "grant", "{how}");
    }
}

#[tokio::test]
async fn what_was_allowed_once_is_asked_for_the_second_time() {
    let copilot = CopilotServer::start(Program::Cli).await;
    let (first, request) = asking(&copilot, "@@insist echo one >> one.txt").await;
    let copilot = end(copilot, "server").await;
    let session = first.seen_by(copilot.server.http());
    let mut stream = session.events_after(0).await;
    session.post(&format!("/permission/{request}"), json!({ "decision": "allow-once" })).await;
    stream.until_callback("onGeneratedUserPrompt").await;
    stream.until_callback("onIdle").await;
    let again = session.prompt_and_get_request("@@insist echo one >> one.txt").await;
    session.post(&format!("/permission/{again}"), json!({ "decision": "deny" })).await;
    stream.until_callback("onIdle").await;
    assert_eq!(std::fs::read_to_string(copilot.server.work().join("one.txt")).expect("made"), "one\n");
}

#[tokio::test]
async fn another_call_than_the_one_that_was_allowed_is_asked_for() {
    let copilot = CopilotServer::start(Program::Cli).await;
    let (first, request) = asking(&copilot, "@@sequence echo one >> one.txt ;; echo two >> two.txt").await;
    let copilot = end(copilot, "server").await;
    let session = first.seen_by(copilot.server.http());
    let mut stream = session.events_after(0).await;
    session.post(&format!("/permission/{request}"), json!({ "decision": "allow-once" })).await;
    stream.until_callback("onGeneratedUserPrompt").await;
    let asked = stream.until_callback("onPermissionRequested").await.last().expect("one").json();
    assert!(asked["detail"].as_str().expect("text").contains("two.txt"), "{asked}");
    let other = asked["requestId"].as_str().expect("an id").to_owned();
    session.post(&format!("/permission/{other}"), json!({ "decision": "deny" })).await;
    stream.until_callback("onIdle").await;
    for name in ["one.txt", "two.txt"] {
        assert!(!copilot.server.work().join(name).exists(), "{name}: {:#?}", session.log().await);
    }
}
