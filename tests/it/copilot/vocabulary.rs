//! Sub-agents, work on the side, memory and cost.

use serde_json::{Value, json};

use crate::support::{CopilotServer, Program, SseEvent};

const SUB_AGENT: &str =
    "@@tool task {\"agent_type\":\"explore\",\"description\":\"look\",\"prompt\":\"look around\",\"name\":\"looker\"}";

#[tokio::test]
async fn a_sub_agent_speaks_within_its_call_and_not_in_the_answer() {
    for program in Program::BOTH {
        let copilot = CopilotServer::start(program).await;
        let session = copilot.session("allow-all").await;
        let outcome = session.ask(SUB_AGENT).await;
        assert_eq!(outcome["verdict"], "succeeded", "{program:?} {outcome}");
        let text = outcome["text"].as_str().expect("text");
        assert!(text.starts_with("Final answer after tools"), "{program:?} {text}");
        let log = session.log().await;
        let nested: Vec<&Value> = log
            .iter()
            .map(|(_, response)| response)
            .filter(|response| response["callback"] == "onStartMessage" && response["parentToolCallId"].is_string())
            .collect();
        assert_eq!(nested.len(), 1, "{program:?} {log:?}");
        let starts = log.iter().filter(|(_, response)| response["callback"] == "onAgentStart").count();
        assert_eq!(starts, 2, "the session's own turns only");
        let told = log.iter().filter(|(_, response)| response["kind"] == "sub-agent").count();
        assert!(told >= 2, "it begins and it is done: {log:?}");
    }
}

#[tokio::test]
async fn a_command_in_the_background_is_listed_until_it_ends() {
    let copilot = CopilotServer::start(Program::Runtime).await;
    let session = copilot.session("allow-all").await;
    let gate = copilot.server.work().join("gate");
    let command = format!("until test -e {}; do sleep 0.1; done", gate.display());
    let arguments = json!({ "command": command, "description": "wait", "mode": "async", "shellId": "w" });
    session.prompt(&format!("@@tool bash {arguments}")).await;
    let mut stream = session.events_after(0).await;
    let status = |event: &SseEvent| {
        let tasks = event.json()["tasks"].as_array().cloned().unwrap_or_default();
        tasks.iter().find(|task| task["kind"] == "shell").and_then(|task| task["status"].as_str().map(str::to_owned))
    };
    stream.until(|event| status(event).as_deref() == Some("running")).await;
    stream.until_callback("onIdle").await;
    assert_eq!(session.state().await, "ready", "the turn is over, and the command runs on");
    assert_eq!(session.ask("@@echo meanwhile").await["text"], "ECHO[meanwhile]");
    std::fs::write(&gate, "").expect("written");
    stream.until(|event| event.callback() == "onBackgroundTasks" && status(event).as_deref() != Some("running")).await;
}

#[tokio::test]
async fn memory_and_cost_are_kept_with_the_session() {
    let copilot = CopilotServer::start(Program::Runtime).await;
    let session = copilot.session("ask").await;
    assert_eq!(session.get("").await.json()["context"], Value::Null);
    session.ask("@@plain").await;
    session.ask("@@plain").await;
    let details = session.get("").await.json();
    assert_eq!(
        (&details["usage"]["inputTokens"], &details["usage"]["outputTokens"]),
        (&json!(200), &json!(40)),
        "{details}"
    );
    assert_eq!(details["usage"]["premiumRequests"], Value::Null, "a model of one's own costs none");
    assert!(details["context"]["currentTokens"].as_u64().expect("a figure") > 0, "{details}");
    assert!(details["context"]["tokenLimit"].as_u64().expect("a figure") > 1_000, "{details}");
    let CopilotServer { server, model } = copilot;
    let server = server.kill_and_restart().await;
    let again = session.seen_by(server.http());
    assert_eq!(again.get("").await.json()["usage"]["inputTokens"], 200);
    again.ask("@@plain").await;
    assert_eq!(again.get("").await.json()["usage"]["inputTokens"], 300, "it goes on counting");
    drop(model);
}

#[tokio::test]
async fn on_autopilot_a_turn_ends_when_the_agent_stops_going_on_by_itself() {
    let copilot = CopilotServer::start(Program::Runtime).await;
    let session =
        copilot.session_with(json!({ "permissionMode": "allow-all", "options": { "mode": "autopilot" } })).await;
    let outcome = session.ask("@@plain").await;
    assert_eq!(outcome["verdict"], "succeeded", "{outcome}");
    let log = session.log().await;
    let count = |name: &str| log.iter().filter(|(_, response)| response["callback"] == name).count();
    assert!(count("onAgentStart") > 1, "it went on by itself: {log:?}");
    assert_eq!(count("onIdle"), 1, "{log:?}");
}
