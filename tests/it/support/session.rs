//! A session as tests use it.

use flightdeck::model::NoticeKind;
use serde_json::{Value, json};

use super::{EventStream, Http, Reply, SseEvent};

/// A session and a client that may use it.
pub struct TestSession {
    pub http: Http,
    pub id: String,
}

impl TestSession {
    /// Starts a session on the demo, without a folder.
    pub async fn start(http: Http) -> Self {
        Self::start_with(http, json!({ "runtime": "demo" })).await
    }

    pub async fn start_with(http: Http, body: Value) -> Self {
        let reply = http.post_json("/api/copilot/session", &body).await;
        assert_eq!(reply.status, 201, "{}", reply.text());
        let id = reply.json()["sessionId"].as_str().expect("an id").to_owned();
        Self { http, id }
    }

    /// The same session, seen by another client.
    pub fn seen_by(&self, http: Http) -> Self {
        Self { http, id: self.id.clone() }
    }

    pub fn path(&self, rest: &str) -> String {
        format!("/api/copilot/session/{}{rest}", self.id)
    }

    pub async fn get(&self, rest: &str) -> Reply {
        self.http.get(&self.path(rest)).await
    }

    pub async fn post(&self, rest: &str, body: Value) -> Reply {
        self.http.post_json(&self.path(rest), &body).await
    }

    /// Sends a prompt and does not wait for its turn.
    pub async fn prompt(&self, text: &str) -> Value {
        let reply = self.post("/prompt", json!({ "text": text })).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        reply.json()
    }

    /// Sends a prompt and waits for the end of its turn.
    pub async fn ask(&self, text: &str) -> Value {
        let reply = self.post("/prompt", json!({ "text": text, "wait": true })).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        reply.json()
    }

    pub async fn events_after(&self, after: u64) -> EventStream {
        self.http.events(&self.path(&format!("/events?after={after}"))).await
    }

    /// The ids of the prompts that wait, in order.
    pub async fn queued(&self) -> Vec<String> {
        let details = self.get("").await.json();
        let queued = details["queuedPrompts"].as_array().expect("a list").iter();
        queued.map(|prompt| prompt["promptId"].as_str().expect("an id").to_owned()).collect()
    }

    pub async fn state(&self) -> String {
        self.get("").await.json()["state"].as_str().expect("a state").to_owned()
    }

    /// The whole stored log: number and response.
    pub async fn log(&self) -> Vec<(u64, Value)> {
        let (mut events, mut after) = (Vec::new(), 0);
        loop {
            let page = self.get(&format!("/log?after={after}")).await.json();
            for event in page["events"].as_array().expect("events") {
                assert_notice_is_known(&event["response"]);
                events.push((event["seq"].as_u64().expect("a number"), event["response"].clone()));
            }
            match page["next"].as_u64() {
                Some(next) => after = next,
                None => return events,
            }
        }
    }

    /// Prompts with something that needs a person, and gives the id of the request.
    pub async fn prompt_and_get_request(&self, text: &str) -> String {
        let after = self.get("").await.json()["lastSeq"].as_u64().expect("a number");
        self.prompt(text).await;
        let events = self
            .events_after(after)
            .await
            .until(|event| matches!(event.callback().as_str(), "onPermissionRequested" | "onQuestionAsked"))
            .await;
        events.last().expect("one").json()["requestId"].as_str().expect("an id").to_owned()
    }
}

/// A notice has one of the documented kinds.
pub fn assert_notice_is_known(response: &Value) {
    if response["callback"] == "onNotice" {
        let kind = response["kind"].as_str().expect("a kind");
        assert!(kind.parse::<NoticeKind>().is_ok(), "{response}");
    }
}

/// The callbacks of a log, in order.
pub fn callbacks(log: &[(u64, Value)]) -> Vec<String> {
    log.iter().map(|(_, response)| response["callback"].as_str().unwrap_or("sessionError").to_owned()).collect()
}

/// What the deltas of one message say, put together; its end, when there is one, replaces them.
pub fn message_text<'a>(events: impl IntoIterator<Item = &'a SseEvent>) -> String {
    let mut text = String::new();
    for event in events {
        let json = event.json();
        match json["callback"].as_str() {
            Some("onMessage") => text.push_str(json["delta"].as_str().expect("text")),
            Some("onEndMessage") => json["completeContent"].as_str().expect("text").clone_into(&mut text),
            _ => {}
        }
    }
    text
}
