//! Unread and failed sessions: kept by the server, so that every device agrees.

use serde_json::{Value, json};

use crate::support::{Server, TestSession};

async fn marks(session: &TestSession) -> (Value, Value) {
    let details = session.get("").await.json();
    (details["unread"].clone(), details["failed"].clone())
}

async fn mark_seen(session: &TestSession, seq: u64) {
    assert_eq!(session.post("/seen", json!({ "seq": seq })).await.status, 204);
}

async fn last_seq(session: &TestSession) -> u64 {
    session.get("").await.json()["lastSeq"].as_u64().expect("a number")
}

#[tokio::test]
async fn a_turn_is_unread_until_a_page_has_shown_its_end_and_a_restart_forgets_nothing() {
    let server = Server::start().await;
    let session = server.session().await;
    assert_eq!(marks(&session).await, (json!(false), json!(false)), "nothing has happened in it");
    session.ask("hello").await;
    let end = last_seq(&session).await;
    let before = session.get("").await.json()["updatedAt"].clone();
    mark_seen(&session, end - 1).await;
    assert_eq!(marks(&session).await.0, json!(true), "its end was not shown");
    let server = server.kill_and_restart().await;
    let session = session.seen_by(server.http());
    assert_eq!(marks(&session).await.0, json!(true));
    // A number that the log does not have yet marks nothing of what comes.
    mark_seen(&session, end + 1_000).await;
    mark_seen(&session, 1).await;
    assert_eq!(marks(&session).await.0, json!(false));
    let details = session.get("").await.json();
    assert_eq!((&details["updatedAt"], last_seq(&session).await), (&before, end), "reading is no activity");
    let server = server.kill_and_restart().await;
    let session = session.seen_by(server.http());
    assert_eq!(marks(&session).await.0, json!(false));
    session.ask("hello").await;
    assert_eq!(marks(&session).await.0, json!(true));
}

#[tokio::test]
async fn a_failed_turn_is_marked_in_details_lists_and_the_inbox_until_one_succeeds() {
    let server = Server::start().await;
    let session = server.session().await;
    let listed = async || server.http().get("/api/copilot/session").await.json()["sessions"][0].clone();
    for (prompt, failed) in [("error quota", true), ("hello", false), ("crash", true), ("hello", false)] {
        let mut inbox = server.http().events("/api/events").await;
        session.ask(prompt).await;
        assert_eq!(marks(&session).await, (json!(true), json!(failed)), "{prompt}");
        let entry = listed().await;
        assert_eq!((&entry["unread"], &entry["failed"]), (&json!(true), &json!(failed)), "{prompt}");
        let is_it = |entry: &Value| entry["state"] == "ready" && entry["unread"] == true && entry["failed"] == failed;
        inbox.until(|event| is_it(&event.json())).await;
        mark_seen(&session, last_seq(&session).await).await;
        inbox.until(|event| event.json()["unread"] == false && event.json()["failed"] == failed).await;
    }
    session.ask("error quota").await;
    let server = server.kill_and_restart().await;
    let entry = server.http().events("/api/events").await.next_entry().await;
    assert_eq!(entry["failed"], true, "also when nothing has loaded the session: {entry}");
}

#[tokio::test]
async fn a_turn_that_a_person_ended_has_not_failed() {
    let server = Server::start().await;
    let session = server.session().await;
    session.prompt_and_get_request("permission").await;
    session.post("/interrupt", json!({})).await;
    session.events_after(0).await.until_callback("onIdle").await;
    assert_eq!(marks(&session).await, (json!(true), json!(false)));
}

#[tokio::test]
async fn the_inbox_names_the_folder_of_a_session() {
    let server = Server::start().await;
    let folder = server.folder().join("project");
    std::fs::create_dir_all(&folder).expect("a folder");
    let body = json!({ "runtime": "demo", "workingDirectory": folder });
    let session = TestSession::start_with(server.http(), body).await;
    let folder = session.get("").await.json()["workingDirectory"].clone();
    let entry = server.http().events("/api/events").await.next_entry().await;
    assert_eq!(entry["workingDirectory"], folder);
    let server = server.kill_and_restart().await;
    let entry = server.http().events("/api/events").await.next_entry().await;
    assert_eq!(entry["workingDirectory"], folder, "also when nothing has loaded the session");
}

#[tokio::test]
async fn marks_of_sessions_that_are_not_there_are_refused() {
    let server = Server::start().await;
    let session = server.session().await;
    assert_eq!(server.http().post_json("/api/copilot/session/session-99/seen", &json!({ "seq": 1 })).await.status, 404);
    for wrong in [json!({}), json!({ "seq": -1 }), json!({ "seq": "1" }), json!({ "seq": 1, "more": 1 })] {
        assert_eq!(session.post("/seen", wrong.clone()).await.error(400), "InvalidJson", "{wrong}");
    }
}
