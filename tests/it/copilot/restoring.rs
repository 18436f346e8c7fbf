//! What happens when Copilot cannot take up its own session again, and when it can only in part.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::until_recorded;
use crate::support::{CopilotServer, Program, TestSession, eventually, send_signal};

/// Where Copilot keeps a session of its own.
fn record(copilot: &CopilotServer) -> PathBuf {
    let sessions = copilot.server.folder().join("copilot/session-state");
    let mut found: Vec<PathBuf> =
        std::fs::read_dir(sessions).expect("sessions").map(|entry| entry.expect("readable").path()).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

async fn notices(session: &TestSession, kind: &str) -> Vec<Value> {
    let log = session.log().await;
    log.into_iter().map(|(_, response)| response).filter(|response| response["kind"] == kind).collect()
}

#[tokio::test]
async fn a_session_that_is_missing_or_damaged_is_begun_anew_and_told_what_was_lost() {
    for damage in ["missing", "damaged"] {
        let mut copilot = CopilotServer::start(Program::Runtime).await;
        let session = copilot.session("ask").await;
        session.ask("@@echo remember-me").await;
        assert!(copilot.server.stop().await);
        let record = record(&copilot);
        match damage {
            "missing" => std::fs::remove_dir_all(&record).expect("removed"),
            _ => std::fs::write(record.join("events.jsonl"), "not what it was\n").expect("written"),
        }
        let CopilotServer { server, model } = copilot;
        let mut server = server.start_again().await;
        let again = session.seen_by(server.http());
        let answer = again.ask("@@echo again").await;
        assert_eq!(answer["text"], "ECHO[again]", "{damage} {answer}");
        let told = notices(&again, "fresh-session").await;
        assert_eq!(told.len(), 1, "{damage} {told:?}");
        let words = told[0]["message"].as_str().expect("words");
        assert!(words.contains("could not be restored") && words.contains("your history is intact"), "{words}");
        assert_eq!(words.matches('.').count(), 1, "one sentence: {words}");
        assert!(told[0]["detail"].as_str().is_some_and(|detail| !words.contains(detail)), "{told:?}");
        let lost = &again.get("").await.json()["lostSession"];
        assert_eq!((&lost["message"], &lost["detail"]), (&told[0]["message"], &told[0]["detail"]));
        let (at, _) = again.log().await.into_iter().find(|(_, response)| *response == told[0]).expect("in the log");
        assert_eq!(lost["seq"], at, "so that a page knows whether it was dismissed");
        // The agent hears of the task, and the person's own words stay as they were.
        let said = model.requests().last().expect("asked").to_string();
        assert!(said.contains("remember-me") && said.contains("It was answered"), "{said}");
        assert_eq!(again.get("").await.json()["title"], "@@echo remember-me", "the summary is no title");
        let prompts: Vec<Value> = again
            .log()
            .await
            .into_iter()
            .map(|(_, response)| response["text"].clone())
            .filter(Value::is_string)
            .collect();
        assert_eq!(prompts, [json!("@@echo remember-me"), json!("@@echo again")]);
        assert_eq!(again.ask("@@history").await["text"], "user turns: 2", "the next prompt repeats nothing");
        assert_eq!(notices(&again, "fresh-session").await.len(), 1);
        assert!(server.stop().await);
        let logged = server.stderr().await;
        assert!(logged.contains("session-lost") && logged.contains(&again.id), "{logged}");
    }
}

#[tokio::test]
async fn a_session_without_a_prompt_has_nothing_to_lose() {
    let mut copilot = CopilotServer::start(Program::Cli).await;
    let runtimes = ["copilot", "copilot-acp", "copilot-headless"];
    let mut ids = Vec::new();
    for runtime in runtimes {
        let session = copilot.session_with(json!({ "runtime": runtime })).await;
        eventually("an open session", async || (session.state().await == "ready").then_some(())).await;
        ids.push(session);
    }
    assert!(copilot.server.stop().await);
    let CopilotServer { server, model: _model } = copilot;
    let server = server.start_again().await;
    for (runtime, session) in runtimes.into_iter().zip(ids) {
        let again = session.seen_by(server.http());
        assert_eq!(again.ask("@@echo hello").await["text"], "ECHO[hello]", "{runtime}");
        assert_eq!(notices(&again, "fresh-session").await, Vec::<Value>::new(), "{runtime}");
        assert_eq!(again.get("").await.json()["lostSession"], Value::Null, "{runtime}");
    }
}

#[tokio::test]
async fn a_turn_that_was_killed_is_said_to_be_incomplete_and_a_clean_one_is_not() {
    let copilot = CopilotServer::start(Program::Runtime).await;
    let session = copilot.session("ask").await;
    session.ask("@@plain").await;
    until_recorded(&copilot, "\"assistant.turn_end\"", 1).await;
    let after = session.get("").await.json()["lastSeq"].as_u64().expect("a number");
    send_signal("KILL", copilot.program());
    session.events_after(after).await.until(|event| event.json()["state"] == "recovering").await;
    assert_eq!(session.ask("@@plain").await["verdict"], "succeeded");
    assert_eq!(notices(&session, "incomplete").await, Vec::<Value>::new(), "nothing was cut");
    session.prompt("@@slow 1000").await;
    session.events_after(0).await.until(|event| event.data.contains("tick3")).await;
    until_recorded(&copilot, "@@slow", 1).await;
    send_signal("KILL", copilot.program());
    let mut stream = session.events_after(0).await;
    stream.until(|event| event.json()["kind"] == "interrupted").await;
    assert_eq!(session.ask("@@plain").await["verdict"], "succeeded");
    assert_eq!(notices(&session, "incomplete").await.len(), 1);
}

#[tokio::test]
async fn attempts_to_bring_an_agent_back_are_counted_where_everybody_sees_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("copilot");
    std::fs::write(&program, "#!/bin/sh\necho 'not today' >&2; exit 1\n").expect("written");
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("set");
    let server = crate::support::Server::builder()
        .variable("COPILOT_CLI_PATH", program.to_str().expect("UTF-8"))
        .variable("COPILOT_PROVIDER_BASE_URL", "http://127.0.0.1:1/v1")
        .config("[recovery]\nattempts = 2\nfirst_delay = \"1ms\"")
        .start()
        .await;
    let session = TestSession::start_with(server.http(), json!({ "runtime": "copilot", "model": "m" })).await;
    session.prompt("hello").await;
    let events = session.events_after(0).await.until(|event| event.json()["state"] == "failed").await;
    let details: Vec<String> =
        events.iter().filter_map(|event| event.json()["detail"].as_str().map(str::to_owned)).collect();
    assert!(
        details.iter().any(|detail| detail.contains("attempt 2 of 2") && detail.contains("not today")),
        "{details:?}"
    );
    assert!(details.last().expect("one").contains("gave up after 2 attempts"), "{details:?}");
    let tried = server.http().post_json(&session.path("/retry"), &json!({})).await;
    assert_eq!(tried.status, 202, "{}", tried.text());
}

/// Ends the server, removes what Copilot keeps, and starts the server again.
async fn lose_session(mut copilot: CopilotServer, session: &TestSession) -> (CopilotServer, TestSession) {
    assert!(copilot.server.stop().await);
    std::fs::remove_dir_all(copilot.server.folder().join("copilot/session-state")).expect("removed");
    let CopilotServer { server, model } = copilot;
    let server = server.start_again().await;
    let session = session.seen_by(server.http());
    (CopilotServer { server, model }, session)
}

#[tokio::test]
async fn the_task_is_still_known_after_a_second_loss_and_a_title_stays_the_persons_own() {
    let copilot = CopilotServer::start(Program::Runtime).await;
    let session = copilot.session_with(json!({ "permissionMode": "allow-all", "title": "My title" })).await;
    session.ask("The task is to make notes @@create notes.txt").await;
    session.ask("@@bash echo first-command").await;
    let (copilot, session) = lose_session(copilot, &session).await;
    session.ask("continue @@echo once").await;
    let (copilot, session) = lose_session(copilot, &session).await;
    session.ask("go on @@echo twice").await;
    let request = copilot.model.requests().last().expect("asked").clone();
    let said = request["messages"].as_array().and_then(|list| list.last()).expect("a message")["content"].to_string();
    for words in ["The task is to make notes", "notes.txt", "echo first-command", "continue @@echo once", "ECHO[once]"]
    {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert_eq!(said.matches("Summary of an earlier conversation").count(), 1, "{said}");
    assert!(said.find("go on").expect("the prompt") > said.find("[End of the summary").expect("its end"), "{said}");
    assert_eq!(session.get("").await.json()["title"], "My title");
    assert_eq!(notices(&session, "fresh-session").await.len(), 2);
}

#[tokio::test]
async fn a_new_name_stays_although_the_agent_names_the_session_too() {
    for program in Program::BOTH {
        let copilot = CopilotServer::start(program).await;
        let session = copilot.session("ask").await;
        let renamed = session.http.patch_json(&session.path(""), &json!({ "title": "Renamed" })).await;
        assert_eq!(renamed.json()["title"], "Renamed");
        session.ask("@@plain").await;
        assert_eq!(session.get("").await.json()["title"], "Renamed", "{program:?}");
        let log = session.log().await;
        assert!(log.iter().all(|(_, response)| response["callback"] != "onTitleChanged"), "{log:?}");
    }
}
