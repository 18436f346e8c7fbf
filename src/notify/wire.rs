//! A notification as each kind of target wants it.

use serde_json::{Value, json};

use super::message::{Message, Urgency};
use super::settings::{Protocol, Secret};
use super::signature::signature;

const JSON: &str = "application/json";

/// A POST.
#[derive(Clone, Debug)]
pub(super) struct Post {
    pub url: Secret,
    pub content_type: &'static str,
    pub headers: Vec<(&'static str, Secret)>,
    pub body: Vec<u8>,
}

impl Post {
    /// The request for a message. `seconds` is the time of sending, which is signed.
    pub fn new(protocol: &Protocol, message: &Message, seconds: i64) -> Self {
        match protocol {
            Protocol::Webhook { url, secret } => webhook(url, secret.as_ref(), message, seconds),
            Protocol::Ntfy { url, token } => {
                let headers = token.iter().map(|token| ("authorization", Secret(format!("Bearer {}", token.0))));
                let (server, topic) = split_topic(&url.0);
                Self {
                    url: Secret(server),
                    content_type: JSON,
                    headers: headers.collect(),
                    body: encode(&ntfy(&topic, message)),
                }
            }
            Protocol::Gotify { url, token } => Self {
                url: Secret(format!("{}/message", url.0.trim_end_matches('/'))),
                content_type: JSON,
                headers: vec![("x-gotify-key", token.clone())],
                body: encode(&gotify(message)),
            },
            Protocol::Push(target) => target.subscription.post(&target.key, &target.contact, message, seconds),
        }
    }
}

fn webhook(url: &Secret, secret: Option<&Secret>, message: &Message, seconds: i64) -> Post {
    let body = serde_json::to_vec(message).expect("plain values");
    let mut headers =
        vec![("webhook-id", Secret(message.id.clone())), ("webhook-timestamp", Secret(seconds.to_string()))];
    if let Some(secret) = secret {
        headers.push(("webhook-signature", Secret(signature(&secret.0, &message.id, seconds, &body))));
    }
    Post { url: url.clone(), content_type: JSON, headers, body }
}

/// ntfy takes JSON, in which titles may have any character, at the address of the server.
fn split_topic(url: &str) -> (String, String) {
    let url = url.trim_end_matches('/');
    let (server, topic) = url.rsplit_once('/').unwrap_or((url, ""));
    (format!("{server}/"), topic.to_owned())
}

fn ntfy(topic: &str, message: &Message) -> Value {
    let (priority, tag) = match message.urgency {
        Urgency::Normal => (3, "white_check_mark"),
        Urgency::Raised => (4, "x"),
        Urgency::High => (4, "raising_hand"),
    };
    json!({
        "topic": topic,
        "title": message.title,
        "message": message.body,
        "priority": priority,
        "tags": [tag],
        "click": message.link,
    })
}

fn gotify(message: &Message) -> Value {
    let priority = match message.urgency {
        Urgency::Normal => 4,
        Urgency::Raised => 6,
        Urgency::High => 8,
    };
    json!({
        "title": message.title,
        "message": message.body,
        "priority": priority,
        "extras": { "client::notification": { "click": { "url": message.link } } },
    })
}

fn encode(value: &Value) -> Vec<u8> {
    serde_json::to_vec(value).expect("plain values")
}

#[cfg(test)]
mod tests {
    use super::super::plan::tests::{settings, target};
    use super::*;
    use crate::model::Timestamp;

    #[test]
    fn each_kind_of_target_gets_what_it_understands() {
        let message = Message::test(&target(), &settings(), Timestamp::from_millis(0));
        let secret = |text: &str| Secret(text.to_owned());
        let ntfy = Protocol::Ntfy { url: secret("https://ntfy.sh/my-topic/"), token: Some(secret("tk_1")) };
        let post = Post::new(&ntfy, &message, 1);
        let body: Value = serde_json::from_slice(&post.body).expect("JSON");
        assert_eq!((post.url.0.as_str(), &body["topic"]), ("https://ntfy.sh/", &json!("my-topic")));
        assert_eq!(post.headers, [("authorization", secret("Bearer tk_1"))]);
        let gotify = Protocol::Gotify { url: secret("https://push.example.com/"), token: secret("A1") };
        let post = Post::new(&gotify, &message, 1);
        assert_eq!(post.url.0, "https://push.example.com/message");
        assert_eq!(post.headers, [("x-gotify-key", secret("A1"))]);
        let webhook = Protocol::Webhook { url: secret("https://example.com/hook"), secret: None };
        let names: Vec<&str> = Post::new(&webhook, &message, 1).headers.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["webhook-id", "webhook-timestamp"]);
    }

    #[test]
    fn no_secret_is_in_the_debug_output() {
        let target = Protocol::Gotify { url: Secret("https://user:pw@h/".to_owned()), token: Secret("A1".to_owned()) };
        assert_eq!(format!("{target:?}"), "Gotify { url: [redacted], token: [redacted] }");
    }
}
