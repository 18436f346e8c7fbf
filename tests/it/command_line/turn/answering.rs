//! `inbox`, `allow`, `deny`, `answer` and `interrupt`.

use serde_json::Value;

use crate::support::{Server, TestSession};

/// A session that waits for an answer.
async fn waiting(server: &Server, prompt: &str, callback: &str) -> TestSession {
    let session = server.session().await;
    session.prompt(prompt).await;
    session.events_after(0).await.until_callback(callback).await;
    session
}

#[tokio::test]
async fn a_permission_is_listed_and_allowed_only_knowingly() {
    let server = Server::start().await;
    assert_eq!(server.run(&["inbox"]).await.stdout, "Nothing needs you.\n");
    let session = waiting(&server, "permission", "onPermissionRequested").await;
    let inbox = server.run(&["inbox"]).await;
    for part in ["session-1", "flightdeck allow 1", "flightdeck deny 1 -m REASON"] {
        assert!(inbox.stdout.contains(part), "{part}: {}", inbox.stdout);
    }
    let json: Value = serde_json::from_str(&server.run(&["inbox", "--json"]).await.stdout).expect("JSON");
    let request = json["sessions"][0]["requests"][0]["requestId"].as_str().expect("an id").to_owned();
    let unseen = server.run(&["allow", "1"]).await;
    assert!(!unseen.success && unseen.stderr.contains(&format!("--request {request}")), "{}", unseen.stderr);
    assert_eq!(session.state().await, "waiting");
    let wrong = server.run(&["answer", "1", "yes"]).await;
    assert!(!wrong.success && wrong.stderr.contains("no question waits"), "{}", wrong.stderr);
    let mut events = session.events_after(0).await;
    let allowed = server.run(&["allow", "1", "--request", &request]).await;
    assert_eq!(allowed.stdout, format!("Allowed {request} of session-1.\n"), "{}", allowed.stderr);
    events.until_callback("onIdle").await;
    let nothing = server.run(&["allow", "1", "--yes"]).await;
    assert!(!nothing.success && nothing.stderr.contains("nothing waits in session-1"), "{}", nothing.stderr);
}

#[tokio::test]
async fn a_permission_is_denied_with_a_reason_and_a_question_answered() {
    let server = Server::start().await;
    let session = waiting(&server, "permission", "onPermissionRequested").await;
    let mut events = session.events_after(0).await;
    let denied = server.run(&["deny", "1", "-m", "use git instead"]).await;
    assert!(denied.success, "{}", denied.stderr);
    let text = format!("{:?}", events.until_callback("onIdle").await);
    assert!(text.contains("use git instead"), "{text}");

    let session = waiting(&server, "question", "onQuestionAsked").await;
    let mut events = session.events_after(0).await;
    let answered = server.run(&["answer", "2", "my", "own", "words"]).await;
    assert!(answered.success, "{}", answered.stderr);
    let text = format!("{:?}", events.until_callback("onIdle").await);
    assert!(text.contains("my own words"), "{text}");
}

#[tokio::test]
async fn a_turn_is_interrupted_from_elsewhere() {
    let server = Server::start().await;
    let session = server.session().await;
    session.prompt("many 1000000 200 10").await;
    session.events_after(0).await.until_callback("onMessage").await;
    let ended = server.run(&["interrupt", "1"]).await;
    assert_eq!(ended.stdout, "Interrupted the turn of session-1.\n", "{}", ended.stderr);
    session.events_after(0).await.until_callback("onIdle").await;
    let again = server.run(&["interrupt", "1"]).await;
    assert_eq!(again.stdout, "No turn is running in session-1.\n");
}
