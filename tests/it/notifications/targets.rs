//! Each kind of target, and tests of targets.

use serde_json::json;

use super::builder;
use crate::support::{Reaction, Receiver, Server};

#[tokio::test]
async fn ntfy_and_gotify_get_their_own_messages() {
    let (mut ntfy, mut gotify) = (Receiver::start().await, Receiver::start().await);
    let config = format!(
        "[notifications]\nbase_url = \"https://deck.example.com/\"\n\
         [notifications.targets.phone]\ntype = \"ntfy\"\nurl = \"{}/my-topic\"\ntoken = \"tk_1\"\n\
         [notifications.targets.push]\ntype = \"gotify\"\nurl = \"{}\"\ntoken_variable = \"PUSH_TOKEN\"\n",
        ntfy.url, gotify.url
    );
    let server = Server::builder().flags(&["--test"]).config(&config).variable("PUSH_TOKEN", "A1").start().await;
    let session = server.session().await;
    session.prompt_and_get_request("permission").await;
    let link = format!("https://deck.example.com/?session={}", session.id);
    let request = ntfy.request().await;
    assert_eq!((request.path.as_str(), request.header("authorization")), ("/", "Bearer tk_1"));
    assert_eq!(
        (&request.body["topic"], &request.body["title"], &request.body["priority"], &request.body["click"]),
        (&json!("my-topic"), &json!("Needs your input: permission"), &json!(4), &json!(link))
    );
    let request = gotify.request().await;
    assert_eq!((request.path.as_str(), request.header("x-gotify-key")), ("/message", "A1"));
    assert_eq!(
        (&request.body["title"], &request.body["priority"]),
        (&json!("Needs your input: permission"), &json!(8))
    );
    assert_eq!(request.body["extras"]["client::notification"]["click"]["url"], json!(link));
}

#[tokio::test]
async fn a_target_can_be_tested() {
    let mut receiver = Receiver::start().await;
    let server = builder(&receiver, "").start().await;
    let http = server.http();
    let test = async |target: &str| http.post_json("/api/notifications/test", &json!({ "target": target })).await;
    let reply = test("hook").await;
    assert_eq!(reply.json(), json!({ "target": "hook", "delivered": true, "error": null }));
    assert_eq!(receiver.request().await.body["event"], "test");
    receiver.next(&[Reaction::Answers(503)]);
    let reply = test("hook").await.json();
    assert_eq!((&reply["delivered"], &reply["error"]), (&json!(false), &json!("the target answered with status 503")));
    let reply = test("phone").await;
    assert_eq!(reply.error(404), "TargetNotFound");
    let shown = server.http().get("/api/notifications").await.json();
    assert_eq!(shown["targets"][0]["name"], "hook");
    assert_eq!(shown["deliveries"], json!([]), "a test is no delivery");
}

#[tokio::test]
async fn a_target_that_is_added_changed_or_removed_counts_at_once() {
    let (mut first, mut second) = (Receiver::start().await, Receiver::start().await);
    let server = Server::builder().flags(&["--test"]).config("").start().await;
    let http = server.http();
    let change = async |value: serde_json::Value| {
        let body = json!({ "changes": { "notifications.targets.hook": value } });
        let reply = http.patch_json("/api/settings", &body).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        assert_eq!(reply.json()["needsRestart"], json!([]));
    };
    let session = server.session().await;
    change(json!({ "url": format!("{}/hook", first.url) })).await;
    session.ask("hello").await;
    assert_eq!(first.request().await.body["event"], "finished");
    change(json!({ "url": format!("{}/hook", second.url) })).await;
    session.ask("hello").await;
    assert_eq!(second.request().await.body["event"], "finished");
    assert!(first.left().is_empty(), "the old address gets nothing any more");
    change(json!(null)).await;
    assert_eq!(
        http.post_json("/api/notifications/test", &json!({ "target": "hook" })).await.error(404),
        "TargetNotFound"
    );
    let body =
        json!({ "changes": { "notifications.targets.hook": { "url": second.url, "secret_variable": "NOT_SET" } } });
    let refused = http.patch_json("/api/settings", &body).await;
    assert_eq!(refused.error(400), "InvalidSetting");
    assert!(refused.text().contains("NOT_SET"), "{}", refused.text());
}
