//! A database that is damaged or too new is refused and not touched.

use std::fs;

use serde_json::json;

use crate::support::Server;

/// A server that has a session and has ended.
async fn ended_server() -> Server {
    let mut server = Server::start().await;
    server.session().await.ask("hello").await;
    assert!(server.stop().await);
    server
}

/// With `content` as its database the server refuses to start, names the file, says all of this and leaves the file as
/// it is.
async fn check_refused(server: &Server, content: &[u8], words: &[&str]) {
    let database = server.data().join("flightdeck.db");
    fs::write(&database, content).expect("written");
    let ended = Server::builder().run(server.folder(), &["--port", "0"]).await;
    assert!(!ended.success);
    assert_eq!(ended.stdout, "");
    for word in words.iter().chain(&[database.to_str().expect("UTF-8")]) {
        assert!(ended.stderr.contains(word), "{word}: {}", ended.stderr);
    }
    assert!(fs::read(&database).expect("readable") == content, "the file was changed");
}

#[tokio::test]
async fn a_damaged_database_is_refused_and_left_as_it_is() {
    let server = ended_server().await;
    let database = server.data().join("flightdeck.db");
    let whole = fs::read(&database).expect("readable");
    let damaged = ["is damaged", "move it away", "restore a backup"];

    let mut garbage = whole.clone();
    garbage[..100].fill(0xa5);
    check_refused(&server, &garbage, &damaged).await;
    check_refused(&server, b"This is a shopping list and no database at all.", &damaged).await;
    for size in [whole.len() / 2, whole.len() - 4096, 4096, 1000, 100, 20, 1, 0] {
        check_refused(&server, &whole[..size], &damaged).await;
    }

    fs::write(&database, &whole).expect("restored");
    let mut server = server.start_again().await;
    assert_eq!(server.http().get("/api/copilot/session/session-1").await.status, 200, "the backup works");
    assert!(server.stop().await);
    fs::rename(&database, server.data().join("old.db")).expect("moved away");
    let server = server.start_again().await;
    assert_eq!(server.session().await.id, "session-1", "a new one is begun");
}

#[tokio::test]
async fn a_database_with_a_damaged_table_is_refused_and_left_as_it_is() {
    let server = ended_server().await;
    let mut content = fs::read(server.data().join("flightdeck.db")).expect("readable");
    content[100..4096].fill(0xa5);
    check_refused(&server, &content, &["is damaged", "move it away", "restore a backup"]).await;
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_refused_and_left_as_it_is() {
    let server = ended_server().await;
    let database = server.data().join("flightdeck.db");
    let whole = fs::read(&database).expect("readable");
    // Where SQLite keeps `user_version`, the number of the schema.
    let version = 60..64;
    let current = u32::from_be_bytes(whole[version.clone()].try_into().expect("four bytes"));
    assert!(current >= 1, "{current}");
    for newer in [current + 1, 1000] {
        let mut content = whole.clone();
        content[version.clone()].copy_from_slice(&newer.to_be_bytes());
        check_refused(&server, &content, &["newer Flightdeck", "install that version", "--data-dir"]).await;
    }
    fs::write(&database, &whole).expect("restored");
    let server = server.start_again().await;
    assert_eq!(server.http().get("/api/copilot/session/session-1").await.status, 200);
}

#[tokio::test]
async fn damage_that_is_found_while_reading_is_in_the_health() {
    let mut server = Server::start().await;
    let (session, other) = (server.session().await, server.session().await);
    other.ask("hello").await;
    session.ask("tool 200000").await;
    assert!(server.stop().await);
    // The newest pages are those of the large output.
    let database = server.data().join("flightdeck.db");
    let mut content = fs::read(&database).expect("readable");
    let pages = content.len() / 4096;
    content[(pages - 30) * 4096..(pages - 10) * 4096].fill(0xff);
    fs::write(&database, content).expect("written");

    let server = server.start_again().await;
    let (session, other) = (session.seen_by(server.http()), other.seen_by(server.http()));
    assert_eq!(server.http().get("/api/health").await.json()["status"], "ok", "nobody has read it yet");
    assert_eq!(session.get("/log").await.error(500), "DatabaseDamaged");
    let health = server.http().get("/api/health").await.json();
    assert_eq!((&health["status"], &health["storage"]["takesWrites"]), (&json!("degraded"), &json!(true)), "{health}");
    assert!(health["storage"]["reason"].as_str().is_some_and(|reason| reason.contains("damaged")), "{health}");
    assert_eq!(other.ask("hello").await["verdict"], "succeeded", "other sessions still work");
}
