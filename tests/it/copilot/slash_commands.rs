//! Copilot's own commands, typed as a prompt.

use serde_json::{Value, json};

use crate::support::{CopilotServer, Program, TestSession, a_moment};

/// The names of the commands, once the program has listed them.
async fn names(session: &TestSession) -> Vec<String> {
    loop {
        let details = session.get("").await.json();
        let commands = details["commands"].as_array().expect("a list").clone();
        if !commands.is_empty() {
            return commands.iter().map(|command| command["name"].as_str().expect("a name").to_owned()).collect();
        }
        a_moment().await;
    }
}

async fn last_error(session: &TestSession) -> Value {
    let log = session.log().await;
    log.iter().rev().find_map(|(_, response)| response.get("sessionError").cloned()).expect("an error")
}

#[tokio::test]
async fn commands_are_listed_and_run_and_those_that_widen_permissions_are_not() {
    for program in Program::BOTH {
        let copilot = CopilotServer::start(program).await;
        let session = copilot.session("ask").await;
        let names = names(&session).await;
        for name in ["compact", "review", "plan", "usage"] {
            assert!(names.iter().any(|known| known == name), "{program:?}: {name} in {names:?}");
        }
        for name in ["allow-all", "permissions", "add-dir", "cwd", "share", "remote"] {
            assert!(names.iter().all(|known| known != name), "{program:?}: {name}");
        }
        let usage = session.ask("/usage").await;
        assert_eq!(usage["verdict"], "succeeded", "{program:?} {usage}");
        assert!(usage["text"].as_str().expect("text").contains("Session Usage"), "{program:?} {usage}");
        for (prompt, words) in [
            ("/allow-all", "/allow-all is not available here. Flightdeck decides what the agent may do."),
            ("/yolo on", "/allow-all is not available here."),
            ("/compact", "/compact failed: Nothing to compact."),
        ] {
            assert_eq!(session.ask(prompt).await["verdict"], "failed", "{program:?} {prompt}");
            let error = last_error(&session).await;
            assert!(error.as_str().expect("words").contains(words), "{program:?} {error}");
        }
        assert!(copilot.model.requests().is_empty(), "no model was asked: {program:?}");
        let request = session.prompt_and_get_request("@@bash true").await;
        session.post(&format!("/permission/{request}"), json!({ "decision": "deny" })).await;
    }
}

#[tokio::test]
async fn a_command_may_give_the_agent_a_prompt_and_another_slash_is_text() {
    for program in Program::BOTH {
        let copilot = CopilotServer::start(program).await;
        let session = copilot.session("ask").await;
        // As the first prompt, before the commands are known.
        let reviewed = session.ask("/review @@plain").await;
        assert_eq!(reviewed["verdict"], "succeeded", "{program:?} {reviewed}");
        let asked = Value::from(copilot.model.requests()).to_string();
        assert!(asked.contains("@@plain") && !asked.contains("/review @@plain"), "{program:?} {asked}");
        let log = session.log().await;
        assert_eq!(log[0].1["text"], "/review @@plain", "people see what they typed");
        assert_eq!(session.ask("/nothing of that name @@plain").await["verdict"], "succeeded", "{program:?}");
        let asked = Value::from(copilot.model.requests()).to_string();
        assert!(asked.contains("/nothing of that name"), "{program:?} {asked}");
        assert_eq!(session.ask("/plan @@plain").await["verdict"], "succeeded", "{program:?}");
        let modes = session.log().await;
        assert!(modes.iter().any(|(_, one)| one["message"] == "The mode is now plan."), "{program:?} {modes:?}");
    }
}

#[tokio::test]
async fn a_fork_before_commands_has_nothing_of_them() {
    let copilot = CopilotServer::start(Program::Runtime).await;
    let session = copilot.session("ask").await;
    for prompt in ["@@echo one", "/usage", "/review @@plain", "@@echo two"] {
        assert_eq!(session.ask(prompt).await["verdict"], "succeeded", "{prompt}");
    }
    for (after, turns) in [("prompt-1", 2), ("prompt-2", 2), ("prompt-3", 3)] {
        let reply = session.post("/fork", json!({ "promptId": after })).await;
        assert_eq!(reply.status, 201, "{}", reply.text());
        let id = reply.json()["sessionId"].as_str().expect("an id").to_owned();
        let fork = TestSession { id, ..session.seen_by(session.http.clone()) };
        assert_eq!(fork.ask("@@history").await["text"], format!("user turns: {turns}"), "after {after}");
    }
}
