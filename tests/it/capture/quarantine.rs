//! What a failed conformance check switches off.

use serde_json::json;

use super::{Caller, server};
use crate::support::{CopilotServer, Program};

/// Stores a result in which one check failed that these modes rest on.
fn store_failure(copilot: &CopilotServer, version: &str, modes: &[&str]) {
    let check = json!({
        "id": "hold.waits", "area": "hold", "assumption": "A declared tool waits.", "why": "It is held.",
        "capabilities": modes, "passed": false, "seen": "it did not wait",
    });
    let at = "2026-01-01T00:00:00Z";
    let report = json!({
        "runtime": "copilot", "program": "copilot", "version": version, "at": at, "milliseconds": 1, "checks": [check],
    });
    let content = json!({ "history": [], "reports": { (format!("copilot {version}")): report } });
    std::fs::write(copilot.server.data().join("conformance.json"), content.to_string()).expect("written");
}

#[tokio::test]
async fn a_version_that_failed_is_not_used_for_what_rests_on_the_check() {
    let copilot = server(Program::Runtime, "").await;
    let mut caller = Caller::of(&copilot);
    assert_eq!(caller.ask("@@echo one").await.1, "fresh");
    store_failure(&copilot, "1.0.85", &["hold"]);
    let mut caller = Caller::of(&copilot);
    let (answer, origin) = caller.ask("@@echo two").await;
    assert_eq!((answer["content"].as_str(), origin.as_str()), (Some("ECHO[two]"), "destroyed"), "held no longer");
    store_failure(&copilot, "1.0.85", &["hold", "destroy"]);
    let mut caller = Caller::of(&copilot);
    caller.says("@@echo three");
    let reply = caller.post().await;
    assert_eq!(reply.status, 503, "{}", reply.text());
    assert!(reply.json()["error"]["message"].as_str().expect("a message").contains("hold.waits"), "{}", reply.text());
    store_failure(&copilot, "9.9.9", &["hold", "destroy"]);
    let mut caller = Caller::of(&copilot);
    assert_eq!(caller.ask("@@echo four").await.1, "fresh", "another version's failure is not this one's");
}
