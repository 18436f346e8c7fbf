//! The job tools in sessions of the real Copilot.

use serde_json::json;

use crate::support::{CopilotServer, Program, callbacks};

#[tokio::test]
async fn every_session_has_them_nobody_is_asked_and_the_outcome_has_the_reports() {
    for program in Program::BOTH {
        let copilot = CopilotServer::start(program).await;
        let session = copilot.session("deny").await;
        let outcome = session.ask(r#"@@tool job_boolean_true {"reason":"it builds"}"#).await;
        assert_eq!(outcome["verdict"], "succeeded", "{program:?}: {outcome}");
        let report = json!({ "tool": "job_boolean_true", "text": "it builds" });
        let activity = json!({ "tools": ["job_boolean_true"], "reports": [report] });
        assert_eq!(outcome["activity"], activity, "{program:?}: {outcome}");
        assert!(outcome["text"].as_str().expect("text").contains("it builds"), "the agent got it back: {outcome}");
        let names = callbacks(&session.log().await);
        assert!(!names.iter().any(|name| name.starts_with("onPermission")), "{program:?}: {names:?}");
        let offered = copilot.model.requests()[0]["tools"].to_string();
        for tool in ["job_prepare_document", "job_boolean_true", "job_boolean_false", "job_prerequisite_failed"] {
            assert!(offered.contains(&format!("\"{tool}\"")), "{program:?}: {tool} is not in {offered}");
        }
        let plain = session.ask("@@plain").await;
        assert_eq!(plain.get("activity"), None, "of its own turn: {plain}");
        // The agent's own session is resumed.
        let CopilotServer { server, model } = copilot;
        let copilot = CopilotServer { server: server.restart().await, model };
        let session = session.seen_by(copilot.server.http());
        let outcome = session.ask(r#"@@tool job_prepare_document {"argument":"docs/plan.md\nmore"}"#).await;
        assert_eq!(outcome["activity"]["reports"][0]["text"], "docs/plan.md\nmore", "{program:?}: {outcome}");
    }
}

#[tokio::test]
async fn calls_in_one_message_are_all_answered_in_order() {
    for program in Program::BOTH {
        let copilot = CopilotServer::start(program).await;
        let session = copilot.session("ask").await;
        let call = |name: &str, reason: &str| json!({ "name": name, "arguments": { "reason": reason } });
        let calls = json!([call("job_boolean_false", "one"), call("job_boolean_true", "two")]);
        let outcome = session.ask(&format!("@@tools {calls}")).await;
        let texts: Vec<&str> = outcome["activity"]["reports"]
            .as_array()
            .expect("reports")
            .iter()
            .filter_map(|report| report["text"].as_str())
            .collect();
        assert_eq!(texts, ["one", "two"], "{program:?}: {outcome}");
    }
}

/// A killed server and its killed agent leave the session usable, whether or not a call was waiting.
#[tokio::test]
async fn a_call_that_was_cut_off_does_not_block_the_session() {
    for program in Program::BOTH {
        let copilot = CopilotServer::start(program).await;
        let session = copilot.session("ask").await;
        session.prompt(r#"@@tool job_boolean_true {"reason":"just in time"}"#).await;
        session.events_after(0).await.until_callback("onStartToolExecution").await;
        let CopilotServer { server, model } = copilot;
        let copilot = CopilotServer { server: server.kill_and_restart().await, model };
        let session = session.seen_by(copilot.server.http());
        let outcome = session.ask(r#"@@tool job_boolean_false {"reason":"again"}"#).await;
        assert_eq!(outcome["verdict"], "succeeded", "{program:?}: {outcome}");
        assert_eq!(outcome["activity"]["reports"], json!([{ "tool": "job_boolean_false", "text": "again" }]));
    }
}

/// What a rule or the mode denied is in the outcome.
#[tokio::test]
async fn mode_folder_lets_an_agent_change_files_in_its_folder_and_nothing_else() {
    for program in Program::BOTH {
        let copilot = CopilotServer::start(program).await;
        let (work, outside) = (copilot.server.work(), copilot.server.folder().join("outside.txt"));
        let rule = json!({ "tool": "shell", "decision": "allow", "prefix": "mkdir" });
        let session = copilot.session_with(json!({ "permissionMode": { "mode": "folder", "rules": [rule] } })).await;
        let inside = work.join("inside.txt");
        let outcome = session.ask(&format!("@@create {}", inside.display())).await;
        assert!(inside.exists() && outcome["activity"].get("denied").is_none(), "{program:?}: {outcome}");
        let outcome = session.ask(&format!(r#"@@tool view {{"path":"{}"}}"#, inside.display())).await;
        assert!(outcome["text"].as_str().expect("text").contains("created by the scripted"), "{program:?}: {outcome}");
        let outcome = session.ask(&format!("@@create {}", outside.display())).await;
        assert!(!outside.exists(), "{program:?}: {outcome}");
        let denied = outcome["activity"]["denied"][0].as_str().expect("a line");
        assert!(denied.starts_with("write: ") && denied.contains("outside.txt"), "{program:?}: {outcome}");
        let outcome = session.ask("@@bash touch shell.txt").await;
        assert!(!work.join("shell.txt").exists(), "{program:?}");
        assert_eq!(outcome["activity"]["denied"], json!(["shell: touch shell.txt"]), "{program:?}");
        session.ask("@@bash mkdir allowed").await;
        assert!(work.join("allowed").exists(), "{program:?}: a rule with a prefix counts");
        std::fs::create_dir(work.join(".git")).expect("created");
        for protected in [".git/config", ".flightdeck.toml"] {
            let outcome = session.ask(&format!("@@create {}", work.join(protected).display())).await;
            assert!(!work.join(protected).exists(), "{program:?}: {outcome}");
        }
        let outcome = session.ask(r#"@@tool view {"path":"/etc/hostname"}"#).await;
        assert_eq!(outcome["activity"]["denied"], json!(["read: /etc/hostname"]), "{program:?}: {outcome}");
    }
}
