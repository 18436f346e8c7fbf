//! Which runtime, model and effort a session gets, step by step from its own choice down to what there is.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Reply, Server, ServerBuilder, TestSession};

/// A folder with a project's file that says this.
fn project(server: &Server, name: &str, text: &str) -> PathBuf {
    let folder = server.folder().join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    if !text.is_empty() {
        std::fs::write(folder.join(".flightdeck.toml"), text).expect("written");
    }
    folder
}

async fn create(server: &Server, folder: &Path, mut body: Value) -> Reply {
    body["workingDirectory"] = json!(folder);
    server.http().post_json("/api/copilot/session", &body).await
}

/// What a session gets, as "runtime model effort".
async fn gets(server: &Server, folder: &Path, body: Value) -> String {
    let reply = create(server, folder, body).await;
    assert_eq!(reply.status, 201, "{}", reply.text());
    let json = reply.json();
    let text = |name: &str| json[name].as_str().unwrap_or("-").to_owned();
    format!("{} {} {}", text("runtime"), text("model"), text("effort"))
}

fn user() -> ServerBuilder {
    Server::builder().config("[sessions]\nruntime = \"demo\"\nmodel = \"demo-slow\"\neffort = \"low\"")
}

#[tokio::test]
async fn the_sessions_own_choice_then_the_projects_then_the_users_then_what_there_is() {
    let server = user().start().await;
    let plain = project(&server, "plain", "");
    let some = project(&server, "some", "[sessions]\nmodel = \"demo\"\neffort = \"high\"");
    let empty = project(&server, "empty", "[sessions]\nruntime = \"\"\nmodel = \"\"\neffort = \"\"");
    assert_eq!(gets(&server, &plain, json!({})).await, "demo demo-slow low", "the user's");
    assert_eq!(gets(&server, &some, json!({})).await, "demo demo high", "the project's");
    assert_eq!(gets(&server, &empty, json!({})).await, "demo demo-slow low", "empty is no choice");
    let own = json!({ "model": "demo-slow", "effort": "max" });
    assert_eq!(gets(&server, &some, own).await, "demo demo-slow max", "the session's own");
    let unset = json!({ "runtime": "", "model": "", "effort": "" });
    assert_eq!(gets(&server, &some, unset).await, "demo demo high", "empty is no choice here either");
    let bare = Server::start().await;
    assert_eq!(gets(&bare, &bare.work(), json!({})).await, "demo demo -", "nobody chose anything");
}

#[tokio::test]
async fn whoever_starts_the_server_has_the_last_word_over_projects() {
    let server = user().variable("FLIGHTDECK_SESSIONS_MODEL", "demo-slow").start().await;
    let folder = project(&server, "some", "[sessions]\nmodel = \"demo\"\neffort = \"high\"");
    assert_eq!(gets(&server, &folder, json!({})).await, "demo demo-slow high");
    let server = user().variable("FLIGHTDECK_SESSIONS_MODEL", "").start().await;
    let folder = project(&server, "some", "[sessions]\nmodel = \"demo\"");
    assert_eq!(gets(&server, &folder, json!({})).await, "demo demo low", "an empty variable says nothing");
}

#[tokio::test]
async fn the_project_that_the_server_was_started_in_says_nothing_about_others() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("work")).expect("a folder to work in");
    std::fs::write(folder.path().join(".flightdeck.toml"), "[sessions]\nmodel = \"demo-slow\"").expect("written");
    let elsewhere = tempfile::tempdir().expect("another folder");
    let server = Server::builder().config("[sessions]\nruntime = \"demo\"").start_in(folder).await;
    assert_eq!(gets(&server, &server.work(), json!({})).await, "demo demo-slow -");
    assert_eq!(gets(&server, elsewhere.path(), json!({})).await, "demo demo -");
    let without = TestSession::start_with(server.http(), json!({})).await;
    assert_eq!(without.get("").await.json()["model"], "demo-slow", "without a folder it is the server's project");
    let config = server.http().get("/api/config").await.json();
    assert_eq!(config["defaultModel"], "demo-slow");
}

#[tokio::test]
async fn a_model_that_was_meant_for_another_runtime_does_not_follow() {
    let server = Server::builder().config("[sessions]\nruntime = \"copilot\"\nmodel = \"gpt-5.2\"").start().await;
    let folder = project(&server, "some", "[sessions]\nruntime = \"demo\"");
    assert_eq!(gets(&server, &folder, json!({})).await, "demo demo -");
    assert_eq!(gets(&server, &server.work(), json!({ "runtime": "demo" })).await, "demo demo -");
    assert_eq!(gets(&server, &server.work(), json!({ "runtime": "copilot" })).await, "copilot gpt-5.2 -");
}

#[tokio::test]
async fn a_runtime_that_does_not_exist_fails_before_anything_is_written_and_names_those_that_do() {
    let server = Server::start().await;
    let folder = project(&server, "some", "[sessions]\nruntime = \"gemini\"\nmodel = \"m\"");
    for (folder, body) in [
        (server.work(), json!({ "runtime": "gemini" })),
        (server.work(), json!({ "runtime": "gemini", "model": "m" })),
        (folder.clone(), json!({})),
        (folder.clone(), json!({ "model": "demo" })),
    ] {
        let reply = create(&server, &folder, body.clone()).await;
        assert_eq!(reply.error(400), "RuntimeNotFound", "{body}");
        let message = reply.json()["message"].as_str().expect("a sentence").to_owned();
        assert!(["gemini", "copilot", "demo"].iter().all(|word| message.contains(word)), "{message}");
    }
    assert_eq!(server.http().get("/api/copilot/session").await.json()["sessions"], json!([]));
    assert_eq!(gets(&server, &folder, json!({ "model": "demo/demo" })).await, "demo demo -", "its id chooses one");
}

#[tokio::test]
async fn a_model_of_another_agents_kind_is_a_warning_with_the_fix() {
    let server = Server::start().await;
    let reply = create(&server, &server.work(), json!({ "runtime": "copilot", "model": "sonnet" })).await;
    assert_eq!(reply.status, 201, "{}", reply.text());
    let warnings = reply.json()["warnings"].clone();
    let warning = warnings[0].as_str().expect("a warning").to_owned();
    assert!(["sonnet", "copilot", "claude-sonnet-4.5"].iter().all(|word| warning.contains(word)), "{warning}");
    let id = reply.json()["sessionId"].as_str().expect("an id").to_owned();
    let session = TestSession { http: server.http(), id };
    session.prompt("hello").await;
    session.prompt("hello again").await;
    let notices =
        |log: &[(u64, Value)]| log.iter().filter(|(_, response)| response["message"] == json!(warning)).count();
    assert_eq!(notices(&session.log().await), 1, "with the first prompt, and once");
    let fitting = create(&server, &server.work(), json!({ "runtime": "copilot", "model": "claude-sonnet-4.5" })).await;
    assert_eq!(fitting.json()["warnings"], json!([]));
    let own = json!({
        "runtime": "copilot", "model": "sonnet",
        "options": { "provider": { "type": "openai", "baseUrl": "http://localhost:1/v1" } },
    });
    let own = create(&server, &server.work(), own).await;
    assert_eq!(own.json()["warnings"], json!([]), "a provider of one's own may call its models anything");
    let changed = session.http.patch_json(&session.path(""), &json!({ "model": "opus" })).await;
    assert!(changed.json()["warnings"][0].as_str().is_some_and(|text| text.contains("opus")), "{}", changed.text());
    let log = session.log().await;
    assert!(log.iter().any(|(_, response)| response["kind"] == "warning" && response.to_string().contains("opus")));
}

#[tokio::test]
async fn options_of_a_new_session_are_checked_before_anything_is_written() {
    let server = Server::start().await;
    for (options, words) in [
        (json!({ "provider": { "type": "openai" } }), ["options.provider", "baseUrl is missing"]),
        (json!({ "provider": 7 }), ["options.provider", "got a number"]),
        (json!({ "mcpServers": { "files": { "args": ["x"] } } }), ["options.mcpServers.files", "command is missing"]),
        (json!({ "mcpServers": { "files": { "command": "f", "arg": [] } } }), ["\"arg\"", "args"]),
    ] {
        let body = json!({ "runtime": "demo", "options": options });
        let reply = server.http().post_json("/api/copilot/session", &body).await;
        assert_eq!(reply.error(400), "InvalidOptions", "{}", reply.text());
        let message = reply.json()["message"].as_str().expect("a sentence").to_owned();
        assert!(words.iter().all(|word| message.contains(word)), "{message}");
    }
    let listed = server.http().get("/api/copilot/session").await.json();
    assert_eq!(listed["sessions"], json!([]), "{listed}");
}
