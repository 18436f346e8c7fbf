//! "Always allow" for a folder: it holds in every session that works there, and nowhere else.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Server, TestSession, callbacks};

const FOR_FOLDER: &str = r#"{"decision":"allow-always","covers":"prefix","prefix":"echo","scope":"folder"}"#;

async fn session_in(server: &Server, folder: &Path) -> TestSession {
    std::fs::create_dir_all(folder).expect("a folder");
    TestSession::start_with(server.http(), json!({ "runtime": "demo", "workingDirectory": folder })).await
}

async fn allow_for_folder(session: &TestSession, request: &str) {
    let body: Value = serde_json::from_str(FOR_FOLDER).expect("JSON");
    let reply = session.post(&format!("/permission/{request}"), body).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
}

async fn rules(server: &Server) -> Vec<Value> {
    server.http().get("/api/folder-rules").await.json()["rules"].as_array().expect("a list").clone()
}

fn asked(log: &[(u64, Value)]) -> usize {
    callbacks(log).iter().filter(|name| *name == "onPermissionRequested").count()
}

#[tokio::test]
async fn what_is_allowed_for_a_folder_is_not_asked_there_again_and_what_waits_is_answered() {
    let server = Server::start().await;
    let folder = server.folder().join("project");
    let here = [session_in(&server, &folder).await, session_in(&server, &folder).await];
    let elsewhere = [session_in(&server, &folder.join("below")).await, session_in(&server, server.folder()).await];
    let mut requests = Vec::new();
    for session in here.iter().chain(&elsewhere) {
        requests.push(session.prompt_and_get_request("permission").await);
    }
    allow_for_folder(&here[0], &requests[0]).await;
    for session in &here {
        session.events_after(0).await.until_callback("onIdle").await;
        let log = session.log().await;
        let end = log.iter().find(|(_, response)| response["callback"] == "onEndToolExecution").expect("an end");
        assert!(end.1.get("result").is_some(), "{}", end.1);
    }
    let log = here[1].log().await;
    let answered = log.iter().find(|(_, response)| response["callback"] == "onPermissionAnswered").expect("an answer");
    assert_eq!((&answered.1["decision"], &answered.1["by"]), (&json!("allow-once"), &json!("rule")));
    let late = here[1].post(&format!("/permission/{}", requests[1]), json!({ "decision": "deny" })).await;
    assert_eq!(late.error(409), "AlreadyAnswered");
    for session in &elsewhere {
        assert_eq!(session.state().await, "waiting", "a folder above or below is another one");
    }
    let notices = here[0].log().await;
    let says =
        |text: &str| notices.iter().any(|(_, response)| response["message"].as_str().unwrap_or("").contains(text));
    assert!(says("every session in") && says("begin with \"echo\""), "{notices:?}");

    let server = server.kill_and_restart().await;
    let session = session_in(&server, &folder).await;
    assert_eq!(session.ask("permission").await["verdict"], "succeeded");
    assert_eq!(asked(&session.log().await), 0, "nobody was asked");
    let other = elsewhere[0].seen_by(server.http());
    assert_eq!(other.state().await, "waiting");
}

#[tokio::test]
async fn rules_of_folders_are_listed_and_removed_and_then_the_agent_asks_again() {
    let server = Server::start().await;
    let folder = server.folder().join("project");
    let session = session_in(&server, &folder).await;
    for round in 0..2 {
        let request = session.prompt_and_get_request("permission").await;
        let mut events =
            session.events_after(session.get("").await.json()["lastSeq"].as_u64().expect("a number")).await;
        allow_for_folder(&session, &request).await;
        events.until_callback("onIdle").await;
        let listed = rules(&server).await;
        assert_eq!(listed.len(), 1, "{listed:?}");
        let rule = &listed[0];
        assert_eq!(rule["folder"], json!(folder));
        assert_eq!(
            (&rule["tool"], &rule["decision"], &rule["prefix"]),
            (&json!("shell"), &json!("allow"), &json!("echo"))
        );
        assert!(rule["addedAt"].is_string() || rule["addedAt"].is_number(), "{rule}");
        let path = format!("/api/folder-rules/{}", rule["id"]);
        assert_eq!(server.http().delete(&path).await.status, 204, "{round}");
        assert_eq!(server.http().delete(&path).await.error(404), "FolderRuleNotFound");
        assert!(rules(&server).await.is_empty());
    }
    for id in ["0", "-1", "x", "99999999999999999999", "%2e%2e"] {
        assert_eq!(
            server.http().delete(&format!("/api/folder-rules/{id}")).await.error(404),
            "FolderRuleNotFound",
            "{id}"
        );
    }
    let server = server.kill_and_restart().await;
    assert!(rules(&server).await.is_empty());
    session.seen_by(server.http()).prompt_and_get_request("permission").await;
}

#[tokio::test]
async fn a_rule_of_a_folder_allows_nothing_that_is_denied() {
    let server = Server::start().await;
    let folder = server.folder().join("project");
    let session = session_in(&server, &folder).await;
    let request = session.prompt_and_get_request("permission").await;
    allow_for_folder(&session, &request).await;
    for mode in [json!("deny"), json!({ "mode": "ask", "rules": [{ "tool": "shell", "decision": "deny" }] })] {
        let body = json!({ "runtime": "demo", "workingDirectory": folder, "permissionMode": mode });
        let strict = TestSession::start_with(server.http(), body).await;
        strict.ask("permission").await;
        let log = strict.log().await;
        let end = log.iter().find(|(_, response)| response["callback"] == "onEndToolExecution").expect("an end");
        assert_eq!(end.1["error"]["code"], "denied", "{mode}");
    }
}

#[tokio::test]
async fn an_answer_for_a_folder_that_does_not_fit_is_refused_and_the_request_stays_open() {
    let server = Server::start().await;
    let session = server.session().await;
    let request = session.prompt_and_get_request("permission").await;
    for (body, error) in [
        (json!({ "decision": "allow-once", "scope": "folder" }), "InvalidJson"),
        (json!({ "decision": "deny", "scope": "folder" }), "InvalidJson"),
        (json!({ "decision": "allow-always", "scope": "everywhere" }), "InvalidJson"),
        (json!({ "decision": "allow-always", "scope": "folder" }), "NotForGood"),
    ] {
        assert_eq!(session.post(&format!("/permission/{request}"), body.clone()).await.error(400), error, "{body}");
    }
    assert_eq!(session.get("").await.json()["requests"][0]["requestId"], request);
    assert!(rules(&server).await.is_empty());
}

/// A rule that came while a request waited counts at the latest after a restart.
#[tokio::test]
async fn a_request_that_a_rule_allows_by_now_is_answered_at_startup() {
    let server = Server::start().await;
    let session = session_in(&server, &server.folder().join("project")).await;
    let request = session.prompt_and_get_request("permission").await;
    let rule = "[permissions]\nrules = [{ tool = \"shell\", decision = \"allow\" }]\n";
    let builder = server.builder_again().config(rule);
    let server = server.restart_as(builder).await;
    let session = session.seen_by(server.http());
    let mut events = session.events_after(0).await;
    events.until_callback("onPermissionAnswered").await;
    events.until_callback("onIdle").await;
    let late = session.post(&format!("/permission/{request}"), json!({ "decision": "deny" })).await;
    assert_eq!(late.error(409), "AlreadyAnswered");
    assert!(late.text().contains("by rule"), "{}", late.text());
}
