//! What is sent, to whom, and what happens when a target misbehaves.

use serde_json::json;

use super::{builder, deliveries, until_state};
use crate::support::{Reaction, Receiver, Server};

#[tokio::test]
async fn a_webhook_hears_once_what_happens_without_what_the_agent_said() {
    let mut receiver = Receiver::start().await;
    let server = builder(&receiver, "secret = \"whsec_c2VjcmV0\"").start().await;
    let session = server.session().await;
    session.ask("hello").await;
    let finished = receiver.request().await;
    assert_eq!((finished.path.as_str(), finished.header("content-type")), ("/hook", "application/json"));
    assert_eq!((&finished.body["event"], &finished.body["title"]), (&json!("finished"), &json!("Finished: hello")));
    let item = &finished.body["items"][0];
    assert_eq!(
        (&item["kind"], &item["id"], &item["state"]),
        (&json!("session"), &json!(session.id), &json!("finished"))
    );
    assert!(item["durationMs"].is_u64(), "{item}");
    assert_eq!(finished.body["link"], json!(format!("{}/?session={}", server.url, session.id)));
    assert!(!String::from_utf8_lossy(&finished.raw).contains("scripted"), "nothing that the agent said");
    assert_eq!(finished.header("webhook-id"), finished.body["id"].as_str().expect("an id"));
    assert!(finished.header("webhook-signature").starts_with("v1,"));
    let request = session.prompt_and_get_request("permission").await;
    let needs_you = receiver.request().await;
    assert_eq!(
        (&needs_you.body["event"], &needs_you.body["items"][0]["reason"]),
        (&json!("needs-you"), &json!("permission"))
    );
    assert!(!String::from_utf8_lossy(&needs_you.raw).contains("touch"), "no command: {}", needs_you.body);
    session.post(&format!("/permission/{request}"), json!({ "decision": "deny" })).await;
    assert_eq!(receiver.request().await.body["event"], "finished");
    session.ask("error it broke").await;
    let failed = receiver.request().await;
    assert_eq!((&failed.body["event"], &failed.body["items"][0]["reason"]), (&json!("failed"), &json!("unknown")));
    assert!(!String::from_utf8_lossy(&failed.raw).contains("it broke"), "{}", failed.body);
    until_state(&server.http(), "delivered").await;
    assert_eq!(receiver.left().len(), 0, "each once");
}

#[tokio::test]
async fn only_the_last_of_queued_prompts_and_no_interrupted_turn_is_news() {
    let mut receiver = Receiver::start().await;
    let server = builder(&receiver, "").start().await;
    let session = server.session().await;
    session.prompt("many 1000000 20 10").await;
    session.events_after(0).await.until_callback("onStartMessage").await;
    session.post("/interrupt", json!({})).await;
    let request = session.prompt_and_get_request("permission").await;
    receiver.request().await;
    session.prompt("hello").await;
    session.post(&format!("/permission/{request}"), json!({ "decision": "deny" })).await;
    let finished = receiver.request().await;
    assert_eq!(finished.body["event"], "finished");
    let session = server.session().await;
    session.ask("hello").await;
    assert_eq!(receiver.request().await.body["items"][0]["id"], json!(session.id), "the first session has one");
}

#[tokio::test]
async fn a_target_that_fails_for_a_while_gets_it_later() {
    let mut receiver = Receiver::start().await;
    receiver.next(&[Reaction::Answers(500), Reaction::Answers(429)]);
    let server = builder(&receiver, "").start().await;
    server.session().await.ask("hello").await;
    let ids: Vec<String> = [receiver.request().await, receiver.request().await, receiver.request().await]
        .iter()
        .map(|request| request.header("webhook-id").to_owned())
        .collect();
    assert!(ids.iter().all(|id| *id == ids[0]), "a receiver can recognise a repetition: {ids:?}");
    let delivered = until_state(&server.http(), "delivered").await;
    assert_eq!((&delivered["attempts"], &delivered["error"]), (&json!(3), &json!(null)));
    assert_eq!(deliveries(&server.http()).await.len(), 1);
}

#[tokio::test]
async fn what_no_target_takes_is_given_up_and_shown() {
    let receiver = Receiver::start().await;
    let builder = builder(&receiver, "");
    receiver.stop().await;
    let server = builder.start().await;
    let session = server.session().await;
    tokio::join!(server.until_logged("a notification was given up", 1), session.ask("hello"));
    let given_up = until_state(&server.http(), "given-up").await;
    assert_eq!((&given_up["attempts"], &given_up["target"]), (&json!(4), &json!("hook")));
    assert!(given_up["error"].as_str().expect("a reason").contains("refused"), "{given_up}");
    let metrics = server.http().get("/metrics").await.text().to_owned();
    assert!(metrics.contains("flightdeck_notifications_total{target=\"hook\",outcome=\"given-up\"} 1"), "{metrics}");
    assert!(metrics.contains("flightdeck_notifications_total{target=\"hook\",outcome=\"retried\"} 3"), "{metrics}");
}

#[tokio::test]
async fn what_a_target_refuses_for_good_is_not_repeated() {
    let mut receiver = Receiver::start().await;
    receiver.next(&[Reaction::Answers(401)]);
    let server = builder(&receiver, "").start().await;
    let session = server.session().await;
    session.ask("hello").await;
    let first = receiver.request().await;
    let refused = until_state(&server.http(), "given-up").await;
    assert_eq!(refused["attempts"], json!(1));
    session.ask("hello").await;
    assert_ne!(receiver.request().await.body["id"], first.body["id"]);
}

#[tokio::test]
async fn a_target_that_hangs_delays_nobody_else() {
    let mut good = Receiver::start().await;
    let mut hanging = Receiver::start().await;
    hanging.next(&[Reaction::Hangs; 3]);
    let more = format!("[notifications.targets.slow]\nurl = \"{}\"", hanging.url);
    let server = builder(&good, &more).start().await;
    let session = server.session().await;
    for _ in 0..3 {
        session.ask("hello").await;
        assert_eq!(good.request().await.body["event"], "finished");
    }
    let ids = [hanging.accepted().await, hanging.accepted().await, hanging.accepted().await];
    assert!(ids[0].body["id"] != ids[1].body["id"] && ids[1].body["id"] != ids[2].body["id"]);
}

#[tokio::test]
async fn a_target_chooses_what_it_hears_of() {
    let mut receiver = Receiver::start().await;
    let more = "events = [\"failed\"]\nbody = \"{{id}} {{reason}} {{text}}\"\ninclude_text = true";
    let server = builder(&receiver, more).start().await;
    let session = server.session().await;
    session.ask("hello").await;
    session.ask("error boom").await;
    let failed = receiver.request().await;
    assert_eq!(failed.body["event"], "failed");
    assert!(
        failed.body["body"].as_str().expect("text").starts_with(&format!("{} unknown", session.id)),
        "{}",
        failed.body
    );
    let config = "min_duration = \"1h\"";
    let server = server.restart_as(builder(&receiver, config)).await;
    let session = server.session().await;
    session.ask("hello").await;
    session.prompt_and_get_request("permission").await;
    assert_eq!(receiver.request().await.body["event"], "needs-you", "a short turn is no news");
}

#[tokio::test]
async fn without_targets_nothing_is_kept() {
    let server = Server::start().await;
    server.session().await.ask("hello").await;
    let shown = server.http().get("/api/notifications").await.json();
    assert_eq!(shown, json!({ "targets": [], "deliveries": [], "next": null }));
}
