//! What agents wrote, as the pages get it.

mod blocks;
mod copilot;
mod hostile;

use serde_json::Value;

use crate::support::TestSession;

/// The numbers of a session's events with this callback.
async fn numbers(session: &TestSession, callback: &str) -> Vec<u64> {
    let log = session.log().await;
    log.iter().filter(|(_, response)| response["callback"] == callback).map(|(seq, _)| *seq).collect()
}

/// The HTML of the last event with this callback.
async fn html_of_last(session: &TestSession, callback: &str) -> String {
    let seq = *numbers(session, callback).await.last().expect("one");
    html(session, seq, "").await
}

async fn html(session: &TestSession, seq: u64, query: &str) -> String {
    let reply = session.get(&format!("/block/{seq}.html{query}")).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply.text().to_owned()
}

fn check(html: &str, there: &[&str], absent: &[&str]) {
    for part in there {
        assert!(html.contains(part), "{part} is missing in {html}");
    }
    for part in absent {
        assert!(!html.contains(part), "{part} is in {html}");
    }
}

fn text(value: &Value) -> String {
    value.as_str().expect("text").to_owned()
}
