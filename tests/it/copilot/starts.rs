//! Programs that do not become a server: too old, another protocol, silent.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::support::{Server, TestSession};

/// Answers the first call with a version of the protocol that nobody knows.
const OTHER_PROTOCOL: &str = r#"
read header
read empty
length=$(printf '%s' "$header" | tr -cd '0-9')
body=$(head -c "$length")
id=$(printf '%s' "$body" | sed 's/.*"id":\([0-9]*\).*/\1/')
reply="{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"ok\":true,\"protocolVersion\":1,\"version\":\"0.0.1\"}}"
printf 'Content-Length: %s\r\n\r\n%s' "${#reply}" "$reply"
cat > /dev/null
"#;

fn program(folder: &Path, script: &str) -> PathBuf {
    let path = folder.join("copilot");
    // Asked for its version it says one, so that messages can name it.
    let text = format!("#!/bin/sh\n[ \"$1\" = --version ] && echo 0.0.1 && exit\n{script}\n");
    std::fs::write(&path, text).expect("written");
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("set");
    path
}

/// What a session, the list of runtimes, doctor and the log say of a program.
async fn check(script: &str, words: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut server = Server::builder()
        .variable("COPILOT_CLI_PATH", program(folder.path(), script).to_str().expect("UTF-8"))
        .config("[recovery]\nattempts = 0\n[agents.copilot]\nhello_within = \"1s\"")
        .start()
        .await;
    let session = TestSession::start_with(server.http(), json!({ "runtime": "copilot" })).await;
    assert_eq!(session.ask("hello").await["verdict"], "failed");
    let log = session.get("/log").await.text().to_owned();
    let runtimes = server.http().get("/api/runtimes").await.text().to_owned();
    let doctor = server.run(&["doctor"]).await;
    assert!(!doctor.success, "{}", doctor.stdout);
    assert_eq!(server.session().await.ask("hello").await["verdict"], "succeeded", "the others go on");
    assert!(server.stop().await);
    let logged = server.stderr().await;
    for (place, text) in [("session", &log), ("runtimes", &runtimes), ("doctor", &doctor.stdout), ("log", &logged)] {
        for word in words {
            assert!(text.contains(word), "{place} does not say {word:?}: {text}");
        }
    }
}

#[tokio::test]
async fn a_program_that_is_too_old_is_named_with_the_fix() {
    let script = "echo \"error: unknown option '--headless'\" >&2; exit 1";
    check(script, &["0.0.1", "too old", "--headless", "agents install copilot"]).await;
}

#[tokio::test]
async fn another_version_of_the_protocol_is_named_with_the_fix() {
    check(OTHER_PROTOCOL, &["protocol", "agents install copilot"]).await;
}

#[tokio::test]
async fn a_program_that_hangs_at_its_start_is_given_up() {
    check("cat > /dev/null", &["did not answer within 1s", "hello_within"]).await;
}
