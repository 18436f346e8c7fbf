//! Requests of the real Copilot that nobody has answered when the server or the agent ends.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{CopilotServer, Program, TestSession, children_of, send_signal, until_gone};

/// What ends while a request waits.
#[derive(Clone, Copy, Debug)]
enum Ending {
    ServerKilled,
    AgentKilled,
    BothKilled,
    ServerStopped,
}

/// Waits until the agent has its requests on disk; a kill before that is another case.
async fn until_on_disk(copilot: &CopilotServer, requests: usize) {
    let folder = copilot.server.folder().join("copilot/session-state");
    while records(&folder).matches("\"permission.requested\"").count() < requests {
        tokio::task::yield_now().await;
    }
}

/// What the agent has recorded of its sessions.
fn records(folder: &Path) -> String {
    let sessions = std::fs::read_dir(folder).expect("sessions").filter_map(Result::ok);
    sessions.filter_map(|session| std::fs::read_to_string(session.path().join("events.jsonl")).ok()).collect()
}

impl Ending {
    async fn happen(self, copilot: CopilotServer) -> CopilotServer {
        let CopilotServer { mut server, model } = copilot;
        let agents = children_of(server.process_id());
        assert!(!agents.is_empty());
        match self {
            Self::AgentKilled => {
                agents.iter().for_each(|agent| send_signal("KILL", *agent));
                for agent in agents {
                    until_gone(agent).await;
                }
                return CopilotServer { server, model };
            }
            Self::BothKilled => {
                agents.iter().for_each(|agent| send_signal("KILL", *agent));
                server.kill().await;
            }
            Self::ServerKilled => server.kill().await,
            Self::ServerStopped => assert!(server.stop().await, "a clean end"),
        }
        for agent in agents {
            until_gone(agent).await;
        }
        CopilotServer { server: server.start_again().await, model }
    }
}

fn count(log: &[(u64, Value)], callback: &str) -> usize {
    log.iter().filter(|(_, response)| response["callback"] == callback).count()
}

/// The log up to the first `onIdle` after a number.
async fn until_idle(session: &TestSession, after: u64) -> Vec<(u64, Value)> {
    session.events_after(after).await.until_callback("onIdle").await;
    session.log().await
}

async fn last_seq(session: &TestSession) -> u64 {
    session.get("").await.json()["lastSeq"].as_u64().expect("a number")
}

/// The same session; a repeated prompt gets the outcome of the first.
fn keyed(session: &TestSession) -> TestSession {
    session.seen_by(session.http.header("idempotency-key", "once"))
}

async fn a_request_survives(program: Program, ending: Ending) {
    for decision in ["allow-once", "deny"] {
        let case = format!("{program:?} {ending:?} {decision}");
        let copilot = CopilotServer::start(program).await;
        let first = copilot.session("ask").await;
        let prompt = json!({ "text": "@@bash echo ran >> made.txt" });
        keyed(&first).post("/prompt", prompt.clone()).await;
        let asked = first.events_after(0).await.until_callback("onPermissionRequested").await;
        let request = asked.last().expect("one").json()["requestId"].as_str().expect("an id").to_owned();
        until_on_disk(&copilot, 1).await;
        let copilot = ending.happen(copilot).await;
        let session = first.seen_by(copilot.server.http());
        if matches!(ending, Ending::AgentKilled) {
            session.events_after(0).await.until(|event| event.json()["kind"] == "request-kept").await;
        }
        assert_eq!(session.state().await, "waiting", "{case}");
        let details = session.get("").await.json();
        assert_eq!(details["requests"][0]["requestId"], request, "{case}");
        assert_eq!(details["requests"][0]["body"]["detail"], "echo ran >> made.txt", "{case}");
        let after = last_seq(&session).await;
        let answered = session.post(&format!("/permission/{request}"), json!({ "decision": decision })).await;
        assert_eq!(answered.status, 200, "{case}: {}", answered.text());
        let log = until_idle(&session, after).await;
        let made = std::fs::read_to_string(copilot.server.work().join("made.txt")).unwrap_or_default();
        assert_eq!(made, if decision == "deny" { "" } else { "ran\n" }, "{case}: exactly once");
        for callback in ["onUserPrompt", "onPermissionRequested", "onPermissionAnswered", "onIdle"] {
            assert_eq!(count(&log, callback), 1, "{case}: {callback} in {log:#?}");
        }
        for callback in ["onStartToolExecution", "onEndToolExecution"] {
            assert_eq!(count(&log, callback), 1, "{case}: the same call: {callback}");
        }
        assert_eq!(count(&log, "onGeneratedUserPrompt"), 0, "{case}: the same turn");
        let mut repeated = prompt.clone();
        repeated["wait"] = json!(true);
        let outcome = keyed(&session).post("/prompt", repeated).await.json();
        assert_eq!(outcome["verdict"], "succeeded", "{case}: {outcome}");
        assert_eq!(session.ask("@@plain").await["verdict"], "succeeded", "{case}");
        let again = session.post(&format!("/permission/{request}"), json!({ "decision": "allow-once" })).await;
        assert_eq!(again.error(409), "AlreadyAnswered", "{case}");
    }
}

#[tokio::test]
async fn a_request_survives_a_kill_of_the_server() {
    a_request_survives(Program::Cli, Ending::ServerKilled).await;
    a_request_survives(Program::Runtime, Ending::ServerKilled).await;
}

#[tokio::test]
async fn a_request_survives_a_kill_of_the_agent() {
    a_request_survives(Program::Cli, Ending::AgentKilled).await;
    a_request_survives(Program::Runtime, Ending::AgentKilled).await;
}

#[tokio::test]
async fn a_request_survives_a_kill_of_both() {
    a_request_survives(Program::Cli, Ending::BothKilled).await;
    a_request_survives(Program::Runtime, Ending::BothKilled).await;
}

#[tokio::test]
async fn a_request_survives_a_clean_end() {
    a_request_survives(Program::Cli, Ending::ServerStopped).await;
    a_request_survives(Program::Runtime, Ending::ServerStopped).await;
}
