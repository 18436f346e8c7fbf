//! The real Claude Code, a process for each turn.

use serde_json::json;

use super::support::{Deck, errors, greeter, notices};
use crate::support::{callbacks, children_of, until_childless};

#[tokio::test]
async fn an_answer_and_its_reasoning_come_with_figures_of_the_turn() {
    let deck = Deck::claude().await;
    for stream in [true, false] {
        let session = deck.session_with(json!({ "options": { "stream": stream } })).await;
        let outcome = session.ask("@@reason").await;
        assert_eq!(outcome["verdict"], "succeeded", "{outcome} {:?}", session.log().await);
        assert_eq!(outcome["text"], "Reasoned answer: 42.");
        let usage = &outcome["usage"];
        assert_eq!((&usage["inputTokens"], &usage["outputTokens"]), (&json!(100), &json!(20)), "{usage}");
        assert!(usage["costUsd"].as_f64().is_some_and(|cost| cost > 0.0), "{usage}");
        let names = callbacks(&session.log().await);
        let count = |name: &str| names.iter().filter(|callback| *callback == name).count();
        assert_eq!((count("onEndReasoning"), count("onEndMessage"), count("onIdle")), (1, 1, 1), "{names:?}");
        assert_eq!(count("onUnknownEvent"), 0, "{names:?}");
        let again = session.ask("@@plain").await;
        assert_eq!(again["usage"]["costUsd"], usage["costUsd"], "of the turn, not of the session");
    }
    until_childless(deck.server.process_id()).await;
}

#[tokio::test]
async fn a_tool_runs_where_everything_is_allowed_and_the_session_goes_on_with_its_history() {
    let deck = Deck::claude().await;
    let session = deck.session("allow-all").await;
    let outcome =
        session.ask(r#"@@tool Bash {"command":"echo made > made.txt; cat made.txt","description":"x"}"#).await;
    assert_eq!(outcome["verdict"], "succeeded", "{outcome}");
    assert!(outcome["text"].as_str().expect("text").contains("Last tool result was: made"), "{outcome}");
    assert_eq!(std::fs::read_to_string(deck.server.work().join("made.txt")).expect("written"), "made\n");
    let first_turns = session.ask("@@history").await["text"].clone();
    let deck = deck.restarted().await;
    let session = session.seen_by(deck.server.http());
    let later_turns = session.ask("@@history").await["text"].clone();
    assert_ne!(first_turns, later_turns, "resumed after a restart of the server, with one more");
    assert!(deck.model.requests().last().expect("one")["messages"].to_string().contains("made.txt"));
}

#[tokio::test]
async fn nobody_can_be_asked_so_what_is_not_allowed_does_not_happen_and_a_notice_says_why() {
    let deck = Deck::claude().await;
    let session = deck.session("ask").await;
    let outcome = session.ask(r#"@@tool Bash {"command":"touch denied.txt","description":"x"}"#).await;
    assert_eq!(outcome["verdict"], "succeeded", "{outcome}");
    assert!(!deck.server.work().join("denied.txt").exists());
    assert_eq!(notices(&session, "unattended").await.len(), 1, "{:?}", session.log().await);
}

#[tokio::test]
async fn a_models_error_has_its_class_and_the_session_goes_on() {
    let deck = Deck::claude().await;
    let checks = [(400, "invalid-request"), (401, "auth"), (429, "rate-limit"), (500, "network")].map(
        async |(status, class)| {
            let session = deck.session("ask").await;
            assert_eq!(session.ask(&format!("@@error {status}")).await["verdict"], "failed");
            let errors = errors(&session).await;
            assert_eq!(errors.len(), 1, "{errors:?}");
            assert_eq!(errors[0]["errorClass"], class, "{errors:?}");
            assert!(errors[0]["sessionError"].as_str().expect("words").starts_with("Claude Code "), "{errors:?}");
            let names = callbacks(&session.log().await);
            assert!(!names.contains(&"onEndMessage".to_owned()), "an error is no answer: {names:?}");
            assert_eq!(session.ask("@@plain").await["verdict"], "succeeded", "{:?}", session.log().await);
        },
    );
    futures_util::future::join_all(checks).await;
}

#[tokio::test]
async fn an_interrupt_in_mid_turn_ends_the_process_and_keeps_what_was_said() {
    let deck = Deck::claude().await;
    let session = deck.session("ask").await;
    session.prompt("@@slow 1000 20").await;
    session.events_after(0).await.until(|event| event.data.contains("tick3")).await;
    assert_eq!(session.post("/interrupt", json!({})).await.status, 202);
    session.events_after(0).await.until(|event| event.callback() == "onIdle").await;
    let log = session.log().await;
    let said = log.iter().find_map(|(_, response)| response["completeContent"].as_str()).expect("a message");
    assert!(said.starts_with("tick0 tick1 "), "{said}");
    assert!(errors(&session).await.is_empty(), "whoever interrupts knows");
    until_childless(deck.server.process_id()).await;
    assert_eq!(session.ask("@@echo again").await["text"], "ECHO[again]");
}

#[tokio::test]
async fn a_process_that_somebody_else_ends_is_an_aborted_turn() {
    let deck = Deck::claude().await;
    let session = deck.session("ask").await;
    session.prompt("@@slow 1000 20").await;
    session.events_after(0).await.until(|event| event.data.contains("tick3")).await;
    let children = children_of(deck.server.process_id());
    assert_eq!(children.len(), 1, "{children:?}");
    crate::support::send_signal("TERM", children[0]);
    session.events_after(0).await.until(|event| event.callback() == "onIdle").await;
    let errors = errors(&session).await;
    assert_eq!((errors.len(), &errors[0]["errorClass"]), (1, &json!("aborted")), "{errors:?}");
    assert_eq!(session.ask("@@echo again").await["text"], "ECHO[again]");
}

#[tokio::test]
async fn a_tool_of_an_mcp_server_runs_where_a_rule_names_it() {
    let deck = Deck::claude().await;
    let rules = json!({ "mode": "ask", "rules": [{ "tool": "mcp__greeter__greet", "decision": "allow" }] });
    let session = deck.session_with(json!({ "permissionMode": rules, "options": { "mcpServers": greeter() } })).await;
    let outcome = session.ask("@@tool mcp__greeter__greet {}").await;
    assert_eq!(outcome["verdict"], "succeeded", "{outcome}");
    let log = session.get("/log").await.text().to_owned();
    assert!(log.contains("Nobody to greet"), "the server was asked, and nobody can be asked in turn: {log}");
}

#[tokio::test]
async fn a_system_prompt_a_model_and_an_effort_reach_the_model() {
    let deck = Deck::claude().await;
    let body = json!({ "model": "claude-sonnet-4-5", "effort": "low", "systemPrompt": "Speak like a pilot." });
    let session = deck.session_with(body).await;
    assert_eq!(session.ask("@@plain").await["verdict"], "succeeded");
    let requests = deck.model.requests();
    let request = requests.last().expect("one");
    assert_eq!(request["model"], "claude-sonnet-4-5");
    assert!(request["system"].to_string().contains("Speak like a pilot."), "{}", request["system"]);
}

#[tokio::test]
async fn doctor_checks_it_and_runs_the_canary() {
    let deck = Deck::claude().await;
    let doctor = deck.server.run(&["doctor"]).await;
    let canary = doctor.stdout.lines().find(|line| line.contains("claude: permission canary")).unwrap_or_default();
    assert!(canary.contains("asked 2 times, was denied, and did nothing"), "{}", doctor.stdout);
    assert!(deck.model.requests().is_empty(), "the canary has a model of its own");
}
