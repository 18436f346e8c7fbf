//! Bad input: each gets an answer that says what to do, and nothing is left half done.

mod answers;
mod bodies;
mod cursors;
mod folders;
mod ids;
mod methods;
mod model_api;
mod prompts;
mod unknown_parameters;

use serde_json::{Value, json};

use crate::support::{Server, TestSession};

/// The server is well and has exactly these many sessions, and a prompt still works.
async fn check_healthy_with_sessions(server: &Server, count: usize) {
    let health = server.http().get("/api/health").await.json();
    assert_eq!((&health["status"], &health["storage"]["takesWrites"]), (&json!("ok"), &json!(true)), "{health}");
    let sessions = server.http().get("/api/copilot/session").await.json();
    assert_eq!(sessions["sessions"].as_array().map(Vec::len), Some(count), "{sessions}");
    assert_eq!(server.session().await.ask("hello").await["verdict"], "succeeded");
}

/// Nothing that was refused left a trace in the session.
async fn check_untouched(session: &TestSession, before: &Value) {
    let now = session.get("").await.json();
    assert_eq!(&now, before);
}

/// A session that is ready, and what it says of itself.
async fn ready_session(server: &Server) -> (TestSession, Value) {
    let session = server.session().await;
    session.ask("hello").await;
    let details = session.get("").await.json();
    (session, details)
}
