//! Full-text search over all sessions.

mod finding;
mod indexing;
mod syntax;

use serde_json::Value;

use crate::support::{Http, Reply, eventually};

/// Asks for a search with these parameters.
async fn ask(http: &Http, parameters: &[(&str, &str)]) -> Reply {
    let query: String = form_urlencoded::Serializer::new(String::new()).extend_pairs(parameters).finish();
    http.get(&format!("/api/copilot/search?{query}")).await
}

/// Searches once everything is indexed.
async fn search(http: &Http, parameters: &[(&str, &str)]) -> Value {
    eventually("a complete index", async || {
        let reply = ask(http, parameters).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        Some(reply.json()).filter(|found| found.get("indexing").is_none())
    })
    .await
}

/// Where the hits are: session and event.
fn places(found: &Value) -> Vec<(String, u64)> {
    let hits = found["hits"].as_array().expect("hits");
    let mut places: Vec<(String, u64)> = hits
        .iter()
        .map(|hit| (hit["sessionId"].as_str().expect("an id").to_owned(), hit["seq"].as_u64().expect("a number")))
        .collect();
    places.sort();
    places
}

/// The texts of what matched in a hit.
fn matched(hit: &Value) -> Vec<&str> {
    let parts = hit["snippet"].as_array().expect("parts");
    parts.iter().filter(|part| part["match"] == true).map(|part| part["text"].as_str().expect("text")).collect()
}

/// A message of one event.
fn message(text: &str) -> String {
    serde_json::json!({ "callback": "onEndMessage", "messageId": "m", "completeContent": text }).to_string()
}
