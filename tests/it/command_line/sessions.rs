//! `flightdeck sessions`, `status`, and what a mistyped command suggests.

use serde_json::Value;

use crate::support::{Server, eventually};

#[tokio::test]
async fn sessions_are_listed_shown_and_changed() {
    let server = Server::start().await;
    let none = server.run(&["sessions"]).await;
    assert_eq!(none.code, Some(0));
    assert!(none.stderr.contains("flightdeck run PROMPT"), "{}", none.stderr);
    let session = server.session().await;
    session.ask("hello").await;
    server.session().await;
    let renamed = server.run(&["sessions", "rename", "1", "Fix", "the", "build"]).await;
    assert_eq!(renamed.stdout, "session-1 is now called Fix the build.\n", "{}", renamed.stderr);
    let listed = server.run(&["sessions", "list"]).await;
    let lines: Vec<&str> = listed.stdout.lines().collect();
    assert!(lines[0].starts_with("ID  STATE"), "{}", listed.stdout);
    assert!(lines[1].starts_with("2   ready") && lines[2].starts_with("1   ready"), "{}", listed.stdout);
    assert!(lines[2].ends_with("Fix the build"), "{}", listed.stdout);
    assert_eq!(server.run(&["sessions", "-q"]).await.stdout, "session-2\nsession-1\n");
    let shown = server.run(&["sessions", "show", "fix the"]).await;
    assert!(shown.stdout.contains("Fix the build") && shown.stdout.contains("demo"), "{}", shown.stdout);
    assert_eq!(server.run(&["sessions", "close", "1", "2"]).await.stdout, "Closed session-1.\nClosed session-2.\n");
    assert_eq!(server.run(&["sessions", "-q"]).await.stdout, "");
    assert_eq!(server.run(&["sessions", "-a", "-q"]).await.stdout, "session-2\nsession-1\n");
    assert_eq!(server.run(&["sessions", "reopen", "1"]).await.stdout, "Reopened session-1.\n");
    let open = server.run(&["sessions", "reopen", "1"]).await;
    assert!(!open.success && !open.stderr.is_empty(), "{}", open.stderr);
    let asked = server.run(&["sessions", "rm", "2"]).await;
    assert!(!asked.success && asked.stderr.contains("--yes"), "{}", asked.stderr);
    let removed = server.run(&["sessions", "rm", "--yes", "2", "9"]).await;
    assert_eq!((removed.code, removed.stdout.as_str()), (Some(1), "Deleted session-2.\n"));
    assert!(removed.stderr.contains("there is no session-9"), "{}", removed.stderr);
    let json: Value = serde_json::from_str(&server.run(&["sessions", "--json"]).await.stdout).expect("JSON");
    assert_eq!(json["sessions"][0]["sessionId"], "session-1");
}

#[tokio::test]
async fn sessions_that_wait_are_listed_alone_and_counted() {
    let server = Server::start().await;
    server.session().await;
    let session = server.session().await;
    session.prompt("permission").await;
    session.events_after(0).await.until_callback("onPermissionRequested").await;
    assert_eq!(server.run(&["sessions", "--waiting", "-q"]).await.stdout, "session-2\n");
    let status = server.run(&["status"]).await;
    for part in [server.url.as_str(), "1 ready, 1 waiting", "1 thing needs you"] {
        assert!(status.stdout.contains(part), "{part}: {}", status.stdout);
    }
}

#[tokio::test]
async fn a_mistyped_command_suggests_the_nearest() {
    let folder = tempfile::tempdir().expect("a folder");
    for (mistyped, suggested) in [
        (&["sesions"][..], "sessions"),
        (&["atach"], "attach"),
        (&["statsu"], "status"),
        (&["sessions", "lst"], "list"),
        (&["completions", "bsh"], "bash"),
    ] {
        let ended = Server::builder().run(folder.path(), mistyped).await;
        assert_eq!(ended.code, Some(2), "{mistyped:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(suggested), "{mistyped:?}: {}", ended.stderr);
    }
    let unlike = Server::builder().run(folder.path(), &["xyzzy"]).await;
    assert!(unlike.stderr.contains("flightdeck help"), "{}", unlike.stderr);
}

#[tokio::test]
async fn export_and_search_need_their_arguments() {
    let server = Server::start().await;
    for (arguments, word) in [
        (&["sessions", "export"][..], "<ID>"),
        (&["sessions", "export", "1", "--format", "pdf"], "md"),
        (&["sessions", "search"], "<QUERY>"),
        (&["sessions", "search", "x", "--limit", "many"], "many"),
    ] {
        let ended = server.run(arguments).await;
        assert_eq!(ended.code, Some(2), "{arguments:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(word), "{arguments:?}: {}", ended.stderr);
    }
}

#[tokio::test]
async fn text_is_found_in_all_sessions_with_its_filters() {
    let server = Server::start().await;
    let [first, second] = [server.session().await, server.session().await];
    first.ask("a rare pangolin").await;
    second.ask("another pangolin").await;
    let search = async |arguments: &[&str]| server.run(&[&["sessions", "search"], arguments].concat()).await;
    let both = eventually("a complete index", async || {
        let found = search(&["pangolin", "--kind", "prompt"]).await;
        Some(found.stdout).filter(|text| text.lines().count() == 2)
    })
    .await;
    assert!(both.contains("1  prompt  a rare pangolin\n") && both.contains("2  prompt  another pangolin\n"), "{both}");
    assert_eq!(search(&["rare", "pangolin", "--kind", "prompt"]).await.stdout, "1  prompt  a rare pangolin\n");
    assert_eq!(search(&["pangolin", "-s", "2", "--kind", "prompt"]).await.stdout, "2  prompt  another pangolin\n");
    let nothing = search(&["okapi"]).await;
    assert_eq!((nothing.code, nothing.stdout.as_str()), (Some(1), ""));
    assert!(nothing.stderr.contains("No results."), "{}", nothing.stderr);
    let wrong = search(&["!!!"]).await;
    assert!(!wrong.success && wrong.stderr.contains("nothing to search for"), "{}", wrong.stderr);
    let json: Value = serde_json::from_str(&search(&["pangolin", "--json"]).await.stdout).expect("JSON");
    assert!(json["hits"].as_array().expect("hits").len() >= 2, "{json}");
}

#[tokio::test]
async fn a_session_is_exported_in_every_format() {
    let server = Server::start().await;
    let session = server.session().await;
    session.ask("tool").await;
    let export = async |arguments: &[&str]| server.run(&[&["sessions", "export", "1"], arguments].concat()).await;
    let markdown = export(&[]).await.stdout;
    assert!(markdown.contains("<details>") && markdown.contains("tool"), "{markdown}");
    let json: Value = serde_json::from_str(&export(&["--json"]).await.stdout).expect("JSON");
    assert_eq!(
        (&json["format"], &json["session"]["sessionId"]),
        (&Value::from("flightdeck-session/1"), &Value::from(session.id.as_str()))
    );
    let file = server.folder().join("session.zip");
    let written = export(&["--format", "zip", "--output", file.to_str().expect("UTF-8")]).await;
    assert!(written.success && written.stderr.contains("session.zip"), "{}", written.stderr);
    assert!(std::fs::read(&file).expect("written").starts_with(b"PK"));
    server.run(&["sessions", "rm", "--yes", "1"]).await;
    let gone = export(&[]).await;
    assert!(!gone.success && gone.stderr.contains("session-1"), "{}", gone.stderr);
}
