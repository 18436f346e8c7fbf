//! Models that fail, programs that are not there.

use serde_json::json;

use crate::support::{CopilotServer, Program, Server, byok};

#[tokio::test]
async fn a_models_error_fails_the_turn_and_the_session_goes_on() {
    let copilot = CopilotServer::start(Program::Cli).await;
    // At once, because Copilot itself tries some of them again and again before it gives up.
    let checks = [400, 401, 429, 500].map(async |status| {
        let session = copilot.session("ask").await;
        assert_eq!(session.ask(&format!("@@error {status}")).await["verdict"], "failed");
        let log = session.log().await;
        assert!(log.iter().any(|(_, response)| response["sessionError"].is_string()), "{status} {log:?}");
        let told = log.iter().filter(|(_, response)| response["kind"] == "retrying");
        let told: Vec<&str> = told.filter_map(|(_, response)| response["message"].as_str()).collect();
        let (cause, count) = match status {
            401 => ("The model provider rejected the credentials (HTTP 401).", 2),
            429 => ("The model provider limits the number of requests (HTTP 429).", 5),
            500 => ("The model provider failed (HTTP 500).", 5),
            _ => ("", 0),
        };
        let expected = [format!("{cause} Retrying …"), format!("{cause} Retried {count} times.")];
        assert_eq!(told, if count == 0 { &[][..] } else { &expected }, "{status}");
        assert_eq!(session.ask("@@plain").await["verdict"], "succeeded");
    });
    futures_util::future::join_all(checks).await;
}

#[tokio::test]
async fn a_broken_stream_is_tried_again_and_no_block_is_left_open() {
    let copilot = CopilotServer::start(Program::Runtime).await;
    let session = copilot.session("ask").await;
    let outcome = session.ask("@@midfail").await;
    assert_eq!(outcome["verdict"], "succeeded", "{outcome}");
    assert_eq!(outcome["text"], "Recovered after a broken stream.", "what was given up is no part of the answer");
    let names = crate::support::callbacks(&session.log().await);
    let count = |name: &str| names.iter().filter(|callback| *callback == name).count();
    assert_eq!(count("onStartMessage"), count("onEndMessage"), "{names:?}");
}

#[tokio::test]
async fn without_the_program_the_server_works_and_says_what_to_do() {
    let server = Server::builder().variable("COPILOT_CLI_PATH", "/no/such/copilot").start().await;
    let runtimes = server.http().get("/api/runtimes").await.json();
    let copilot = &runtimes["runtimes"][0];
    assert_eq!((&copilot["name"], &copilot["ready"]), (&json!("copilot"), &json!(false)));
    assert!(copilot["hint"].as_str().expect("a hint").contains("/no/such/copilot"), "{copilot}");
    let session = server.http().post_json("/api/copilot/session", &json!({ "runtime": "copilot" })).await.json();
    let id = session["sessionId"].as_str().expect("an id").to_owned();
    let prompt = json!({ "text": "hello", "wait": true });
    let outcome = server.http().post_json(&format!("/api/copilot/session/{id}/prompt"), &prompt).await.json();
    assert_eq!(outcome["verdict"], "failed");
    assert_eq!(server.session().await.ask("hello").await["verdict"], "succeeded", "the demo goes on");
}

#[tokio::test]
async fn a_program_that_prints_rubbish_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("copilot");
    std::fs::write(&program, "#!/bin/sh\necho 'Welcome to something else'\nread line\n").expect("written");
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("set");
    let server = Server::builder()
        .variable("COPILOT_CLI_PATH", program.to_str().expect("UTF-8"))
        .config("[recovery]\nattempts = 1\nfirst_delay = \"1ms\"")
        .start()
        .await;
    let session = server.http().post_json("/api/copilot/session", &json!({ "runtime": "copilot" })).await.json();
    let id = session["sessionId"].as_str().expect("an id").to_owned();
    let prompt = json!({ "text": "hello", "wait": true });
    let outcome = server.http().post_json(&format!("/api/copilot/session/{id}/prompt"), &prompt).await.json();
    assert_eq!(outcome["verdict"], "failed");
    let log = server.http().get(&format!("/api/copilot/session/{id}/log")).await.text().to_owned();
    assert!(log.contains("Welcome to something else"), "{log}");
}

#[tokio::test]
async fn without_a_login_the_model_list_says_how_to_log_in() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("work")).expect("a folder to work in");
    let builder = byok(Program::Runtime, "", folder.path());
    let server = builder.start_in(folder).await;
    let runtimes = server.http().get("/api/runtimes").await.json();
    let hint = runtimes["runtimes"][0]["hint"].as_str().expect("a hint").to_owned();
    assert!(hint.contains("logged in") && hint.contains("COPILOT_PROVIDER_BASE_URL"), "{hint}");
    let models = server.http().get("/api/copilot/models").await.json();
    assert_eq!(models["models"][0]["id"], "demo", "never an empty list");
}
