//! Sessions that wait for their caller.

use serde_json::json;

use super::{Caller, names, server, sessions_on_disk, until_nothing_is_left};
use crate::support::{Program, eventually, send_signal, until_gone};

#[tokio::test]
async fn a_loop_of_five_rounds_is_one_conversation_of_the_agent_and_one_request_of_the_user() {
    for program in Program::BOTH {
        let copilot = server(program, "").await;
        let mut caller = Caller::of(&copilot);
        let (mut answer, mut origin) = caller.ask("@@loop 5 look {\"at\":\"x\"}").await;
        assert_eq!(origin, "fresh");
        for round in 0..5 {
            assert_eq!(names(&answer), ["look"], "{program:?} {round}");
            caller.give_results(&format!("result {round}"));
            (answer, origin) = caller.send().await;
            assert_eq!(origin, "held", "{program:?} {round}");
        }
        assert!(answer["content"].as_str().expect("text").contains("result 4"), "{answer}");
        let initiators: Vec<Option<String>> =
            copilot.model.calls_with("").into_iter().map(|call| call.initiator).collect();
        let users = initiators.iter().filter(|initiator| initiator.as_deref() == Some("user")).count();
        assert_eq!((initiators.len(), users), (6, 1), "{program:?}: {initiators:?}");
        // The results are tool messages behind the model's own calls.
        let last = copilot.model.requests().pop().expect("a request");
        let roles: Vec<&str> = last["messages"]
            .as_array()
            .expect("messages")
            .iter()
            .map(|message| message["role"].as_str().expect("a role"))
            .filter(|role| *role != "system")
            .collect();
        assert_eq!(roles, ["user"].into_iter().chain(["assistant", "tool"].repeat(5)).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn what_a_caller_says_beside_its_results_goes_with_the_last_of_them() {
    let copilot = server(Program::Runtime, "").await;
    let mut caller = Caller::of(&copilot);
    caller.ask("@@tool look {}").await;
    caller.give_results("seen");
    caller.says("and hurry up");
    let (_, origin) = caller.send().await;
    assert_eq!(origin, "held");
    let last = copilot.model.calls_with("").pop().expect("a call");
    assert_eq!(last.initiator.as_deref(), Some("agent"));
    let tool = last.body["messages"].as_array().expect("messages").last().expect("one").clone();
    assert!(tool["role"] == "tool" && tool["content"].as_str().expect("text").contains("and hurry up"), "{tool}");
}

#[tokio::test]
async fn an_edited_history_other_tools_and_a_second_use_start_a_new_session() {
    let copilot = server(Program::Runtime, "").await;
    let mut caller = Caller::of(&copilot);
    caller.says("first");
    caller.messages.push(json!({ "role": "assistant", "content": "yes?" }));
    caller.ask("@@loop 1 look {\"at\":\"x\"}").await;
    caller.give_results("seen");
    let original = caller.messages.clone();
    caller.messages[0] = json!({ "role": "user", "content": "edited" });
    assert_eq!(caller.send().await.1, "fresh");
    caller.messages.clone_from(&original);
    caller.tools.pop();
    assert_eq!(caller.send().await.1, "fresh", "other tools");
    caller.messages.clone_from(&original);
    caller.tools.push(super::tool("bash"));
    assert_eq!(caller.send().await.1, "held");
    caller.messages.clone_from(&original);
    let (answer, origin) = caller.send().await;
    assert_eq!(origin, "fresh", "a second use");
    assert!(answer["content"].as_str().is_some_and(|text| !text.is_empty()), "and it is answered: {answer}");
}

#[tokio::test]
async fn a_session_that_was_forced_to_one_tool_is_not_continued_with_all_of_them() {
    let copilot = server(Program::Runtime, "").await;
    let mut caller = Caller::of(&copilot);
    caller.says("@@loop 1 look {\"at\":\"x\"}");
    let mut body = caller.body();
    body["tool_choice"] = json!({ "type": "function", "function": { "name": "look" } });
    let reply = copilot.server.http().post_json("/v1/chat/completions", &body).await;
    caller.messages.push(reply.json()["choices"][0]["message"].clone());
    caller.give_results("seen");
    let (_, origin) = caller.send().await;
    assert_eq!(origin, "fresh");
    let offered = copilot.model.requests().last().expect("a request")["tools"].as_array().map(Vec::len);
    assert_eq!(offered, Some(2), "now the model may choose");
}

#[tokio::test]
async fn another_token_never_continues_a_session() {
    let copilot = server(Program::Runtime, "").await;
    let mut caller = Caller::of(&copilot);
    caller.ask("@@tool look {}").await;
    caller.give_results("seen");
    let created = copilot.server.run(&["tokens", "create", "--scope", "models"]).await;
    let token = created.stdout.trim().to_owned();
    let other = copilot.server.stranger().header("x-api-key", &token);
    let reply = other.post_json("/v1/chat/completions", &caller.body()).await;
    assert_eq!((reply.status.as_u16(), reply.header("x-flightdeck-capture")), (200, "fresh"), "{}", reply.text());
    assert_eq!(caller.send().await.1, "held", "its own caller does");
}

#[tokio::test]
async fn a_held_session_survives_a_kill_of_the_server_and_of_the_agent() {
    for program in Program::BOTH {
        for kills_server in [true, false] {
            let mut copilot = server(program, "").await;
            let mut caller = Caller::of(&copilot);
            caller.ask("@@tool look {\"at\":\"x\"}").await;
            let agent = copilot.program();
            until_kept(&copilot).await;
            if kills_server {
                copilot.server = copilot.server.kill_and_restart().await;
                caller.http = copilot.server.http();
            } else {
                send_signal("KILL", agent);
                until_gone(agent).await;
            }
            caller.give_results("seen");
            let (answer, origin) = caller.send().await;
            assert_eq!(origin, "held", "{program:?}, server: {kills_server}");
            assert!(answer["content"].as_str().expect("text").contains("seen"), "{answer}");
            let last = copilot.model.calls_with("").pop().expect("a call");
            assert_eq!(last.initiator.as_deref(), Some("agent"), "{program:?}, server: {kills_server}");
            assert_eq!(copilot.model.calls_with("").len(), 2, "nothing was asked twice");
        }
    }
}

/// Waits until the agent has written its open calls to its disk.
async fn until_kept(copilot: &crate::support::CopilotServer) {
    eventually("the calls on the agent's disk", async || {
        let session = sessions_on_disk(copilot).pop()?;
        let file = copilot.server.folder().join("copilot/session-state").join(session).join("events.jsonl");
        std::fs::read_to_string(file).ok()?.contains("external_tool.requested").then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_polite_end_keeps_open_calls_and_deletes_everything_else() {
    let mut copilot = server(Program::Runtime, "").await;
    let mut caller = Caller::of(&copilot);
    caller.ask("@@tool look {}").await;
    let mut idle = Caller::of(&copilot);
    idle.ask("@@plain").await;
    until_kept_one(&copilot, 2).await;
    assert!(copilot.server.stop().await);
    assert_eq!(sessions_on_disk(&copilot).len(), 1, "only the one with open calls");
    copilot.server = copilot.server.start_again().await;
    caller.http = copilot.server.http();
    caller.give_results("seen");
    assert_eq!(caller.send().await.1, "held");
}

async fn until_kept_one(copilot: &crate::support::CopilotServer, sessions: usize) {
    eventually("sessions on the agent's disk", async || (sessions_on_disk(copilot).len() == sessions).then_some(()))
        .await;
}

#[tokio::test]
async fn nothing_outlives_the_time_that_sessions_are_held() {
    let copilot = server(Program::Runtime, "[capture]\nhold = \"1s\"\nwaiting = 0\n").await;
    let mut caller = Caller::of(&copilot);
    caller.ask("@@tool look {}").await;
    until_nothing_is_left(&copilot).await;
    caller.give_results("late");
    let (_, origin) = caller.send().await;
    assert_eq!(origin, "fresh");
}

#[tokio::test]
async fn a_session_that_left_the_memory_is_resumed_when_its_caller_returns() {
    let copilot = server(Program::Runtime, "[capture]\nwaiting = 1\n").await;
    let mut first = Caller::of(&copilot);
    first.ask("@@tool look {\"at\":\"first\"}").await;
    let mut second = Caller::of(&copilot);
    second.ask("@@tool look {\"at\":\"second\"}").await;
    for caller in [&mut first, &mut second] {
        caller.give_results("seen");
        let (answer, origin) = caller.send().await;
        assert_eq!(origin, "held");
        assert!(answer["content"].as_str().expect("text").contains("seen"), "{answer}");
    }
}

#[tokio::test]
async fn a_session_that_the_agent_lost_is_replaced_without_a_word() {
    let mut copilot = server(Program::Runtime, "").await;
    let mut caller = Caller::of(&copilot);
    caller.ask("@@loop 1 look {}").await;
    until_kept(&copilot).await;
    copilot.server.kill().await;
    std::fs::remove_dir_all(copilot.server.folder().join("copilot/session-state")).expect("removed");
    copilot.server = copilot.server.start_again().await;
    caller.http = copilot.server.http();
    caller.give_results("seen");
    let (answer, origin) = caller.send().await;
    assert_eq!(origin, "fresh");
    assert!(answer["content"].as_str().is_some_and(|text| !text.is_empty()), "{answer}");
}
