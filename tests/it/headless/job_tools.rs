//! Job tools and the permission mode `folder` in headless turns, where nobody can be asked.

use serde_json::json;

use super::support::Deck;
use crate::support::{ServerBuilder, TestSession};

fn everywhere(builder: ServerBuilder) -> ServerBuilder {
    builder.config("[jobs]\ntools_in_all_sessions = true")
}

/// The tool is offered under the agent's name for it, runs without a permission, and is reported under its own name.
async fn check_report(deck: &Deck, name: &str) {
    let session = deck.session("deny").await;
    let outcome = session.ask(&format!(r#"@@tool {name} {{"reason":"it builds"}}"#)).await;
    // Claude Code lists the tools of servers in a message, and offers them when the model looks for them.
    assert!(deck.model.requests()[0].to_string().contains(name), "{name} is offered");
    let report = json!({ "tool": "job_boolean_true", "text": "it builds" });
    let activity = json!({ "tools": ["job_boolean_true"], "reports": [report] });
    assert_eq!(outcome["activity"], activity, "{outcome} {:#?}", session.log().await);
    assert!(outcome["text"].as_str().expect("text").contains("it builds"), "the agent got it back: {outcome}");
}

#[tokio::test]
async fn copilot_reports_over_mcp() {
    check_report(&Deck::copilot_as(everywhere).await, "flightdeck-job_boolean_true").await;
}

#[tokio::test]
async fn claude_reports_over_mcp() {
    check_report(&Deck::claude_as(everywhere).await, "mcp__flightdeck__job_boolean_true").await;
}

#[tokio::test]
async fn a_session_of_a_person_starts_no_server() {
    let deck = Deck::copilot().await;
    deck.session("deny").await.ask("@@plain").await;
    assert!(!deck.model.requests()[0]["tools"].to_string().contains("job_boolean_true"));
}

/// Files in the folder change, except for those of git; nothing else happens.
async fn check_folder(deck: &Deck) {
    let session: TestSession = deck.session("folder").await;
    let work = deck.server.work();
    std::fs::create_dir(work.join(".git")).expect("created");
    for (path, is_written) in [
        (work.join("inside.txt"), true),
        (work.join(".git/config"), false),
        (work.join(".flightdeck.toml"), false),
        (deck.server.folder().join("outside.txt"), false),
    ] {
        let outcome = session.ask(&format!("@@create {}", path.display())).await;
        assert_eq!(path.exists(), is_written, "{}: {outcome} {:#?}", path.display(), session.log().await);
    }
    session.ask("@@bash touch shell.txt").await;
    assert!(!work.join("shell.txt").exists());
}

#[tokio::test]
async fn copilot_keeps_to_its_folder() {
    check_folder(&Deck::copilot().await).await;
}

#[tokio::test]
async fn claude_keeps_to_its_folder() {
    check_folder(&Deck::claude().await).await;
}
