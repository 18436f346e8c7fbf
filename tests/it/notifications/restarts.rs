//! A killed server neither loses nor repeats a notification.

use serde_json::json;

use super::{builder, deliveries, until_state};
use crate::support::{Reaction, Receiver, Server};

#[tokio::test]
async fn a_kill_between_the_commit_and_the_delivery_loses_nothing() {
    let mut receiver = Receiver::start().await;
    receiver.usually(Reaction::Hangs);
    let server = builder(&receiver, "").start().await;
    server.session().await.ask("hello").await;
    let cut_off = receiver.request().await;
    let mut server = server;
    server.kill().await;
    receiver.left();
    receiver.usually(Reaction::Answers(200));
    let server = server.start_again().await;
    let again = receiver.request().await;
    assert_eq!((&again.body["id"], &again.body["event"]), (&cut_off.body["id"], &json!("finished")));
    until_state(&server.http(), "delivered").await;
    assert_eq!(deliveries(&server.http()).await.len(), 1);
    assert_eq!(receiver.left().len(), 0);
}

#[tokio::test]
async fn what_happened_while_nobody_could_be_reached_is_sent_after_a_kill() {
    let gone = Receiver::start().await.stop().await;
    // Not with the fast retries of tests: it is still pending when the server is killed.
    let mut server = Server::builder().config(&config(&format!("http://127.0.0.1:{gone}"))).start().await;
    let session = server.session().await;
    session.ask("hello").await;
    session.prompt_and_get_request("permission").await;
    server.kill().await;
    let mut receiver = Receiver::start().await;
    let next = Server::builder().flags(&["--test"]).config(&config(&receiver.url));
    let server = server.start_again_as(next).await;
    let mut events = [receiver.accepted().await, receiver.accepted().await].map(|one| one.body["event"].clone());
    events.sort_by_key(ToString::to_string);
    assert_eq!(events, [json!("finished"), json!("needs-you")]);
    assert_eq!(deliveries(&server.http()).await.len(), 2);
}

/// A hook at that address.
fn config(url: &str) -> String {
    format!("[notifications.targets.hook]\nurl = \"{url}/hook\"\n")
}

#[tokio::test]
async fn a_delivered_notification_is_not_repeated_after_a_kill() {
    let mut receiver = Receiver::start().await;
    let server = builder(&receiver, "").start().await;
    server.session().await.ask("hello").await;
    receiver.request().await;
    until_state(&server.http(), "delivered").await;
    let server = server.kill_and_restart().await;
    let session = server.session().await;
    session.ask("hello").await;
    assert_eq!(receiver.request().await.body["items"][0]["id"], json!(session.id));
}

#[tokio::test]
async fn a_turn_that_a_kill_cut_off_is_reported_as_failed() {
    let mut receiver = Receiver::start().await;
    let server = builder(&receiver, "min_duration = \"1h\"").start().await;
    let session = server.session().await;
    session.prompt("many 1000000 20 10").await;
    session.events_after(0).await.until_callback("onStartMessage").await;
    let _server = server.kill_and_restart().await;
    let failed = receiver.request().await;
    assert_eq!(
        (&failed.body["event"], &failed.body["items"][0]["reason"]),
        (&json!("failed"), &json!("interrupted")),
        "also if nobody knows how long it took"
    );
}

#[tokio::test]
async fn what_was_meant_for_a_target_that_is_gone_is_given_up() {
    let mut receiver = Receiver::start().await;
    receiver.usually(Reaction::Hangs);
    let mut server = builder(&receiver, "").start().await;
    server.session().await.ask("hello").await;
    receiver.request().await;
    server.kill().await;
    let server = server.start_again_as(Server::builder()).await;
    let given_up = until_state(&server.http(), "given-up").await;
    assert_eq!(given_up["error"], json!("the target is no longer configured"));
}
