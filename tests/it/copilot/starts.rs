//! Programs that do not become a server: too old, another protocol, silent.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::support::{CopilotServer, Program, Server, TestSession, send_signal};

/// Answers the first call with a version of the protocol that nobody knows. It speaks no ACP, and says so at once.
const OTHER_PROTOCOL: &str = r#"
case "$*" in *--acp*) exit 1 ;; esac
read header
read empty
length=$(printf '%s' "$header" | tr -cd '0-9')
body=$(head -c "$length")
id=$(printf '%s' "$body" | sed 's/.*"id":\([0-9]*\).*/\1/')
reply="{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"ok\":true,\"protocolVersion\":1,\"version\":\"0.0.1\"}}"
printf 'Content-Length: %s\r\n\r\n%s' "${#reply}" "$reply"
cat > /dev/null
"#;

/// Long enough for every program that says something.
const ENOUGH: &str = "20s";

fn program(folder: &Path, script: &str) -> PathBuf {
    let path = folder.join("copilot");
    // Asked for its version it says one, so that messages can name it.
    let text = format!("#!/bin/sh\n[ \"$1\" = --version ] && echo 0.0.1 && exit\n{script}\n");
    std::fs::write(&path, text).expect("written");
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("set");
    path
}

/// What a session, the list of runtimes, doctor and the log say of a program.
async fn check(script: &str, hello_within: &str, words: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut server = Server::builder()
        .variable("COPILOT_CLI_PATH", program(folder.path(), script).to_str().expect("UTF-8"))
        .config(&format!("[recovery]\nattempts = 0\n[agents.copilot]\nhello_within = {hello_within:?}"))
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
    check(script, ENOUGH, &["0.0.1", "too old", "--headless", "agents install copilot"]).await;
}

#[tokio::test]
async fn another_version_of_the_protocol_is_named_with_the_fix() {
    check(OTHER_PROTOCOL, ENOUGH, &["protocol", "agents install copilot"]).await;
}

#[tokio::test]
async fn a_program_that_hangs_at_its_start_is_given_up() {
    check("cat > /dev/null", "1s", &["did not respond within 1s", "hello_within"]).await;
}

#[tokio::test]
async fn a_version_that_is_locked_out_is_not_used_unless_it_is_trusted() {
    let mut copilot = CopilotServer::start(Program::Cli).await;
    assert!(copilot.server.stop().await);
    let locked = json!({ "copilot 1.0.102": "it wrote a file that it was denied" });
    std::fs::write(copilot.server.data().join("quarantine.json"), locked.to_string()).expect("written");
    let CopilotServer { server, model } = copilot;
    let mut server = server.start_again().await;
    let session =
        TestSession::start_with(server.http(), json!({ "runtime": "copilot", "model": "scripted-model" })).await;
    assert_eq!(session.ask("@@plain").await["verdict"], "failed");
    let log = session.get("/log").await.text().to_owned();
    assert!(log.contains("quarantined") && log.contains("agents.trusted_versions"), "{log}");
    let runtimes = server.http().get("/api/runtimes").await.json();
    assert_eq!(runtimes["runtimes"][0]["ready"], false, "{runtimes}");
    let doctor = server.run(&["doctor"]).await;
    assert!(!doctor.success && doctor.stdout.contains("copilot: quarantine"), "{}", doctor.stdout);
    assert!(server.stop().await);
    let trusting = server.builder_again().config("[agents]\ntrusted_versions = [\"copilot 1.0.102\"]");
    let server = server.start_again_as(trusting).await;
    assert_eq!(session.seen_by(server.http()).ask("@@plain").await["verdict"], "succeeded");
    drop(model);
}

#[tokio::test]
async fn a_program_that_stands_still_is_replaced_when_its_turn_is_interrupted() {
    let config = "[sessions]\ninterrupt_grace = \"1ms\"\n[agents.copilot]\nhello_within = \"20s\"";
    let copilot = CopilotServer::start_with(Program::Runtime, config).await;
    let session = copilot.session("ask").await;
    session.prompt("@@slow 1000").await;
    session.events_after(0).await.until(|event| event.data.contains("tick3")).await;
    send_signal("STOP", copilot.program());
    session.post("/interrupt", json!({})).await;
    let mut stream = session.events_after(0).await;
    stream.until_callback("onIdle").await;
    assert_eq!(session.ask("@@plain").await["verdict"], "succeeded", "the next prompt has a program that works");
}
