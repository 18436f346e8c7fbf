//! A program that hangs: said, and ended only where that is configured.

use super::until_recorded;
use crate::support::{CopilotServer, Program, TestSession, is_alive, send_signal, until_gone};

/// A turn in which the program stands still: gives the program.
async fn stop_in_turn(copilot: &CopilotServer, session: &TestSession) -> u32 {
    session.prompt("@@slow 80 100").await;
    session.events_after(0).await.until(|event| event.data.contains("tick3")).await;
    until_recorded(copilot, "@@slow", 1).await;
    let program = copilot.program();
    send_signal("STOP", program);
    program
}

#[tokio::test]
async fn a_program_without_a_sign_of_life_is_said_once_and_goes_on_when_it_can() {
    for program in Program::BOTH {
        let copilot = CopilotServer::start_with(program, "[recovery]\nsilence_notice = \"4s\"").await;
        let session = copilot.session("ask").await;
        let stopped = stop_in_turn(&copilot, &session).await;
        let mut stream = session.events_after(0).await;
        let events = stream.until(|event| event.json()["kind"] == "hung").await;
        let message = events.last().expect("one").json()["message"].as_str().expect("text").to_owned();
        assert!(message.starts_with("The agent has been unresponsive for "), "{message}");
        assert!(message.contains("Interrupt"), "{message}");
        assert_eq!(session.state().await, "working", "silence ends nothing");
        send_signal("CONT", stopped);
        let rest = stream.until_callback("onIdle").await;
        assert!(rest.iter().all(|event| event.json()["kind"] != "hung"), "{program:?}");
        let end = rest.iter().find(|event| event.callback() == "onEndMessage").expect("an end");
        assert!(end.data.contains("tick0") && end.data.contains("tick79"), "{program:?}: {}", end.data);
        assert_eq!(copilot.program(), stopped);
    }
}

#[tokio::test]
async fn a_program_without_a_sign_of_life_is_ended_where_configured_and_the_session_goes_on() {
    let config = "[recovery]\nsilence_notice = \"4s\"\nend_hung = true";
    let copilot = CopilotServer::start_with(Program::Runtime, config).await;
    let session = copilot.session("ask").await;
    let other = copilot.session("ask").await;
    other.ask("@@plain").await;
    until_recorded(&copilot, "@@plain", 1).await;
    let stopped = stop_in_turn(&copilot, &session).await;
    let events = session.events_after(0).await.until_callback("onIdle").await;
    let position = |name: &str| events.iter().position(|event| event.data.contains(name)).expect(name);
    assert!(position("\"hung\"") < position("sessionError"));
    assert!(events[position("sessionError")].data.contains("was unresponsive"), "{events:?}");
    assert!(!is_alive(stopped));
    assert_eq!(session.ask("@@history").await["text"], "user turns: 2");
    assert_eq!(other.ask("@@history").await["text"], "user turns: 2", "whoever shared it goes on too");
}

/// What the server logs each time that it has looked whether a silent agent is alive.
const PROBED: &str = "a silent agent was probed";
const LOGS_PROBES: &str = "[log]\nfilter = \"info,flightdeck::session=debug\"\n";

#[tokio::test]
async fn a_tool_that_takes_its_time_in_silence_is_no_sign_of_trouble() {
    let config = format!("{LOGS_PROBES}[recovery]\nsilence_notice = \"6s\"\nend_hung = true");
    for program in Program::BOTH {
        let copilot = CopilotServer::start_with(program, &config).await;
        let session = copilot.session("allow-all").await;
        let tool = copilot.run_tool(&session).await;
        copilot.server.until_logged(PROBED, 2).await;
        assert_eq!(session.state().await, "working", "{program:?}");
        send_signal("TERM", tool);
        session.events_after(0).await.until_callback("onIdle").await;
        let log = session.log().await;
        let is_trouble =
            |response: &serde_json::Value| response["kind"] == "hung" || response["sessionError"].is_string();
        assert!(!log.iter().any(|(_, response)| is_trouble(response)), "{program:?}: {log:?}");
    }
}

#[tokio::test]
async fn a_program_that_does_not_answer_while_its_tool_works_lives() {
    let config = format!("{LOGS_PROBES}[recovery]\nsilence_notice = \"4s\"");
    let copilot = CopilotServer::start_with(Program::Runtime, &config).await;
    let session = copilot.session("allow-all").await;
    let tool = copilot.run_command(&session, "while :; do :; done").await;
    let program = copilot.program();
    send_signal("STOP", program);
    // The first probe may have begun before the program stood still.
    copilot.server.until_logged(PROBED, 3).await;
    assert!(session.log().await.iter().all(|(_, response)| response["kind"] != "hung"));
    send_signal("STOP", tool);
    session.events_after(0).await.until(|event| event.json()["kind"] == "hung").await;
    for process in [tool, program] {
        send_signal("CONT", process);
    }
    let mut copilot = copilot;
    assert!(copilot.server.stop().await);
    // It was told to end, and does so when it is given the time.
    until_gone(tool).await;
}
