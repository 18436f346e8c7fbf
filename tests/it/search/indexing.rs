//! The index follows the logs, whatever happens to it.

use rusqlite::Connection;
use serde_json::json;

use super::{ask, message, places, search};
use crate::support::{Server, WrittenLog, eventually, write_log};

const EVENTS: usize = 20_000;

/// A server whose one session has many messages that nobody has indexed. It is not started.
async fn written(server: Server) -> (Server, crate::support::TestSession) {
    let session = server.session().await;
    let events = (0..EVENTS).map(|number| message(&format!("needle {number} in some hay"))).collect();
    let (server, _) = write_log(server, &session, WrittenLog { events, ..WrittenLog::default() }).await;
    (server, session)
}

/// Waits until a part of the logs is indexed and a part is not.
async fn until_half_indexed(server: &Server) {
    let http = server.http();
    eventually("a half of an index", async || {
        let found = ask(&http, &[("q", "needle")]).await.json();
        let figure = |name: &str| found["indexing"][name].as_u64();
        (figure("done")? > 0 && figure("done")? < figure("total")?).then_some(())
    })
    .await;
}

fn documents(server: &Server) -> (usize, usize) {
    let database = Connection::open(server.data().join("search.db")).expect("opened");
    let count = |sql: &str| database.query_row(sql, [], |row| row.get::<_, usize>(0)).expect("counted");
    (count("SELECT count(*) FROM document"), count("SELECT count(*) FROM text WHERE text MATCH 'needle'"))
}

#[tokio::test]
async fn a_kill_in_the_middle_of_indexing_loses_nothing_and_repeats_nothing() {
    let (server, session) = written(Server::start().await).await;
    until_half_indexed(&server).await;
    let mut server = server.kill_and_restart().await;
    let found = search(&server.http(), &[("q", "needle 12345")]).await;
    assert_eq!(places(&found).len(), 1, "{found}");
    assert_eq!(found["hits"][0]["sessionId"], json!(session.id));
    assert!(server.stop().await);
    assert_eq!(documents(&server), (EVENTS, EVENTS));
}

#[tokio::test]
async fn a_session_that_is_deleted_while_it_is_indexed_is_gone() {
    let (mut server, session) = written(Server::start().await).await;
    until_half_indexed(&server).await;
    assert_eq!(server.http().delete(&session.path("")).await.status, 204);
    let found = ask(&server.http(), &[("q", "needle")]).await.json();
    assert_eq!((&found["hits"], &found["sessions"]), (&json!([]), &json!([])));
    search(&server.http(), &[("q", "needle")]).await;
    assert!(server.stop().await);
    assert_eq!(documents(&server), (0, 0));
}

#[tokio::test]
async fn an_index_that_is_damaged_or_deleted_is_built_again() {
    let mut server = Server::start().await;
    let session = server.session().await;
    session.ask("a rare pangolin").await;
    let before = places(&search(&server.http(), &[("q", "pangolin")]).await);
    assert!(!before.is_empty());
    assert!(server.stop().await);
    let file = server.data().join("search.db");
    std::fs::write(&file, "not a database, but long enough to look like one ".repeat(50)).expect("written");
    let mut server = server.start_again().await;
    assert_eq!(places(&search(&server.http(), &[("q", "pangolin")]).await), before);
    assert!(server.stop().await);
    std::fs::remove_file(&file).expect("removed");
    let server = server.start_again().await;
    assert_eq!(places(&search(&server.http(), &[("q", "pangolin")]).await), before);
}

#[tokio::test]
async fn an_index_of_another_log_is_built_again() {
    let mut server = Server::start().await;
    let session = server.session().await;
    session.ask("a rare pangolin").await;
    search(&server.http(), &[("q", "pangolin")]).await;
    assert!(server.stop().await);
    // As if the database had been restored from a backup that was made before the prompt, and used again.
    let database = Connection::open(server.data().join("flightdeck.db")).expect("opened");
    let body = message("a common sparrow");
    database.execute("DELETE FROM event", []).expect("deleted");
    let row = (1_i64 << 40 | 1, 1_700_000_000_000_i64, body.as_bytes());
    database.execute("INSERT INTO event (id, time, body) VALUES (?1, ?2, ?3)", row).expect("written");
    drop(database);
    let server = server.start_again().await;
    assert_eq!(places(&search(&server.http(), &[("q", "pangolin")]).await), []);
    assert_eq!(places(&search(&server.http(), &[("q", "sparrow")]).await), [(session.id, 1)]);
}

#[tokio::test]
async fn the_metrics_say_how_much_is_missing() {
    let server = Server::start().await;
    server.session().await.ask("hello").await;
    search(&server.http(), &[("q", "hello")]).await;
    let metrics = server.http().get("/metrics").await;
    assert!(metrics.text().contains("flightdeck_search_backlog 0"), "{}", metrics.text());
}
