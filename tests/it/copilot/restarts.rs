//! The program is killed, the server is killed: the conversation goes on.

use super::until_recorded;
use crate::support::{
    CopilotServer, Program, a_moment, callbacks, children_of, descendants_of, send_signal, until_gone,
};

#[tokio::test]
async fn a_killed_program_is_started_again_and_still_knows_the_conversation() {
    for program in Program::BOTH {
        let copilot = CopilotServer::start(program).await;
        let session = copilot.session("ask").await;
        session.ask("@@plain").await;
        session.prompt("@@slow 1000").await;
        let after = session.get("").await.json()["lastSeq"].as_u64().expect("a number");
        let mut stream = session.events_after(after).await;
        stream.until(|event| event.data.contains("tick3")).await;
        until_recorded(&copilot, "@@slow", 1).await;
        send_signal("KILL", copilot.program());
        let events = stream.until_callback("onIdle").await;
        assert!(events.iter().any(|event| event.callback() == "sessionError"), "{program:?}");
        assert!(events.iter().any(|event| event.json()["kind"] == "interrupted"));
        let answer = session.ask("@@history").await;
        assert_eq!(answer["verdict"], "succeeded", "{program:?} {answer}");
        assert_eq!(answer["text"], "user turns: 3", "{program:?}");
        let names = callbacks(&session.log().await);
        assert_eq!(names.iter().filter(|name| *name == "onUserPrompt").count(), 3, "nothing is shown twice");
        assert_eq!(names.iter().filter(|name| *name == "onEndMessage").count(), 3);
    }
}

#[tokio::test]
async fn after_a_kill_of_the_server_the_program_is_gone_and_the_session_goes_on() {
    let copilot = CopilotServer::start(Program::Runtime).await;
    let first = copilot.session("ask").await;
    first.ask("@@plain").await;
    first.prompt("@@slow 1000").await;
    first.events_after(0).await.until(|event| event.data.contains("tick3")).await;
    until_recorded(&copilot, "@@slow", 1).await;
    let children = children_of(copilot.server.process_id());
    assert!(!children.is_empty());
    let CopilotServer { server, model } = copilot;
    let server = server.kill_and_restart().await;
    for child in children {
        until_gone(child).await;
    }
    let again = first.seen_by(server.http());
    let answer = again.ask("@@history").await;
    assert_eq!(answer["text"], "user turns: 3", "{answer}");
    drop(model);
}

#[tokio::test]
async fn at_a_clean_end_the_program_and_its_tools_end_too() {
    for program in Program::BOTH {
        let mut copilot = CopilotServer::start(program).await;
        let session = copilot.session("allow-all").await;
        let marker = copilot.server.work().join("started");
        session.prompt(&format!("@@bash touch {} && sleep 1000", marker.display())).await;
        while !marker.exists() {
            a_moment().await;
        }
        let children = descendants_of(copilot.server.process_id());
        assert!(children.len() >= 2, "the program and the tool it runs: {children:?}");
        assert!(copilot.server.stop().await, "{program:?}");
        for child in children {
            until_gone(child).await;
        }
    }
}
