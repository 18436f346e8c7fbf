//! What sessions do: states, turns, prompts, the demo's plays.

use serde_json::json;

use crate::support::{Server, callbacks};

#[tokio::test]
async fn a_prompt_is_answered_and_the_turn_ends_with_agent_end_and_idle() {
    let server = Server::start().await;
    let session = server.session().await;
    let outcome = session.ask("hello").await;
    assert_eq!(outcome["verdict"], "succeeded");
    assert!(outcome["text"].as_str().expect("text").contains("demo"), "{outcome}");
    let names = callbacks(&session.log().await);
    let expected =
        ["onUserPrompt", "onNotice", "onAgentStart", "onStartMessage", "onEndMessage", "onAgentEnd", "onIdle"];
    assert_eq!(names, expected, "deltas are dropped when their block ends");
    assert_eq!(session.get("").await.json()["demo"], json!(true));
}
