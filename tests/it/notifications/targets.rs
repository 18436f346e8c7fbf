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
