//! Requests of the real Copilot that nobody has answered when the server or the agent ends.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{CopilotServer, Program, SseEvent, TestSession, a_moment, programs_of, send_signal, until_gone};

/// What ends while a request waits.
#[derive(Clone, Copy, Debug)]
enum Ending {
    ServerKilled,
    AgentKilled,
    BothKilled,
    ServerStopped,
}

/// Waits until the agent has its requests on disk; a kill before that is another case.
pub async fn until_on_disk(copilot: &CopilotServer, requests: usize) {
    until_recorded(copilot, "\"permission.requested\"", requests).await;
}

/// Waits until the agent has recorded something that many times. It collects what it records for a moment; a kill before
/// that loses it.
pub async fn until_recorded(copilot: &CopilotServer, what: &str, times: usize) {
    let folder = copilot.server.folder().join("copilot/session-state");
    while records(&folder).matches(what).count() < times {
        a_moment().await;
    }
}

/// What the agent has recorded of its sessions.
fn records(folder: &Path) -> String {
    let sessions = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    sessions.filter_map(|session| std::fs::read_to_string(session.path().join("events.jsonl")).ok()).collect()
}

impl Ending {
    async fn happen(self, copilot: CopilotServer) -> CopilotServer {
        let CopilotServer { mut server, model } = copilot;
        let agents = programs_of(&server);
        assert!(!agents.is_empty());
        match self {
            Self::AgentKilled => {
                for agent in &agents {
                    send_signal("KILL", *agent);
                }
                for agent in agents {
                    until_gone(agent).await;
                }
                return CopilotServer { server, model };
            }
            Self::BothKilled => {
                // They end with the server. Standing still, they neither do anything at its end, nor does it see that they
                // are gone and begin to bring them back.
                for agent in &agents {
                    send_signal("STOP", *agent);
                }
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

/// Every tool call begins once and ends once, within a turn and under its own name, also when its end comes late.
fn check_tool_calls(case: &str, log: &[(u64, Value)]) {
    let (mut in_turn, mut open, mut known) = (false, Vec::new(), Vec::new());
    for (seq, response) in log {
        let call = || response["toolCallId"].as_str().expect("an id").to_owned();
        match response["callback"].as_str().unwrap_or_default() {
            "onAgentStart" => in_turn = true,
            "onIdle" => in_turn = false,
            "onStartToolExecution" => {
                assert!(in_turn, "{case}: {seq} outside a turn: {log:#?}");
                assert!(!known.contains(&call()), "{case}: {seq} began twice: {log:#?}");
                assert_ne!(response["toolName"], "unknown", "{case}: {seq}: {log:#?}");
                known.push(call());
                open.push(call());
            }
            "onEndToolExecution" => {
                assert!(in_turn && open.contains(&call()), "{case}: {seq} ends nothing: {log:#?}");
                open.retain(|other| *other != call());
            }
            _ => {}
        }
    }
    assert_eq!(open, Vec::<String>::new(), "{case}: {log:#?}");
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
        assert_eq!(outcome["activity"]["tools"], json!(["bash"]), "{case}: it began before: {outcome}");
        assert_eq!(session.ask("@@plain").await["verdict"], "succeeded", "{case}");
        check_tool_calls(&case, &session.log().await);
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

/// Two requests at once: each is answered by itself, and the turn continues when both are.
#[tokio::test]
async fn two_requests_survive_a_kill_of_both() {
    for program in Program::BOTH {
        let copilot = CopilotServer::start(program).await;
        let first = copilot.session("ask").await;
        first.prompt("@@insist echo one >> one.txt ;; echo two >> two.txt").await;
        first.events_after(0).await.until_callback("onPermissionRequested").await;
        until_on_disk(&copilot, 2).await;
        let copilot = Ending::BothKilled.happen(copilot).await;
        let session = first.seen_by(copilot.server.http());
        let details = session.get("").await.json();
        let requests = details["requests"].as_array().expect("requests");
        assert_eq!(requests.len(), 2, "{program:?} {details:#}");
        let after = last_seq(&session).await;
        for request in requests {
            let decision = if request.to_string().contains("one.txt") { "deny" } else { "allow-once" };
            let request = request["requestId"].as_str().expect("an id");
            session.post(&format!("/permission/{request}"), json!({ "decision": decision })).await;
        }
        let log = until_idle(&session, after).await;
        assert_eq!(count(&log, "onGeneratedUserPrompt"), 0, "{program:?}: the same turn");
        let made = |name: &str| std::fs::read_to_string(copilot.server.work().join(name)).unwrap_or_default();
        assert_eq!((made("one.txt").as_str(), made("two.txt").as_str()), ("", "two\n"), "{program:?}");
    }
}

/// A kill within the moment before the agent writes its request: the agent has forgotten it, the answer becomes a prompt,
/// and the same call is not asked for again.
#[tokio::test]
async fn the_answer_to_a_forgotten_request_continues_the_work() {
    for (program, decision) in
        [(Program::Cli, "allow-once"), (Program::Runtime, "allow-once"), (Program::Runtime, "deny")]
    {
        let case = format!("{program:?} {decision}");
        let copilot = CopilotServer::start(program).await;
        let first = copilot.session("ask").await;
        let request = first.prompt_and_get_request("@@insist echo ran >> made.txt").await;
        until_on_disk(&copilot, 1).await;
        let CopilotServer { mut server, model } = copilot;
        let agents = programs_of(&server);
        // They end with the server, and so does nothing that would bring them back and write to their records.
        for agent in &agents {
            send_signal("STOP", *agent);
        }
        server.kill().await;
        for agent in agents {
            until_gone(agent).await;
        }
        forget_requests(&server.folder().join("copilot/session-state"));
        let copilot = CopilotServer { server: server.start_again().await, model };
        let session = first.seen_by(copilot.server.http());
        assert_eq!(session.state().await, "waiting", "{case}");
        let after = last_seq(&session).await;
        let mut stream = session.events_after(after).await;
        session.post(&format!("/permission/{request}"), json!({ "decision": decision })).await;
        // The turn that was cut off, then the one that continues it.
        stream.until_callback("onIdle").await;
        stream.until_callback("onGeneratedUserPrompt").await;
        if decision == "deny" {
            // The model insists, and is asked about as usual.
            let again = stream.until_callback("onPermissionRequested").await;
            let again = again.last().expect("one").json()["requestId"].as_str().expect("an id").to_owned();
            session.post(&format!("/permission/{again}"), json!({ "decision": "deny" })).await;
        }
        stream.until_callback("onIdle").await;
        let log = session.log().await;
        let made = std::fs::read_to_string(copilot.server.work().join("made.txt")).unwrap_or_default();
        assert_eq!(made, if decision == "deny" { "" } else { "ran\n" }, "{case}: exactly once: {log:#?}");
        let by: Vec<&Value> = log.iter().map(|(_, response)| &response["by"]).filter(|by| by.is_string()).collect();
        let expected = if decision == "deny" { ["api", "api"] } else { ["api", "grant"] };
        assert_eq!(by, expected, "{case}: {log:#?}");
        check_tool_calls(&case, &log);
    }
}

/// Removes the end of the agent's records, from the request on.
fn forget_requests(folder: &Path) {
    for session in std::fs::read_dir(folder).expect("sessions").filter_map(Result::ok) {
        let file = session.path().join("events.jsonl");
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        let kept: Vec<&str> = text.lines().take_while(|line| !line.contains("\"permission.requested\"")).collect();
        std::fs::write(&file, kept.join("\n") + "\n").expect("written");
    }
}

#[tokio::test]
async fn a_question_stays_open_and_its_answer_continues_the_work() {
    for program in Program::BOTH {
        let copilot = CopilotServer::start(program).await;
        let first = copilot.session("ask").await;
        let request = first.prompt_and_get_request("@@ask").await;
        until_recorded(&copilot, "\"tool.execution_start\"", 1).await;
        let copilot = Ending::ServerKilled.happen(copilot).await;
        let session = first.seen_by(copilot.server.http());
        let details = session.get("").await.json();
        assert_eq!((&details["state"], &details["requests"][0]["requestId"]), (&json!("waiting"), &json!(request)));
        let log = session.log().await;
        assert_eq!(count(&log, "onIdle"), 1, "{program:?}: the turn is over");
        let kept = log.iter().filter(|(_, response)| response["kind"] == "request-kept").count();
        assert_eq!(kept, 1, "{program:?}: {log:#?}");
        let after = last_seq(&session).await;
        session.post(&format!("/answer/{request}"), json!({ "answer": "blue" })).await;
        let log = until_idle(&session, after).await;
        let generated = log.iter().find(|(_, response)| response["callback"] == "onGeneratedUserPrompt");
        let text = generated.expect("a prompt").1["prompt"].as_str().expect("text").to_owned();
        assert!(text.contains("Which colour?") && text.contains("blue"), "{program:?}: {text}");
        assert_eq!(session.state().await, "ready");
        assert_eq!(session.ask("@@plain").await["verdict"], "succeeded", "{program:?}");
        check_tool_calls(&format!("{program:?}"), &session.log().await);
    }
}

/// A tool that runs while another waits: nothing is continued in the agent, because that could run it twice.
#[tokio::test]
async fn a_running_tool_is_never_run_again() {
    for program in Program::BOTH {
        let copilot = CopilotServer::start(program).await;
        let first = copilot.session("ask").await;
        first.prompt("@@insist echo ran >> running.txt; sleep 1000 ;; echo two >> two.txt").await;
        let asks = |event: &SseEvent| event.callback() == "onPermissionRequested" && event.data.contains("running.txt");
        let asked = first.events_after(0).await.until(asks).await;
        let running = asked.last().expect("one").json()["requestId"].as_str().expect("an id").to_owned();
        until_on_disk(&copilot, 2).await;
        first.post(&format!("/permission/{running}"), json!({ "decision": "allow-once" })).await;
        let file = copilot.server.work().join("running.txt");
        while !file.exists() {
            a_moment().await;
        }
        let copilot = Ending::BothKilled.happen(copilot).await;
        let session = first.seen_by(copilot.server.http());
        let details = session.get("").await.json();
        assert_eq!(details["requests"].as_array().map(Vec::len), Some(1), "{program:?} {details:#}");
        let log = session.log().await;
        assert_eq!(count(&log, "onIdle"), 1, "{program:?}: the turn is over");
        // Another prompt withdraws the request.
        assert_eq!(session.ask("@@plain").await["verdict"], "succeeded", "{program:?}");
        let log = session.log().await;
        let withdrawn = log.iter().find(|(_, response)| response["by"] == "prompt").expect("withdrawn");
        assert_eq!(withdrawn.1["decision"], "cancelled", "{program:?}");
        check_tool_calls(&format!("{program:?}"), &log);
        assert_eq!(std::fs::read_to_string(&file).expect("made"), "ran\n", "{program:?}: once");
        check_tool_calls(&format!("{program:?}"), &session.log().await);
    }
}

/// The answer was given and the tool may have begun: it is unknown whether it ran, so nothing repeats it.
#[tokio::test]
async fn an_approved_tool_that_was_cut_off_is_not_run_again_and_the_log_says_that_it_may_have_run() {
    for program in Program::BOTH {
        let copilot = CopilotServer::start(program).await;
        let first = copilot.session("ask").await;
        let request = first.prompt_and_get_request("@@bash echo ran >> made.txt; sleep 1000").await;
        first.post(&format!("/permission/{request}"), json!({ "decision": "allow-once" })).await;
        let file = copilot.server.work().join("made.txt");
        while !file.exists() {
            a_moment().await;
        }
        let copilot = Ending::BothKilled.happen(copilot).await;
        let session = first.seen_by(copilot.server.http());
        let log = session.log().await;
        let notice = log.iter().find(|(_, response)| response["kind"] == "interrupted").expect("a notice");
        assert!(notice.1["message"].as_str().expect("text").contains("may have"), "{program:?}: {}", notice.1);
        assert_eq!(session.ask("@@plain").await["verdict"], "succeeded", "{program:?}");
        assert_eq!(std::fs::read_to_string(&file).expect("made"), "ran\n", "{program:?}: once");
        check_tool_calls(&format!("{program:?}"), &session.log().await);
    }
}

/// The agent was replaced while a request waited: another version of it continues the work, or the answer becomes a
/// prompt. In both cases the tool runs only with its approval, and once.
#[tokio::test]
async fn a_request_survives_an_upgrade_of_the_agent() {
    for (before, now) in [(Program::Cli, Program::Runtime), (Program::Runtime, Program::Cli)] {
        for decision in ["allow-once", "deny"] {
            let case = format!("{before:?} → {now:?} {decision}");
            let copilot = CopilotServer::start(before).await;
            let first = copilot.session("ask").await;
            let request = first.prompt_and_get_request("@@bash echo ran >> made.txt").await;
            until_on_disk(&copilot, 1).await;
            let CopilotServer { mut server, model } = copilot;
            let agents = programs_of(&server);
            server.kill().await;
            for agent in agents {
                until_gone(agent).await;
            }
            let path = now.path();
            let builder = server.builder_again().variable("COPILOT_CLI_PATH", path.to_str().expect("UTF-8"));
            let server = server.start_again_as(builder).await;
            let session = first.seen_by(server.http());
            assert_eq!(session.get("").await.json()["requests"][0]["requestId"], request, "{case}");
            let made = || std::fs::read_to_string(server.work().join("made.txt")).unwrap_or_default();
            assert_eq!(made(), "", "{case}: nothing runs by itself");
            let after = last_seq(&session).await;
            let answered = session.post(&format!("/permission/{request}"), json!({ "decision": decision })).await;
            assert_eq!(answered.status, 200, "{case}: {}", answered.text());
            until_idle(&session, after).await;
            assert_eq!(session.ask("@@plain").await["verdict"], "succeeded", "{case}");
            assert_eq!(made(), if decision == "deny" { "" } else { "ran\n" }, "{case}: exactly once");
            check_tool_calls(&case, &session.log().await);
            drop(model);
        }
    }
}

/// The agent was replaced by a program that does not work: the answer is accepted, the log says why nothing came of it,
/// and no tool runs, also when a program that works is there again.
#[tokio::test]
async fn an_answer_that_a_broken_upgrade_cannot_take_runs_nothing() {
    let copilot = CopilotServer::start(Program::Cli).await;
    let first = copilot.session("ask").await;
    let request = first.prompt_and_get_request("@@bash echo ran >> made.txt").await;
    until_on_disk(&copilot, 1).await;
    let CopilotServer { mut server, model } = copilot;
    let agents = programs_of(&server);
    server.kill().await;
    for agent in agents {
        until_gone(agent).await;
    }
    let good = server.builder_again();
    let broken = server.folder().join("broken");
    std::fs::write(&broken, "#!/bin/sh\necho \"error: unknown option '--headless'\" >&2\nexit 1\n").expect("written");
    std::fs::set_permissions(&broken, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("set");
    let builder = good.clone().variable("COPILOT_CLI_PATH", broken.to_str().expect("UTF-8"));
    let server = server.start_again_as(builder).await;
    let session = first.seen_by(server.http());
    let mut stream = session.events_after(last_seq(&session).await).await;
    let answered = session.post(&format!("/permission/{request}"), json!({ "decision": "allow-once" })).await;
    assert_eq!(answered.status, 200, "{}", answered.text());
    let failed = stream.until(|event| event.json()["state"] == "failed").await;
    let said = failed.iter().map(|event| event.data.clone()).collect::<String>();
    assert!(said.contains("too old") && said.contains("interrupted"), "{said}");
    assert!(!said.contains("may have done its work"), "the agent never got the answer: {said}");
    let server = server.restart_as(good).await;
    let session = first.seen_by(server.http());
    assert_eq!(session.ask("@@plain").await["verdict"], "succeeded");
    assert!(!server.work().join("made.txt").exists(), "{:#?}", session.log().await);
    let again = session.post(&format!("/permission/{request}"), json!({ "decision": "allow-once" })).await;
    assert_eq!(again.error(409), "AlreadyAnswered");
    check_tool_calls("broken", &session.log().await);
    drop(model);
}

/// A tool runs when the server is stopped, so that its end is written then. The agent ends it once more when its session
/// is resumed.
#[tokio::test]
async fn the_late_end_of_a_tool_from_before_a_restart_is_not_another_tool() {
    for program in Program::BOTH {
        let copilot = CopilotServer::start(program).await;
        let first = copilot.session("allow-all").await;
        copilot.run_tool(&first).await;
        until_recorded(&copilot, "\"tool.execution_start\"", 1).await;
        let CopilotServer { mut server, model } = copilot;
        for agent in programs_of(&server) {
            send_signal("KILL", agent);
        }
        first.events_after(0).await.until_callback("onIdle").await;
        server.kill().await;
        let server = server.start_again().await;
        let session = first.seen_by(server.http());
        assert_eq!(session.ask("@@plain").await["verdict"], "succeeded", "{program:?}");
        let log = session.log().await;
        check_tool_calls(&format!("{program:?}"), &log);
        assert_eq!(count(&log, "onStartToolExecution"), 1, "{program:?}: {log:#?}");
        drop(model);
    }
}
