//! Nobody is notified of what they see.

use serde_json::json;

use super::{builder, until_state};
use crate::support::{Receiver, page};

#[tokio::test]
async fn somebody_who_looks_is_not_told_and_one_who_leaves_is() {
    let mut receiver = Receiver::start().await;
    let server = builder(&receiver, "").start().await;
    let session = server.session().await;
    let looking = session.seen_by(page(&server).await).events_after(0).await;
    session.ask("hello").await;
    let seen = until_state(&server.http(), "seen").await;
    assert_eq!((&seen["event"], &seen["attempts"]), (&json!("finished"), &json!(0)));
    session.prompt_and_get_request("permission").await;
    until_state(&server.http(), "pending").await;
    drop(looking);
    let request = receiver.request().await;
    assert_eq!(request.body["event"], "needs-you", "it is the first that was sent");
}

#[tokio::test]
async fn a_tab_in_the_background_and_a_program_are_nobody() {
    let mut receiver = Receiver::start().await;
    let server = builder(&receiver, "").start().await;
    let session = server.session().await;
    let hidden = session.seen_by(page(&server).await);
    let token = hidden.http.get("/api/token").await.json()["token"].as_str().expect("a token").to_owned();
    hidden.get(&format!("/live/{token}?after=0&hidden=true")).await;
    let _program = session.events_after(0).await;
    session.ask("hello").await;
    assert_eq!(receiver.request().await.body["event"], "finished");
}
