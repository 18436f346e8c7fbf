//! Rules 2 and 10: a token, always, and only its owner can read it.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use serde_json::json;

use super::{PAGES, PROGRAMS_PATHS, check_unharmed};
use crate::support::{Http, Server};

/// The token is not meant to be guessed here, so many wrong ones are allowed.
const MANY_GUESSES: &str = "[limits]\nlogin_failures_per_minute = 100000";

/// Every path refuses this client: programs with an error, people with the login.
async fn check_kept_out(client: &Http, query: &str) {
    for path in PROGRAMS_PATHS {
        let path = format!("{path}{query}");
        for reply in [client.get(&path).await, client.post(&path, "").await] {
            assert_eq!(reply.error(401), "Unauthorized", "{path}");
            assert_eq!(reply.header("www-authenticate"), "Bearer");
        }
    }
    for path in PAGES {
        let reply = client.get(&format!("{path}{query}")).await;
        assert_eq!(reply.status, 401, "{path}");
        assert!(reply.text().contains("method=\"post\" action=\"/login\">"), "{path}");
        let scripts: Vec<&str> = reply.text().split("<script").skip(1).collect();
        assert!(
            matches!(scripts[..], [only] if only.contains("src=\"/login.js\"")),
            "{path} shows nothing of the page itself"
        );
    }
}

#[tokio::test]
async fn nothing_is_served_without_the_token() {
    let server = Server::builder().config(MANY_GUESSES).start().await;
    let (token, stranger) = (server.token(), server.stranger());
    check_kept_out(&stranger, "").await;
    check_kept_out(&stranger, &format!("?token={token}")).await;
    check_kept_out(&stranger, &format!("?access_token={token}")).await;
    check_kept_out(&stranger.header("cookie", &format!("flightdeck_{}={token}", server.port())), "").await;
    check_kept_out(&stranger.header("x-api-key", &token), "").await;
    check_kept_out(&stranger.header("flightdeck-secret", &token), "").await;
    check_unharmed(&server).await;
}

#[tokio::test]
async fn a_wrong_token_in_any_form_is_no_token() {
    let server = Server::builder().config(MANY_GUESSES).start().await;
    let token = server.token();
    let mut changed = token.clone();
    let last = if changed.pop() == Some('0') { '1' } else { '0' };
    changed.push(last);
    for header in [
        format!("Bearer {changed}"),
        format!("Bearer {token}x"),
        format!("Bearer {}", &token[1..]),
        format!("Bearer {}", token.to_uppercase()),
        "Bearer ".to_owned(),
        "Bearer".to_owned(),
        token.clone(),
        format!("Basic {token}"),
        format!("Bearer wrong, Bearer {token}"),
    ] {
        let reply = server.stranger().header("authorization", &header).get("/api/test").await;
        assert_eq!(reply.error(401), "Unauthorized", "{}", header.replace(&token, "TOKEN"));
    }
    check_kept_out(&server.stranger().header("authorization", &format!("Bearer {changed}")), "").await;
    check_unharmed(&server).await;
}

#[tokio::test]
async fn only_the_login_and_a_bare_health_are_open() {
    let server = Server::builder().config(MANY_GUESSES).start().await;
    for client in [server.stranger(), server.stranger().header("authorization", "Bearer wrong")] {
        assert_eq!(client.get("/login").await.status, 200);
        assert_eq!(client.get("/login.js").await.header("content-type"), "text/javascript; charset=utf-8");
        let health = client.get("/api/health").await;
        assert_eq!(health.status, 200);
        assert_eq!(health.json(), json!({ "status": "ok", "service": "flightdeck" }));
        for path in ["/api/health/", "/api/health/x", "/api//health", "/login/", "/login/../api/test", "/API/health"] {
            assert_eq!(client.get(path).await.status, 401, "{path}");
        }
    }
    let full = server.http().get("/api/health").await.json();
    assert!(full["version"].is_string() && full["storage"]["takesWrites"] == true, "{full}");
}

#[tokio::test]
async fn stopping_the_server_needs_the_token() {
    let mut server = Server::start().await;
    for reply in [server.stranger().get("/api/stop").await, server.stranger().post("/api/stop", "").await] {
        assert_eq!(reply.error(401), "Unauthorized");
    }
    check_unharmed(&server).await;
    assert!(server.stop().await, "with the token it ends, and well");
}

#[tokio::test]
async fn without_authentication_everybody_on_this_machine_gets_in_and_the_log_says_so_loudly() {
    let mut server = Server::builder().flags(&["--auth", "none"]).start().await;
    assert!(server.greeting[0].starts_with("No login needed: http://localhost:"), "{:?}", server.greeting);
    assert_eq!(server.stranger().get("/api/test").await.json()["message"], "Hello, world!");
    assert_eq!(server.stranger().get("/").await.status, 200);
    assert_eq!(server.http().get("/api/health").await.json()["authentication"], false);
    assert!(server.stop().await);
    assert!(server.stderr().await.contains("AUTHENTICATION IS OFF"));
}

/// Every file below the folder is the owner's alone.
fn check_private(folder: &Path) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let metadata = std::fs::metadata(&path).expect("metadata");
        assert_eq!(metadata.mode() & 0o077, 0, "{} has mode {:o}", path.display(), metadata.mode());
        if metadata.is_dir() {
            check_private(&path);
        }
    }
}

#[tokio::test]
async fn the_token_and_all_data_are_the_owners_alone_even_in_a_folder_that_others_may_enter() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    std::fs::create_dir(&data).expect("made");
    std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o755)).expect("set");
    std::fs::write(data.join("token"), "not a token").expect("written");
    std::fs::set_permissions(data.join("token"), std::fs::Permissions::from_mode(0o644)).expect("set");

    let server = Server::builder().start_in(folder).await;
    assert!(server.token().len() > 40, "a file that holds no token is not taken for one");
    server.session().await.ask("tool 400000").await;
    assert!(data.join("blobs").exists(), "a large output has a file of its own");
    check_private(&data);
    let mode = std::fs::metadata(data.join("token")).expect("a token").mode();
    assert_eq!(mode & 0o777, 0o600);

    let (token, file) = (server.token(), std::fs::metadata(data.join("token")).expect("a token").ino());
    std::fs::set_permissions(data.join("token"), std::fs::Permissions::from_mode(0o644)).expect("set");
    let server = server.restart().await;
    assert_eq!(server.token(), token, "the token stays");
    let kept = std::fs::metadata(data.join("token")).expect("a token").ino();
    assert_eq!(kept, file, "it is not written again, so a full disk does not matter");
    check_private(&data);
}

#[tokio::test]
async fn a_folder_that_the_server_makes_cannot_be_entered_by_others() {
    let server = Server::start().await;
    assert_eq!(std::fs::metadata(server.data()).expect("a folder").mode() & 0o777, 0o700);
}

#[tokio::test]
async fn a_folder_that_others_may_write_to_is_made_private() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    std::fs::create_dir(&data).expect("made");
    let open_up = || std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o777)).expect("set");
    let mode = || std::fs::metadata(&data).expect("a folder").mode() & 0o777;
    open_up();
    let server = Server::builder().start_in(folder).await;
    assert_eq!(mode(), 0o700, "an empty one");
    open_up();
    let _server = server.restart().await;
    assert_eq!(mode(), 0o700, "one that we have used");
}

#[tokio::test]
async fn a_folder_of_others_that_everybody_may_write_to_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    std::fs::create_dir(&data).expect("made");
    std::fs::write(data.join("theirs"), "").expect("written");
    std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o1777)).expect("set");
    let ended = Server::builder().run(folder.path(), &["--port", "0"]).await;
    assert!(!ended.success, "{}", ended.stdout);
    for part in ["other users can write", "1777", "chmod 700", "--data-dir"] {
        assert!(ended.stderr.contains(part), "{part}: {}", ended.stderr);
    }
    assert_eq!(std::fs::metadata(&data).expect("a folder").mode() & 0o7777, 0o1777);
    assert_eq!(std::fs::read_dir(&data).expect("readable").count(), 1);
}
