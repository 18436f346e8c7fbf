//! Permissions and questions of the real Copilot.

use serde_json::json;

use crate::support::{CopilotServer, Program, message_text};

#[tokio::test]
async fn a_shell_command_runs_only_when_it_is_allowed() {
    for program in Program::BOTH {
        let copilot = CopilotServer::start(program).await;
        for (decision, file) in [("allow-once", "allowed.txt"), ("deny", "denied.txt")] {
            let session = copilot.session("ask").await;
            let request = session.prompt_and_get_request(&format!("@@bash touch {file}")).await;
            let details = session.get("").await.json();
            assert_eq!(details["requests"][0]["body"]["detail"], format!("touch {file}"), "exactly what would run");
            session.post(&format!("/permission/{request}"), json!({ "decision": decision })).await;
            session.events_after(0).await.until_callback("onIdle").await;
            let made = copilot.server.work().join(file).exists();
            assert_eq!(made, decision == "allow-once", "{program:?} {decision}");
            let log = session.log().await;
            let end = log.iter().find(|(_, response)| response["callback"] == "onEndToolExecution").expect("an end");
            assert_eq!(end.1["error"]["code"] == "denied", decision == "deny", "{}", end.1);
        }
    }
}

/// Of two commands that wait, both are answered if the answer to one covers the other.
#[tokio::test]
async fn an_answer_for_good_covers_what_already_waits() {
    for (covers, is_covered) in [
        (json!({ "covers": "tool" }), true),
        (json!({ "covers": "prefix", "prefix": "touch" }), true),
        (json!({ "covers": "call" }), false),
    ] {
        let copilot = CopilotServer::start(Program::Runtime).await;
        let session = copilot.session("ask").await;
        session.prompt("@@insist touch one.txt ;; touch two.txt").await;
        let mut stream = session.events_after(0).await;
        let one = stream.until_callback("onPermissionRequested").await;
        let one = one.last().expect("one").json()["requestId"].as_str().expect("an id").to_owned();
        let two = stream.until_callback("onPermissionRequested").await;
        let two = two.last().expect("one").json()["requestId"].as_str().expect("an id").to_owned();
        let mut answer = covers.clone();
        answer["decision"] = json!("allow-always");
        let answered = session.post(&format!("/permission/{one}"), answer).await;
        assert_eq!(answered.status, 200, "{}", answered.text());
        let other = session.post(&format!("/permission/{two}"), json!({ "decision": "deny" })).await;
        if is_covered {
            assert_eq!(other.error(409), "AlreadyAnswered", "{covers}");
            assert!(other.text().contains("by rule"), "{}", other.text());
        } else {
            assert_eq!(other.status, 200, "{}", other.text());
        }
        stream.until_callback("onIdle").await;
        let made = ["one.txt", "two.txt"].iter().filter(|name| copilot.server.work().join(name).exists()).count();
        assert_eq!(made, if is_covered { 2 } else { 1 }, "{covers}");
    }
}

/// What waits in another session of the folder is answered too; a command that could do more than its words say is asked
/// about, in every session.
#[tokio::test]
async fn a_prefix_that_is_allowed_for_the_folder_covers_its_other_sessions() {
    let copilot = CopilotServer::start(Program::Runtime).await;
    let (one, two) = (copilot.session("ask").await, copilot.session("ask").await);
    let first = one.prompt_and_get_request("@@bash touch one.txt").await;
    two.prompt_and_get_request("@@bash touch two.txt").await;
    let answer = json!({ "decision": "allow-always", "covers": "prefix", "prefix": "touch", "scope": "folder" });
    let answered = one.post(&format!("/permission/{first}"), answer).await;
    assert_eq!(answered.status, 200, "{}", answered.text());
    for session in [&one, &two] {
        session.events_after(0).await.until_callback("onIdle").await;
    }
    let CopilotServer { server, model } = copilot;
    let copilot = CopilotServer { server: server.kill_and_restart().await, model };
    let third = copilot.session("ask").await;
    assert_eq!(third.ask("@@bash touch three.txt").await["verdict"], "succeeded");
    for name in ["one.txt", "two.txt", "three.txt"] {
        assert!(copilot.server.work().join(name).exists(), "{name}");
    }
    let after = third.get("").await.json()["lastSeq"].as_u64().expect("a number");
    let request = third.prompt_and_get_request("@@bash touch four.txt; touch five.txt").await;
    third.post(&format!("/permission/{request}"), json!({ "decision": "deny" })).await;
    third.events_after(after).await.until_callback("onIdle").await;
    assert!(!copilot.server.work().join("four.txt").exists());
}

#[tokio::test]
async fn modes_decide_for_the_real_agent_too() {
    let copilot = CopilotServer::start(Program::Runtime).await;
    for (mode, file) in [("allow-all", "made.txt"), ("deny", "not-made.txt")] {
        let session = copilot.session(mode).await;
        let path = copilot.server.work().join(file);
        session.ask(&format!("@@create {}", path.display())).await;
        assert_eq!(path.exists(), mode == "allow-all", "{mode}");
    }
}

#[tokio::test]
async fn a_question_of_the_agent_is_answered_by_a_person() {
    let copilot = CopilotServer::start(Program::Runtime).await;
    let session = copilot.session("ask").await;
    let request = session.prompt_and_get_request("@@ask").await;
    let asked = &session.get("").await.json()["requests"][0]["body"];
    assert_eq!((&asked["question"], &asked["choices"]), (&json!("Which colour?"), &json!(["red", "blue"])));
    session.post(&format!("/answer/{request}"), json!({ "answer": "blue" })).await;
    let events = session.events_after(0).await.until_callback("onIdle").await;
    assert!(message_text(&events).contains("blue"), "{}", message_text(&events));
}

#[tokio::test]
async fn an_interrupt_while_a_person_is_asked_ends_the_turn() {
    let copilot = CopilotServer::start(Program::Runtime).await;
    let session = copilot.session("ask").await;
    for prompt in ["@@bash touch late.txt", "@@ask"] {
        session.prompt_and_get_request(prompt).await;
        let after = session.get("").await.json()["lastSeq"].as_u64().expect("a number");
        session.post("/interrupt", json!({})).await;
        session.events_after(after).await.until_callback("onIdle").await;
    }
    assert!(!copilot.server.work().join("late.txt").exists());
    assert_eq!(session.ask("@@plain").await["verdict"], "succeeded");
}

#[tokio::test]
async fn files_in_the_folder_are_read_without_asking_and_others_are_asked_about() {
    for program in Program::BOTH {
        let copilot = CopilotServer::start(program).await;
        let work = copilot.server.work();
        let outside = copilot.server.folder().join("outside.txt");
        std::fs::write(&outside, "secret").expect("written");
        std::fs::write(work.join("inside.txt"), "harmless").expect("written");
        std::os::unix::fs::symlink(&outside, work.join("link.txt")).expect("linked");
        let session = copilot.session("ask").await;
        let view = |path: &std::path::Path| format!("@@tool view {}", json!({ "path": path }));
        let read = session.ask(&view(&work.join("inside.txt"))).await;
        assert!(read["text"].as_str().expect("text").contains("harmless"), "{program:?}: {read}");
        for path in [outside.clone(), work.join("link.txt")] {
            let request = session.prompt_and_get_request(&view(&path)).await;
            let after = session.get("").await.json()["lastSeq"].as_u64().expect("a number");
            session.post(&format!("/permission/{request}"), json!({ "decision": "deny" })).await;
            session.events_after(after).await.until_callback("onIdle").await;
        }
    }
}
