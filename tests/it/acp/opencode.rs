//! The real `opencode acp`, an agent that nobody here wrote, with a scripted model behind it.

use flightdeck::scripted_model::ScriptedModel;
use serde_json::{Value, json};

use crate::support::{Server, TestSession, agents, callbacks, children_of, send_signal};

struct OpenCode {
    server: Server,
    model: ScriptedModel,
}

impl OpenCode {
    async fn start() -> Self {
        Self::start_with("").await
    }

    /// With this in the server's configuration too.
    async fn start_with(more: &str) -> Self {
        let model = ScriptedModel::start().await.expect("started");
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("work")).expect("a folder to work in");
        let file = folder.path().join("opencode.json");
        let provider = json!({
            "npm": "@ai-sdk/openai-compatible",
            "name": "Scripted",
            "options": { "baseURL": model.base_url(), "apiKey": "sk-scripted" },
            "models": { "scripted-model": { "name": "Scripted", "tool_call": true } },
        });
        let settings = json!({
            "provider": { "scripted": provider },
            "model": "scripted/scripted-model",
            "small_model": "scripted/scripted-model",
            "autoupdate": false,
            "share": "disabled",
            "permission": { "bash": "ask", "edit": "ask", "flightdeck_*": "ask" },
        });
        std::fs::write(&file, settings.to_string()).expect("written");
        let program = agents().join("node_modules/.bin/opencode");
        let config = format!(
            "[acp.opencode]\ncommand = \"{program}\"\nargs = [\"acp\"]\nenv = {{ OPENCODE_CONFIG = \"{file}\", \
             OPENCODE_DISABLE_AUTOUPDATE = \"1\", OPENCODE_DISABLE_MODELS_FETCH = \"1\" }}\n[recovery]\nattempts = 2\n{more}",
            program = program.display(),
            file = file.display(),
        );
        Self { server: Server::builder().config(&config).start_in(folder).await, model }
    }

    async fn session(&self) -> TestSession {
        let body = json!({ "runtime": "acp:opencode", "workingDirectory": self.server.work() });
        TestSession::start_with(self.server.http(), body).await
    }
}

#[tokio::test]
async fn job_tools_come_over_mcp_and_nobody_is_asked() {
    let opencode = OpenCode::start_with("[jobs]\ntools_in_all_sessions = true").await;
    let session = opencode.session().await;
    let outcome = session.ask(r#"@@tool flightdeck_job_boolean_true {"reason":"it builds"}"#).await;
    let log = session.log().await;
    let report = json!({ "tool": "job_boolean_true", "text": "it builds" });
    assert_eq!(outcome["activity"]["reports"], json!([report]), "{outcome} {log:#?}");
    assert!(!callbacks(&log).contains(&"onPermissionRequested".to_owned()), "{log:#?}");
    assert!(callbacks(&log).contains(&"onPermissionAllowed".to_owned()), "the agent asked: {log:#?}");
}

#[tokio::test]
async fn it_answers_asks_obeys_and_comes_back_after_a_kill() {
    let opencode = OpenCode::start().await;
    let session = opencode.session().await;
    let outcome = session.ask("@@echo one").await;
    assert_eq!((&outcome["verdict"], &outcome["text"]), (&json!("succeeded"), &json!("ECHO[one]")), "{outcome}");
    assert_eq!(outcome["usage"]["outputTokens"], 20, "{outcome}");
    for (decision, file) in [("deny", "denied.txt"), ("allow-once", "allowed.txt")] {
        let after = session.get("").await.json()["lastSeq"].as_u64().expect("a number");
        let request = session.prompt_and_get_request(&format!("@@bash touch {file}")).await;
        let body = session.get("").await.json()["requests"][0]["body"].clone();
        assert_eq!(body["detail"], format!("touch {file}"), "exactly what would run");
        session.post(&format!("/permission/{request}"), json!({ "decision": decision })).await;
        session.events_after(after).await.until_callback("onIdle").await;
        assert_eq!(opencode.server.work().join(file).exists(), decision == "allow-once", "{decision}");
    }
    let log = session.log().await;
    let before = callbacks(&log).len();
    let mut stream = session.events_after(log.last().expect("events").0).await;
    for child in children_of(opencode.server.process_id()) {
        send_signal("KILL", child);
    }
    stream.until(|event| event.json()["state"] == "recovering").await;
    let requests = opencode.model.requests().len();
    let outcome = session.ask("@@history").await;
    assert_eq!(outcome["verdict"], "succeeded", "{outcome}");
    let said = opencode.model.requests()[requests..].iter().map(Value::to_string).collect::<String>();
    assert!(said.contains("@@echo one"), "it still knows the conversation: {said}");
    let log = session.log().await;
    assert!(log.iter().all(|(_, response)| response["kind"] != "fresh-session"), "{log:?}");
    let new: Vec<String> = callbacks(&log).split_off(before);
    assert_eq!(new.iter().filter(|name| *name == "onEndMessage").count(), 1, "the replay is no news: {new:?}");
}
