//! The folders that sessions work in: choosing one, and what changed in it.

mod changed_files;
mod changes;
mod hostile_repositories;
mod listing;
mod patches;
mod reverts;
mod turn_changes;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Reply, Server, TestSession};

/// git with settings of the test's own only. Gives what it wrote.
fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "init.defaultBranch=main"])
        .args(["-c", "protocol.file.allow=always"])
        .args(arguments)
        .current_dir(folder)
        .env("HOME", "/nonexistent")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .expect("git runs");
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A repository below the server's folder with some committed files.
fn repository(server: &Server, name: &str) -> PathBuf {
    let folder = server.folder().canonicalize().expect("there").join(name);
    std::fs::create_dir_all(folder.join("src")).expect("made");
    std::fs::write(folder.join("src/main.rs"), "fn main() {\n    one();\n    two();\n}\n").expect("written");
    std::fs::write(folder.join("README.md"), "# Read me\n").expect("written");
    git(&folder, &["init", "--quiet"]);
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "--quiet", "--message", "first"]);
    folder
}

async fn session_in(server: &Server, folder: &Path) -> TestSession {
    TestSession::start_with(server.http(), json!({ "runtime": "demo", "workingDirectory": folder })).await
}

async fn changes(session: &TestSession) -> Value {
    let reply = session.get("/changes").await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply.json()
}

/// Asks for the diff of one file.
async fn changed_file(session: &TestSession, path: &str) -> Reply {
    let query: String = form_urlencoded::Serializer::new(String::new()).append_pair("path", path).finish();
    session.get(&format!("/changes/file?{query}")).await
}

/// The changes in a scope, such as `scope=session`.
async fn changes_in(session: &TestSession, scope: &str) -> Value {
    let reply = session.get(&format!("/changes?{scope}")).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply.json()
}

/// Something below `/changes/` with parameters.
async fn get_with(session: &TestSession, what: &str, parameters: &[(&str, &str)]) -> Reply {
    let query: String = form_urlencoded::Serializer::new(String::new()).extend_pairs(parameters).finish();
    session.get(&format!("/changes/{what}?{query}")).await
}

/// The demo waits for an answer; when this returns, the snapshot of the turn's beginning has been taken.
async fn begin_turn(session: &TestSession) -> String {
    let request = session.prompt_and_get_request("permission").await;
    changes_in(session, "scope=session").await;
    request
}

/// The turn goes on and ends; when this returns, the snapshot of its end has been taken.
async fn end_turn(session: &TestSession, request: &str) {
    let from = session.log().await.last().map_or(0, |(seq, _)| *seq);
    session.post(&format!("/permission/{request}"), json!({ "decision": "allow-once" })).await;
    session.events_after(from).await.until_callback("onIdle").await;
    changes_in(session, "scope=session").await;
}

/// The listed files: path and status.
fn files(changes: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let list = changes["files"].as_array().expect("a list");
    list.iter().map(|file| (text(&file["path"]), text(&file["status"]))).collect()
}
