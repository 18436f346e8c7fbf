//! A server that `run` starts because none is running.

use std::path::Path;
use std::time::Duration;

use flightdeck::store::{DataFolder, ServerNote};
use serde_json::Value;

use super::turn;
use crate::support::{Server, ServerBuilder};

/// No test waits this long; it only bounds a failure.
const LONGEST: Duration = Duration::from_mins(1);

fn builder(config: &str) -> ServerBuilder {
    Server::builder().config(&format!("[server]\n{config}"))
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("work")).expect("a folder to work in");
    folder
}

/// Waits until the server has ended by itself.
async fn until_gone(data: &Path) {
    let data = data.to_owned();
    let gone = tokio::task::spawn_blocking(move || ServerNote::wait_until_gone(&data, LONGEST)).await;
    assert!(gone.expect("waited"), "the server does not end");
}

#[tokio::test]
async fn a_server_is_started_announced_used_again_and_stopped() {
    let (folder, builder) = (folder(), builder("port = 0\nidle_stop = \"1m\""));
    let run = |arguments: Vec<&'static str>| {
        let (builder, folder) = (builder.clone(), folder.path().to_owned());
        async move { builder.run(&folder, &arguments).await }
    };
    let before = run(vec!["status"]).await;
    assert_eq!((before.code, before.stderr.as_str()), (Some(1), ""));
    assert!(before.stdout.contains("No server is running"), "{}", before.stdout);
    let first = run(turn(&["hello"])).await;
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    assert!(first.stderr.contains("Started a server in the background at http://localhost:"), "{}", first.stderr);
    assert!(first.stderr.contains("ends after 1m"), "{}", first.stderr);
    assert!(!first.stdout.contains("Started"), "{}", first.stdout);
    assert!(folder.path().join("data/server.log").is_file());
    let second = run(turn(&["hello"])).await;
    assert_eq!(second.code, Some(0), "{}", second.stderr);
    assert!(!second.stderr.contains("Started a server"), "{}", second.stderr);
    let status: Value = serde_json::from_str(&run(vec!["status", "--json"]).await.stdout).expect("JSON");
    assert_eq!((&status["running"], &status["sessions"]["ready"]), (&Value::Bool(true), &Value::from(2)), "{status}");
    assert_eq!(run(vec!["stop"]).await.code, Some(0));
}

#[tokio::test]
async fn another_port_is_taken_if_the_configured_one_is_in_use() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("bound");
    let port = taken.local_addr().expect("an address").port();
    let (folder, builder) = (folder(), builder(&format!("port = {port}\nidle_stop = \"1m\"")));
    let ended = builder.run(folder.path(), &turn(&["hello"])).await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains(&format!("Port {port} is taken, so it uses ")), "{}", ended.stderr);
    assert_eq!(builder.run(folder.path(), &["stop"]).await.code, Some(0));
}

#[tokio::test]
async fn a_server_that_cannot_start_says_why() {
    let folder = folder();
    std::fs::create_dir(folder.path().join("data")).expect("made");
    std::fs::write(folder.path().join("data").join(DataFolder::DATABASE), "not a database, but long enough".repeat(40))
        .expect("written");
    let ended = builder("port = 0").run(folder.path(), &turn(&["hello"])).await;
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""), "{}", ended.stderr);
    for word in ["none could be started", "flightdeck.db", "server.log"] {
        assert!(ended.stderr.contains(word), "{word}: {}", ended.stderr);
    }
}

#[tokio::test]
async fn an_idle_server_ends_but_never_during_work() {
    let (folder, builder) = (folder(), builder("port = 0\nidle_stop = \"3s\""));
    // Longer than the idle time, with nobody connected.
    let ended = builder.run(folder.path(), &turn(&["--detach", "many 500 100 10"])).await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    until_gone(&folder.path().join("data")).await;
    let log = std::fs::read_to_string(folder.path().join("data/server.log")).expect("a log");
    assert!(log.contains("nobody has needed this server"), "{log}");
    let server = builder.start_in(folder).await;
    let log = server.http().get("/api/copilot/session/session-1/log?limit=1000").await.json();
    let text = log.to_string();
    assert!(text.contains("onIdle") && !text.contains("interrupted"), "the turn was cut off: {text}");
}

#[tokio::test]
async fn two_commands_at_the_same_moment_share_one_server() {
    let (folder, builder) = (folder(), builder("port = 0\nidle_stop = \"1m\""));
    let (arguments, path) = (turn(&["hello"]), folder.path());
    let (one, two) = tokio::join!(builder.run(path, &arguments), builder.run(path, &arguments));
    assert_eq!((one.code, two.code), (Some(0), Some(0)), "{}\n{}", one.stderr, two.stderr);
    let listed = builder.run(folder.path(), &["sessions", "-q"]).await;
    assert_eq!(listed.stdout.lines().count(), 2, "{}", listed.stdout);
    assert_eq!(builder.run(folder.path(), &["stop"]).await.code, Some(0));
}
