//! The shape of turns, whatever protocol the agent speaks: steps in turns, blocks in steps, nothing empty, no id twice.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::support::{CopilotServer, Program, TestSession};

/// Kinds that say nothing about a step.
const SAYS_NOTHING: [&str; 3] = ["onContextUsage", "onTitleChanged", "onBackgroundTasks"];

/// Checks the whole log; gives the ids of the agent's steps.
fn check_shape(log: &[(u64, Value)]) -> Vec<String> {
    let mut step: Option<String> = None;
    let (mut is_empty, mut open, mut ids) = (true, HashSet::new(), Vec::new());
    for (seq, response) in log {
        let name = response["callback"].as_str().unwrap_or("sessionError");
        let id = ["messageId", "reasoningId", "toolCallId"].iter().find_map(|key| response[*key].as_str());
        match (name, id) {
            ("onAgentStart", _) => {
                let id = response["turnId"].as_str().expect("an id").to_owned();
                assert!(!ids.contains(&id), "{seq}: {id} again in {log:#?}");
                ids.push(id.clone());
                assert_eq!(step.replace(id), None, "{seq}: {log:#?}");
                is_empty = true;
            }
            ("onAgentEnd", _) => {
                assert_eq!(step.take().as_deref(), response["turnId"].as_str(), "{seq}: {log:#?}");
                assert!(!is_empty, "{seq}: an empty step in {log:#?}");
                assert!(open.is_empty(), "{seq}: {open:?} in {log:#?}");
            }
            ("onIdle", _) => assert_eq!(step, None, "{seq}: {log:#?}"),
            (name, Some(id)) if name.starts_with("onStart") => {
                assert!(step.is_some(), "{seq}: a block outside any step in {log:#?}");
                assert!(open.insert(id.to_owned()), "{seq}: {log:#?}");
                is_empty = false;
            }
            (name, Some(id)) if name.starts_with("onEnd") => {
                assert!(open.remove(id), "{seq}: {log:#?}");
                assert!(name != "onEndReasoning" || response["completeContent"] != "", "{seq}: {log:#?}");
            }
            ("onGeneratedUserPrompt", _) => assert_ne!(response["prompt"], "", "{seq}: {log:#?}"),
            (name, _) => is_empty &= SAYS_NOTHING.contains(&name),
        }
    }
    assert_eq!((step, open.len()), (None, 0), "{log:#?}");
    ids
}

async fn interrupted(session: &TestSession) {
    let after = session.get("").await.json()["lastSeq"].as_u64().expect("a number");
    session.prompt("@@slow 1000").await;
    let mut stream = session.events_after(after).await;
    stream.until(|event| event.data.contains("tick3")).await;
    session.post("/interrupt", json!({})).await;
    stream.until_callback("onIdle").await;
}

#[tokio::test]
async fn turns_that_succeed_fail_are_denied_or_interrupted_have_the_same_shape_in_every_protocol() {
    for (program, runtime) in [
        (Program::Cli, "copilot"),
        (Program::Runtime, "copilot"),
        (Program::Cli, "copilot-acp"),
        (Program::Cli, "copilot-headless"),
    ] {
        let copilot = CopilotServer::start(program).await;
        let session = copilot.session_with(json!({ "runtime": runtime, "permissionMode": "deny" })).await;
        session.ask("@@reason").await;
        assert_eq!(session.ask("@@error 400").await["verdict"], "failed", "{runtime}");
        session.ask("@@bash touch denied.txt").await;
        interrupted(&session).await;
        session.ask("@@plain").await;
        let log = session.log().await;
        let ids = check_shape(&log);
        let first: Vec<&String> = ids.iter().filter(|id| !id.contains('.')).collect();
        assert_eq!(first, ["turn-1", "turn-2", "turn-3", "turn-4", "turn-5"], "{runtime} {program:?}");
        let idles = log.iter().filter(|(_, response)| response["callback"] == "onIdle").count();
        assert_eq!(idles, 5, "{runtime} {program:?}");
    }
}

#[tokio::test]
async fn what_a_broken_stream_said_is_discarded_and_retries_are_counted() {
    // All at once, because the program pauses between its retries.
    let checks = ["copilot", "copilot-acp", "copilot-headless"].map(async |runtime| {
        let copilot = CopilotServer::start(Program::Cli).await;
        let session = copilot.session_with(json!({ "runtime": runtime })).await;
        let outcome = session.ask("@@midfail").await;
        assert_eq!(outcome["text"], "Recovered after a broken stream.", "{runtime}: {outcome}");
        let log = session.log().await;
        check_shape(&log);
        let ends: Vec<(bool, &str)> = log
            .iter()
            .filter(|(_, response)| response["callback"] == "onEndMessage")
            .map(|(_, end)| (end["incomplete"] == true, end["completeContent"].as_str().expect("text")))
            .collect();
        let expected = [(true, "partial output "), (false, "Recovered after a broken stream.")];
        assert_eq!(ends, expected, "{runtime}: {log:#?}");
        // The program asks five times more.
        assert_eq!(session.ask("@@error 500").await["verdict"], "failed", "{runtime}");
        let log = session.log().await;
        let notices: Vec<&str> = log
            .iter()
            .filter(|(_, response)| response["kind"] == "retrying")
            .filter_map(|(_, response)| response["message"].as_str())
            .collect();
        assert!(notices.len() <= 3, "{runtime}: {notices:?}");
        if runtime != "copilot-acp" {
            assert!(notices.last().is_some_and(|last| last.contains("Retried 5 times")), "{runtime}: {notices:?}");
        }
    });
    futures_util::future::join_all(checks).await;
}
