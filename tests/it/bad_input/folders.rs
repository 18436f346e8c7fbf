//! Working directories, models and runtimes that are refused.

use serde_json::{Value, json};

use super::check_healthy_with_sessions;
use crate::support::Server;

/// Both ways to start a session give that error, the portal's with 200 and ours with `status`.
async fn check_start(server: &Server, model: &str, folder: &str, status: u16, error: &str) {
    let path = format!("/api/copilot/session/start/{model}");
    for reply in [
        server.http().post(&path, folder.to_owned()).await,
        // As curl sends it, and with the newline of a shell's echo.
        server
            .http()
            .header("content-type", "application/x-www-form-urlencoded")
            .post(&path, format!("{folder}\n"))
            .await,
    ] {
        assert_eq!(reply.status, 200);
        assert_eq!(reply.json(), json!({ "error": error }), "{model} {folder}");
    }
    let body = json!({ "model": model, "workingDirectory": folder });
    let reply = server.http().post_json("/api/copilot/session", &body).await;
    assert_eq!(reply.error(status), error, "{model} {folder}");
}

#[tokio::test]
async fn folders_that_are_relative_missing_or_files_are_refused_by_name() {
    let server = Server::start().await;
    let work = server.work();
    std::fs::write(work.join("file"), "").expect("written");
    std::os::unix::fs::symlink(work.join("nowhere"), work.join("dangling")).expect("linked");
    std::os::unix::fs::symlink("circle", work.join("circle")).expect("linked");
    let below = |name: &str| work.join(name).to_str().expect("UTF-8").to_owned();
    for relative in [".", "..", "work", "./work", "~", "~/work", "C:\\Code", "file:///", "\0"] {
        check_start(&server, "demo", relative, 400, "WorkingDirectoryNotAbsolutePath").await;
    }
    let long = format!("/{}", "a".repeat(5_000));
    for missing in ["missing", "file", "file/below", "dangling", "circle", "missing\0", "missing "].map(below) {
        check_start(&server, "demo", &missing, 400, "WorkingDirectoryNotExists").await;
    }
    check_start(&server, "demo", &long, 400, "WorkingDirectoryNotExists").await;
    check_healthy_with_sessions(&server, 0).await;
}

#[tokio::test]
async fn an_unknown_model_is_told_before_anything_is_said_about_the_folder() {
    let server = Server::start().await;
    let missing = server.work().join("missing").to_str().expect("UTF-8").to_owned();
    for folder in ["relative", &missing, server.work().to_str().expect("UTF-8"), ""] {
        for model in ["no-such-model", "demo/no-such-model", "DEMO", "demo/", "nobody/demo", "demo/demo/demo", "%20"] {
            let path = format!("/api/copilot/session/start/{model}");
            let reply = server.http().post(&path, folder.to_owned()).await;
            assert_eq!((reply.status.as_u16(), reply.json()), (200, json!({ "error": "ModelIdNotFound" })), "{model}");
        }
        let reply =
            server.http().post_json("/api/copilot/session", &json!({ "model": "x", "workingDirectory": folder })).await;
        assert_eq!(reply.error(400), "ModelIdNotFound");
        assert!(reply.text().contains("demo-slow"), "it says what there is: {}", reply.text());
    }
    check_start(&server, "demo", "relative", 400, "WorkingDirectoryNotAbsolutePath").await;
    check_healthy_with_sessions(&server, 0).await;
}

#[tokio::test]
async fn an_unknown_runtime_is_refused_with_those_that_there_are() {
    let server = Server::start().await;
    for runtime in ["copilot-of-nobody", "Demo", "demo ", "../demo"] {
        let reply = server.http().post_json("/api/copilot/session", &json!({ "runtime": runtime })).await;
        assert_eq!(reply.error(400), "RuntimeNotFound", "{runtime}");
        assert!(reply.text().contains("demo"), "{}", reply.text());
    }
    check_healthy_with_sessions(&server, 0).await;
}

#[tokio::test]
async fn a_projects_file_that_cannot_be_read_is_named_and_no_session_is_made() {
    let server = Server::start().await;
    let file = server.work().join(".flightdeck.toml");
    for (text, word) in [("sessions = {", "not valid TOML"), ("[sessions]\nmodle = \"x\"", "sessions.model")] {
        std::fs::write(&file, text).expect("written");
        let reply =
            server.http().post_json("/api/copilot/session", &json!({ "workingDirectory": server.work() })).await;
        assert_eq!(reply.error(400), "ProjectConfigurationInvalid");
        let message: Value = reply.json()["message"].clone();
        let message = message.as_str().expect("text");
        assert!(message.contains(word) && message.contains(".flightdeck.toml"), "{message}");
    }
    check_healthy_with_sessions(&server, 0).await;
}

#[tokio::test]
async fn whitespace_around_the_portals_working_directory_is_ignored() {
    let server = Server::start().await;
    let work = server.work().display().to_string();
    for body in [format!(" {work} "), format!("\t{work}\r\n\n"), format!("{work} \n")] {
        let reply = server.http().post("/api/copilot/session/start/demo", body.clone()).await.json();
        let id = reply["sessionId"].as_str().unwrap_or_else(|| panic!("{body:?}: {reply}")).to_owned();
        let details = server.http().get(&format!("/api/copilot/session/{id}")).await.json();
        assert_eq!(details["workingDirectory"], json!(work));
    }
    let reply = server.http().post_json("/api/copilot/session", &json!({ "workingDirectory": " /" })).await;
    assert_eq!(reply.error(400), "WorkingDirectoryNotAbsolutePath", "JSON says exactly what is meant");
}
