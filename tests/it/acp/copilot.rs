//! The real `copilot --acp`, with a scripted model behind it.

use serde_json::{Value, json};

use crate::copilot::until_recorded;
use crate::support::{
    CopilotServer, Program, Server, SseEvent, TestSession, bare, callbacks, children_of, eventually, send_signal,
    until_gone,
};

async fn session(copilot: &CopilotServer, mode: &str) -> TestSession {
    copilot.session_with(json!({ "runtime": "copilot-acp", "permissionMode": mode })).await
}

async fn start() -> CopilotServer {
    CopilotServer::start(Program::Cli).await
}

async fn notices(session: &TestSession, kind: &str) -> Vec<Value> {
    let log = session.log().await;
    log.into_iter().map(|(_, response)| response).filter(|response| response["kind"] == kind).collect()
}

#[tokio::test]
async fn an_answer_is_streamed_with_what_it_cost_and_reasoning_is_apart() {
    let copilot = start().await;
    let session = session(&copilot, "ask").await;
    let outcome = session.ask("@@plain").await;
    assert_eq!(outcome["verdict"], "succeeded", "{outcome}");
    assert_eq!(outcome["text"], "Hello from the scripted model. This is a plain streamed reply.");
    assert_eq!((&outcome["usage"]["inputTokens"], &outcome["usage"]["outputTokens"]), (&json!(100), &json!(20)));
    let again = session.ask("@@reason").await;
    assert_eq!(again["usage"]["inputTokens"], 100, "of this turn alone: {again}");
    let log = session.log().await;
    let reasoning = log.iter().find(|(_, response)| response["callback"] == "onEndReasoning").expect("reasoning");
    assert_eq!(reasoning.1["completeContent"], "Let me think about this step by step.");
    assert_eq!(session.get("").await.json()["runtime"], "copilot-acp");
    let figures = copilot.server.http().get("/metrics").await.text().to_owned();
    assert!(figures.contains("runtime=\"copilot-acp\""), "{figures}");
}

#[tokio::test]
async fn an_action_happens_only_when_it_is_allowed() {
    let copilot = start().await;
    for (decision, file) in [("allow-once", "allowed.txt"), ("deny", "denied.txt")] {
        let session = session(&copilot, "ask").await;
        let request = session.prompt_and_get_request(&format!("@@bash touch {file}")).await;
        let body = session.get("").await.json()["requests"][0]["body"].clone();
        assert_eq!(
            (&body["detail"], &body["kind"]),
            (&json!(format!("touch {file}")), &json!("shell")),
            "exactly what would run"
        );
        session.post(&format!("/permission/{request}"), json!({ "decision": decision })).await;
        session.events_after(0).await.until_callback("onIdle").await;
        assert_eq!(copilot.server.work().join(file).exists(), decision == "allow-once", "{decision}");
        let log = session.log().await;
        let end = log.iter().find(|(_, response)| response["callback"] == "onEndToolExecution").expect("an end");
        assert_eq!(end.1["error"]["code"] == "denied", decision == "deny", "{}", end.1);
    }
    for (mode, file) in [("allow-all", "made.txt"), ("deny", "not-made.txt")] {
        let session = session(&copilot, mode).await;
        let path = copilot.server.work().join(file);
        session.ask(&format!("@@create {}", path.display())).await;
        assert_eq!(path.exists(), mode == "allow-all", "{mode}");
        if mode == "allow-all" {
            let log = session.log().await;
            let end = log.iter().find(|(_, response)| response["callback"] == "onEndToolExecution").expect("an end");
            let diff = end.1["result"]["detailedContent"].as_str().expect("a diff");
            assert!(diff.contains("+created by the scripted model"), "{diff}");
        }
    }
}

#[tokio::test]
async fn job_tools_come_over_mcp_and_nobody_is_asked() {
    let copilot = CopilotServer::start_with(Program::Cli, "[jobs]\ntools_in_all_sessions = true").await;
    let session = session(&copilot, "deny").await;
    let outcome = session.ask(r#"@@tool flightdeck-job_boolean_true {"reason":"it builds"}"#).await;
    let report = json!({ "tool": "job_boolean_true", "text": "it builds" });
    let activity = json!({ "tools": ["job_boolean_true"], "reports": [report] });
    assert_eq!(outcome["activity"], activity, "{outcome} {:#?}", session.log().await);
    assert!(outcome["text"].as_str().expect("text").contains("it builds"), "the agent got it back: {outcome}");
}

#[tokio::test]
async fn a_session_of_a_person_has_no_job_tools() {
    let copilot = start().await;
    let session = session(&copilot, "deny").await;
    session.ask("@@plain").await;
    assert!(!copilot.model.requests()[0]["tools"].to_string().contains("job_boolean_true"));
}

#[tokio::test]
async fn mode_folder_lets_an_agent_change_files_in_its_folder_and_nothing_else() {
    let copilot = start().await;
    let session = session(&copilot, "folder").await;
    let (work, outside) = (copilot.server.work(), copilot.server.folder().join("outside.txt"));
    let inside = work.join("inside.txt");
    session.ask(&format!("@@create {}", inside.display())).await;
    assert!(inside.exists(), "{:#?}", session.log().await);
    session.ask(&format!("@@create {}", outside.display())).await;
    assert!(!outside.exists());
    let outcome = session.ask("@@bash touch shell.txt").await;
    assert!(!work.join("shell.txt").exists());
    assert_eq!(outcome["activity"]["denied"], json!(["shell: touch shell.txt"]), "{outcome}");
}

#[tokio::test]
async fn an_interrupt_ends_the_turn_also_while_a_person_is_asked_and_the_session_goes_on() {
    let copilot = start().await;
    let session = session(&copilot, "ask").await;
    session.prompt("@@slow 1000").await;
    let mut stream = session.events_after(0).await;
    stream.until(|event| event.data.contains("tick3")).await;
    session.post("/interrupt", json!({})).await;
    let events = stream.until_callback("onIdle").await;
    assert!(events.iter().any(|event| event.json()["kind"] == "interrupted"));
    let names: Vec<String> = events.iter().map(SseEvent::callback).collect();
    assert_eq!(names[names.len() - 2..], ["onAgentEnd", "onIdle"]);

    session.prompt_and_get_request("@@bash touch late.txt").await;
    let after = session.get("").await.json()["lastSeq"].as_u64().expect("a number");
    session.post("/interrupt", json!({})).await;
    let events = session.events_after(after).await.until_callback("onIdle").await;
    assert!(events.iter().any(|event| event.callback() == "onEndToolExecution"), "the open call is closed: {events:?}");
    assert!(!copilot.server.work().join("late.txt").exists());
    assert_eq!(session.ask("@@plain").await["verdict"], "succeeded");
}

#[tokio::test]
async fn a_program_that_is_killed_in_a_turn_comes_back_with_the_conversation_and_says_what_may_be_missing() {
    let copilot = start().await;
    let session = session(&copilot, "ask").await;
    session.ask("@@plain").await;
    session.prompt("@@slow 1000").await;
    let after = session.get("").await.json()["lastSeq"].as_u64().expect("a number");
    let mut stream = session.events_after(after).await;
    stream.until(|event| event.data.contains("tick3")).await;
    until_recorded(&copilot, "@@slow", 1).await;
    send_signal("KILL", copilot.program());
    let events = stream.until_callback("onIdle").await;
    assert!(events.iter().any(|event| event.callback() == "sessionError"), "{events:?}");
    let answer = session.ask("@@history").await;
    assert_eq!((&answer["verdict"], &answer["text"]), (&json!("succeeded"), &json!("user turns: 3")), "{answer}");
    assert_eq!(notices(&session, "incomplete").await.len(), 1);
    let names = callbacks(&session.log().await);
    assert_eq!(names.iter().filter(|name| *name == "onUserPrompt").count(), 3, "nothing is shown twice");
    assert_eq!(names.iter().filter(|name| *name == "onEndMessage").count(), 3);
}

#[tokio::test]
async fn after_a_restart_of_the_server_the_session_is_taken_up_again_and_a_clean_end_needs_no_words() {
    let mut copilot = start().await;
    let session = session(&copilot, "ask").await;
    session.ask("@@plain").await;
    let program = copilot.program();
    assert!(copilot.server.stop().await);
    until_gone(program).await;
    let CopilotServer { server, model } = copilot;
    let server = server.start_again().await;
    let again = session.seen_by(server.http());
    assert_eq!(again.ask("@@history").await["text"], "user turns: 2");
    for kind in ["incomplete", "fresh-session"] {
        assert_eq!(notices(&again, kind).await, Vec::<Value>::new(), "{kind}");
    }
    drop(model);
}

#[tokio::test]
async fn a_session_that_is_missing_or_damaged_is_begun_anew_and_told_what_was_lost() {
    for damage in ["missing", "damaged"] {
        let mut copilot = start().await;
        let session = session(&copilot, "ask").await;
        session.ask("@@echo remember-me").await;
        assert!(copilot.server.stop().await);
        let sessions = copilot.server.folder().join("copilot/session-state");
        for entry in std::fs::read_dir(sessions).expect("sessions") {
            let record = entry.expect("readable").path();
            match damage {
                "missing" => std::fs::remove_dir_all(&record).expect("removed"),
                _ => std::fs::write(record.join("events.jsonl"), "not what it was\n").expect("written"),
            }
        }
        let CopilotServer { server, model } = copilot;
        let mut server = server.start_again().await;
        let again = session.seen_by(server.http());
        let answer = again.ask("@@echo again").await;
        assert_eq!(answer["text"], "ECHO[again]", "{damage} {answer}");
        let told = notices(&again, "fresh-session").await;
        assert_eq!(told.len(), 1, "{damage} {told:?}");
        assert!(told[0]["message"].as_str().expect("words").contains("your history is intact"), "{told:?}");
        let said = model.requests().last().expect("asked").to_string();
        assert!(said.contains("remember-me") && said.contains("It was answered"), "{said}");
        assert_eq!(again.get("").await.json()["title"], "@@echo remember-me", "the summary is no title");
        assert!(server.stop().await);
        let logged = server.stderr().await;
        assert!(logged.contains("session-lost") && logged.contains(&again.id), "{logged}");
    }
}

#[tokio::test]
async fn without_a_login_a_person_is_told_how_and_the_prompt_is_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("work")).expect("a folder to work in");
    let builder = bare(Program::Cli, folder.path());
    let mut server: Server = builder.start_in(folder).await;
    let session = TestSession::start_with(server.http(), json!({ "runtime": "copilot-acp" })).await;
    session.prompt("hello").await;
    session.events_after(0).await.until(|event| event.json()["state"] == "needs-login").await;
    let details = session.get("").await.json();
    assert_eq!(
        (&details["state"], &details["queuedPrompts"][0]["text"]),
        (&json!("needs-login"), &json!("hello")),
        "the prompt is kept"
    );
    assert_eq!(
        details["stateDetail"],
        "Copilot is installed but not logged in: log in from the page or with `copilot login`, set GH_TOKEN, or use \
         your own model with COPILOT_PROVIDER_BASE_URL and COPILOT_MODEL."
    );
    assert_eq!(notices(&session, "login-needed").await.len(), 1);
    let runtimes = server.http().get("/api/runtimes").await.json();
    assert_eq!(
        (&runtimes["runtimes"][1]["name"], &runtimes["runtimes"][1]["ready"]),
        (&json!("copilot-acp"), &json!(false))
    );
    assert!(server.stop().await);
    let logged = server.stderr().await;
    for method in ["session/new", "authenticate"] {
        let refused = |line: &&str| line.contains("-32000") && line.contains(&format!("method=\"{method}\""));
        assert!(logged.lines().find(refused).is_some_and(|line| line.contains(&session.id)), "{method}: {logged}");
    }
}

#[tokio::test]
async fn a_program_that_can_never_start_fails_at_once_with_its_own_words() {
    for runtime in ["copilot", "copilot-acp", "copilot-headless"] {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("work")).expect("a folder to work in");
        let builder = bare(Program::Cli, folder.path()).variable("COPILOT_OFFLINE", "true");
        let server: Server = builder.start_in(folder).await;
        let session = TestSession::start_with(server.http(), json!({ "runtime": runtime })).await;
        assert_eq!(session.ask("hello").await["verdict"], "failed");
        let log = session.log().await;
        let words = log.iter().find_map(|(_, response)| response["sessionError"].as_str()).expect("an error");
        assert!(
            words.contains("Offline mode requires a local model provider. Set COPILOT_PROVIDER_BASE_URL"),
            "{words}"
        );
        let recovers =
            |response: &serde_json::Value| response["state"] == "recovering" || response["kind"] == "retrying";
        assert!(!log.iter().any(|(_, response)| recovers(response)), "{log:?}");
    }
}

#[tokio::test]
async fn an_error_of_the_model_fails_the_turn_and_the_session_goes_on() {
    let copilot = start().await;
    let session = session(&copilot, "ask").await;
    let failed = session.ask("@@error 400").await;
    assert_eq!((&failed["verdict"], &failed["text"]), (&json!("failed"), &json!("")), "{failed}");
    let log = session.log().await;
    let error = log.iter().find_map(|(_, response)| response["sessionError"].as_str()).expect("an error");
    assert!(error.contains("400"), "{error}");
    assert_eq!(session.ask("@@plain").await["verdict"], "succeeded");
    let recovered = session.ask("@@midfail").await;
    assert_eq!(recovered["verdict"], "succeeded", "{recovered}");
    assert!(recovered["text"].as_str().expect("text").ends_with("Recovered after a broken stream."), "{recovered}");
    assert_eq!(notices(&session, "retrying").await.len(), 1);
}

#[tokio::test]
async fn a_session_gets_the_model_that_it_asks_for() {
    let copilot = start().await;
    let session = copilot
        .session_with(json!({ "runtime": "copilot-acp", "model": "scripted-model", "permissionMode": "ask" }))
        .await;
    session.ask("@@plain").await;
    assert_eq!(copilot.model.requests().last().expect("asked")["model"], "scripted-model");
    let provider = json!({ "type": "openai", "baseUrl": copilot.model.base_url(), "apiKey": "sk-own" });
    let own = copilot
        .session_with(json!({ "runtime": "copilot-acp", "model": "scripted-model", "options": { "provider": provider, "mode": "plan" } }))
        .await;
    assert_eq!(own.ask("@@plain").await["verdict"], "succeeded");
    let bad = copilot.session_with(json!({ "runtime": "copilot-acp", "options": { "mode": "nap" } })).await;
    assert_eq!(bad.ask("@@plain").await["verdict"], "failed");
    let log = bad.get("/log").await.text().to_owned();
    assert!(log.contains("nap") && log.contains("Plan"), "{log}");
}

#[tokio::test]
async fn a_program_as_an_mcp_server_reaches_copilot_and_its_secrets_are_on_no_command_line() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/agents/mcp_server.mjs");
    let copilot = start().await;
    let servers = json!({ "greeter": { "command": "node", "args": [script], "env": { "KEY": "sk-ofTheServer" } } });
    let session = copilot
        .session_with(
            json!({ "runtime": "copilot-acp", "permissionMode": "allow-all", "options": { "mcpServers": servers } }),
        )
        .await;
    let outcome = session.ask("@@tool greeter-greet {\"name\":\"world\"}").await;
    assert_eq!(outcome["verdict"], "succeeded", "{outcome}");
    let log = session.get("/log").await.text().to_owned();
    assert!(log.contains("Nobody to greet"), "the server was asked, and nobody can be asked over ACP: {log}");
    for child in children_of(copilot.server.process_id()) {
        let line = std::fs::read_to_string(format!("/proc/{child}/cmdline")).unwrap_or_default();
        assert!(!line.contains("ofTheServer"), "{line}");
    }
}

#[tokio::test]
async fn the_canary_runs_on_it_and_it_is_listed() {
    let copilot = start().await;
    let doctor = copilot.server.run(&["doctor"]).await;
    for line in
        ["copilot-acp: program", "copilot-acp: protocol", "copilot-acp: login", "copilot-acp: permission canary"]
    {
        assert!(doctor.stdout.contains(line), "{line}: {}", doctor.stdout);
    }
    let canary = doctor.stdout.lines().find(|line| line.contains("copilot-acp: permission canary")).expect("a line");
    assert!(canary.contains("was denied, and did nothing"), "{canary}");
    let agents = copilot.server.run(&["agents"]).await;
    assert!(agents.stdout.contains("copilot-acp"), "{}", agents.stdout);
    assert!(children_of(copilot.server.process_id()).len() <= 1, "what was started for a check is gone");
}

#[tokio::test]
async fn a_session_is_the_same_by_whichever_way_copilot_is_reached() {
    let copilot = start().await;
    let session = session(&copilot, "ask").await;
    session.ask("@@plain").await;
    let http = copilot.server.http();
    // The agent writes the session a moment after its first turn.
    let listed = eventually("the session in the list", async || {
        let listed = http.get("/api/agent-sessions?runtime=copilot").await.json();
        listed["sessions"].get(0).is_some().then_some(listed)
    })
    .await;
    assert_eq!(listed["sessions"][0]["adoptedAs"], session.id, "nobody drives it twice: {listed}");
    let id = listed["sessions"][0]["agentSessionId"].as_str().expect("an id");
    let adopted = http.post_json(&format!("/api/agent-sessions/copilot/{id}/adopt"), &json!({})).await;
    assert_eq!(adopted.json()["sessionId"], session.id, "{}", adopted.text());
    let all = http.get("/api/agent-sessions").await.json();
    assert_eq!(all["sessions"].as_array().expect("sessions").len(), 1, "and it is listed once: {all}");
}
