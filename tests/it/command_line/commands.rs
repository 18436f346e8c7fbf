//! `stop`, `open`, `--help` and what goes wrong with them.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{Ended, Server};

/// The command failed with one sentence that says all of this.
fn check_failed(ended: &Ended, words: &[&str]) {
    assert!(!ended.success);
    assert_eq!(ended.stdout, "");
    for word in words {
        assert!(ended.stderr.contains(word), "{word}: {}", ended.stderr);
    }
    assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
}

/// Where no browser can be started, the link is printed once and nothing else has it.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn without_a_browser_the_link_is_printed_and_the_error_is_for_people() {
    let server = Server::start().await;
    let programs = tempfile::tempdir().expect("a folder");
    // Without any launcher, and with one that finds no browser, as on a machine without a screen.
    for launcher in [None, Some("#!/bin/sh\nexit 3\n")] {
        if let Some(script) = launcher {
            let path = programs.path().join("xdg-open");
            std::fs::write(&path, script).expect("written");
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("allowed");
        }
        let mut command = server.builder_again().command(server.folder());
        let output = command.arg("open").env("PATH", programs.path()).output().await.expect("started");
        let (printed, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(printed.matches("/login?code=").count(), 1, "{printed}");
        assert_eq!(said, "flightdeck: could not start a browser; open the link above yourself\n", "{launcher:?}");
    }
}

#[tokio::test]
async fn stop_ends_the_server_waits_until_it_is_gone_and_says_so() {
    let mut server = Server::start().await;
    let process = server.process_id().to_string();
    let session = server.session().await;
    session.prompt("many 1000000 200 10").await;
    let ended = server.run(&["stop"]).await;
    assert!(ended.success, "{}", ended.stderr);
    for word in [server.url.as_str(), &process, "has stopped"] {
        assert!(ended.stdout.contains(word), "{}", ended.stdout);
    }
    assert!(server.ended().await, "it ended well");
    let again = server.run(&["stop"]).await;
    check_failed(&again, &["no server is running", server.data().to_str().expect("UTF-8")]);
    let server = server.start_again().await;
    assert_eq!(session.seen_by(server.http()).state().await, "ready");
}

#[tokio::test]
async fn stop_and_open_fail_with_a_sentence_when_no_server_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    for arguments in [&["stop"][..], &["open"], &["open", "--print"], &["stop", "--json"]] {
        let ended = Server::builder().run(folder.path(), arguments).await;
        check_failed(&ended, &["no server is running", "data"]);
    }
    assert!(!folder.path().join("data").exists(), "asking makes nothing");

    let mut server = Server::start().await;
    server.kill().await;
    assert!(server.data().join("server.json").exists());
    check_failed(&server.run(&["stop"]).await, &["no server is running"]);
    check_failed(&server.run(&["open", "--print"]).await, &["no server is running"]);
}

#[tokio::test]
async fn open_prints_a_link_that_logs_in_once() {
    let server = Server::start().await;
    for arguments in [&["open", "--print"][..], &["open", "--json"]] {
        let ended = server.run(arguments).await;
        assert!(ended.success, "{}", ended.stderr);
        let link = match serde_json::from_str::<Value>(&ended.stdout) {
            Ok(json) => json["loginUrl"].as_str().expect("a link").to_owned(),
            Err(_) => ended.stdout.trim().to_owned(),
        };
        let path = link.strip_prefix(&server.url).expect("a link to this server");
        let form = path.replace("/login?", "");
        let reply = server.stranger().post("/login", form.clone()).await;
        assert_eq!(reply.status, 200, "{path}");
        let cookie = reply.header("set-cookie").split(';').next().expect("a cookie").to_owned();
        let secret = reply.json()["secret"].as_str().expect("a secret").to_owned();
        let page = server.stranger().header("cookie", &cookie).header("flightdeck-secret", &secret);
        assert_eq!(page.get("/api/test").await.status, 200);
        assert_eq!(server.stranger().post("/login", form).await.status, 401);
    }
}

#[tokio::test]
async fn stop_in_json_says_what_was_stopped() {
    let mut server = Server::start().await;
    let process = server.process_id();
    let ended = server.run(&["stop", "--json"]).await;
    let said: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    assert_eq!(said, json!({ "stopped": { "url": server.url, "pid": process } }));
    assert!(server.ended().await);
}

#[tokio::test]
async fn help_names_the_commands_and_flags() {
    let folder = tempfile::tempdir().expect("a folder");
    for arguments in [&["--help"][..], &["-h"], &["help"]] {
        let ended = Server::builder().run(folder.path(), arguments).await;
        assert!(ended.success);
        let flags = ["--port", "--bind", "--data-dir", "--auth", "--behind-proxy", "--json"];
        for word in ["serve", "open", "stop", "config"].iter().chain(&flags) {
            assert!(ended.stdout.contains(word), "{arguments:?} {word}: {}", ended.stdout);
        }
    }
    for arguments in [["--version"], ["-V"], ["-v"], ["version"]] {
        let version = Server::builder().run(folder.path(), &arguments).await;
        assert_eq!(version.stdout.trim(), format!("flightdeck {}", env!("CARGO_PKG_VERSION")), "{arguments:?}");
    }
}

#[tokio::test]
async fn a_command_or_flag_that_does_not_exist_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    for (arguments, word) in [
        (&["stpo"][..], "did you mean 'stop'"),
        (&["--prot", "1"], "--prot"),
        (&["stop", "now"], "now"),
        (&["stop", "--port", "1"], "--port"),
        (&["--port", "1", "stop"], "flags of `serve`"),
        (&["-p", "1", "stop"], "flags of `serve`"),
        (&["--auth", "some"], "token, none"),
    ] {
        let ended = Server::builder().run(folder.path(), arguments).await;
        assert!(!ended.success, "{arguments:?}");
        assert!(ended.stderr.contains("error:") && ended.stderr.contains(word), "{}", ended.stderr);
    }
    assert!(!folder.path().join("data").exists());
}

/// As `flightdeck config | head -1`, when `head` is done first.
#[tokio::test]
async fn a_reader_that_has_seen_enough_is_no_error() {
    let folder = tempfile::tempdir().expect("a folder");
    for arguments in [&["config"][..], &["config", "--json"]] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut command = Server::builder().command(folder.path());
        let output = command.args(arguments).stdout(Stdio::from(writer)).output().await.expect("started");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    }
}
