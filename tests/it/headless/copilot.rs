//! The real Copilot CLI, a process for each turn.

use serde_json::{Value, json};

use super::support::{Deck, errors, greeter, notices};
use crate::support::{callbacks, children_of, until_childless};

fn balanced(names: &[String]) {
    let count = |name: &str| names.iter().filter(|callback| *callback == name).count();
    for block in ["Message", "Reasoning", "ToolExecution"] {
        assert_eq!(count(&format!("onStart{block}")), count(&format!("onEnd{block}")), "{names:?}");
    }
    assert_eq!(count("onAgentStart"), count("onAgentEnd"), "{names:?}");
}

#[tokio::test]
async fn an_answer_and_its_reasoning_come_the_same_with_and_without_streaming() {
    let deck = Deck::copilot().await;
    let mut seen = Vec::new();
    for stream in [true, false] {
        let session = deck.session_with(json!({ "options": { "stream": stream } })).await;
        let outcome = session.ask("@@reason").await;
        assert_eq!((&outcome["verdict"], &outcome["text"]), (&json!("succeeded"), &json!("Reasoned answer: 42.")));
        assert_eq!(outcome["usage"]["numTurns"], 1);
        assert_eq!(outcome["usage"]["costUsd"], Value::Null, "what it does not say is not 0");
        let names = callbacks(&session.log().await);
        balanced(&names);
        seen.push(names.into_iter().filter(|name| name.starts_with("onEnd")).collect::<Vec<_>>());
        assert!(errors(&session).await.is_empty());
    }
    assert_eq!(seen[0], seen[1]);
    assert!(seen[0].contains(&"onEndReasoning".to_owned()), "{seen:?}");
    until_childless(deck.server.process_id()).await;
}

#[tokio::test]
async fn a_tool_runs_where_everything_is_allowed_and_the_session_goes_on_with_its_history() {
    let deck = Deck::copilot().await;
    let session = deck.session_with(json!({ "permissionMode": "allow-all", "systemPrompt": "Be brief." })).await;
    let outcome = session.ask("@@bash echo made > made.txt; cat made.txt").await;
    assert_eq!(outcome["verdict"], "succeeded", "{outcome}");
    assert!(outcome["text"].as_str().expect("text").starts_with("Final answer after tools."), "{outcome}");
    assert_eq!(std::fs::read_to_string(deck.server.work().join("made.txt")).expect("written"), "made\n");
    assert_eq!(session.ask("@@history").await["text"], "user turns: 2");
    let requests = deck.model.requests();
    let with_system = |request: &Value| request["messages"].to_string().matches("<system>").count();
    assert_eq!(with_system(requests.last().expect("one")), 1, "said once, and kept by the agent");
    let deck = deck.restarted().await;
    let session = session.seen_by(deck.server.http());
    assert_eq!(session.ask("@@history").await["text"], "user turns: 3", "resumed after a restart of the server");
}

#[tokio::test]
async fn nobody_can_be_asked_so_what_is_not_allowed_does_not_happen_and_a_notice_says_why() {
    let deck = Deck::copilot().await;
    for mode in ["ask", "deny"] {
        let session = deck.session(mode).await;
        let outcome = session.ask("@@bash touch denied.txt").await;
        assert_eq!(outcome["verdict"], "succeeded", "{outcome}");
        assert!(!deck.server.work().join("denied.txt").exists());
        let told = notices(&session, "unattended").await;
        assert_eq!(told.len(), usize::from(mode == "ask"), "{told:?}");
    }
    let rule = json!({ "mode": "ask", "rules": [{ "tool": "shell", "decision": "allow" }] });
    let session = deck.session_with(json!({ "permissionMode": rule })).await;
    assert_eq!(session.ask("@@bash touch allowed.txt").await["verdict"], "succeeded");
    assert!(deck.server.work().join("allowed.txt").exists(), "{:?}", session.log().await);
    let body = json!({ "permissionMode": "deny" });
    assert_eq!(session.http.patch_json(&session.path(""), &body).await.status, 200);
    session.ask("@@bash touch later.txt").await;
    assert!(!deck.server.work().join("later.txt").exists(), "the next turn knows of the change");
}

#[tokio::test]
async fn a_models_error_has_its_class_and_the_session_goes_on() {
    let deck = Deck::copilot().await;
    let checks = [(400, "invalid-request"), (401, "auth")].map(async |(status, class)| {
        let session = deck.session("ask").await;
        assert_eq!(session.ask(&format!("@@error {status}")).await["verdict"], "failed");
        let errors = errors(&session).await;
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert_eq!(errors[0]["errorClass"], class, "{errors:?}");
        assert!(errors[0]["sessionError"].as_str().expect("words").starts_with("Copilot "), "{errors:?}");
        assert_eq!(session.ask("@@plain").await["verdict"], "succeeded");
    });
    futures_util::future::join_all(checks).await;
}

#[tokio::test]
async fn an_interrupt_in_mid_turn_ends_the_process_and_keeps_what_was_said() {
    let deck = Deck::copilot().await;
    let session = deck.session("ask").await;
    session.prompt("@@slow 1000 20").await;
    session.events_after(0).await.until(|event| event.data.contains("tick3")).await;
    assert_eq!(session.post("/interrupt", json!({})).await.status, 202);
    session.events_after(0).await.until(|event| event.callback() == "onIdle").await;
    let log = session.log().await;
    balanced(&callbacks(&log));
    let said = log.iter().find_map(|(_, response)| response["completeContent"].as_str()).expect("a message");
    assert!(said.starts_with("tick0 tick1 "), "{said}");
    assert!(errors(&session).await.is_empty(), "whoever interrupts knows");
    until_childless(deck.server.process_id()).await;
    assert_eq!(session.ask("@@echo again").await["text"], "ECHO[again]");
}

#[tokio::test]
async fn a_process_that_somebody_else_ends_is_an_aborted_turn() {
    let deck = Deck::copilot().await;
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
async fn options_that_nobody_knows_are_named_with_those_there_are() {
    let deck = Deck::copilot().await;
    let session = deck.session_with(json!({ "options": { "autopilott": true } })).await;
    assert_eq!(session.ask("@@plain").await["verdict"], "failed");
    let errors = errors(&session).await;
    let words = errors[0]["sessionError"].as_str().expect("words");
    assert!(words.contains("maxAutopilotContinues"), "{words}");
    assert_eq!(errors[0]["errorClass"], "configuration");
}

#[tokio::test]
async fn a_prompt_of_a_megabyte_goes_over_standard_input_and_one_that_is_too_long_is_refused() {
    let deck = Deck::copilot().await;
    let session = deck.session("ask").await;
    let long = format!("{}\n@@echo long", "word ".repeat(100_000));
    assert_eq!(session.ask(&long).await["text"], "ECHO[long]");
    let reply = session.post("/prompt", json!({ "text": "x".repeat(10 * 1024 * 1024), "wait": true })).await;
    assert_eq!(reply.status, 413);
    assert_eq!(session.ask("@@plain").await["verdict"], "succeeded");
}

#[tokio::test]
async fn doctor_checks_it_and_runs_the_canary() {
    let deck = Deck::copilot().await;
    let doctor = deck.server.run(&["doctor"]).await;
    let line = |name: &str| doctor.stdout.lines().find(|line| line.contains(name)).unwrap_or_default().to_owned();
    assert!(line("copilot-headless: flags").contains("all required flags"), "{}", doctor.stdout);
    let canary = line("copilot-headless: permission canary");
    assert!(canary.contains("was denied, and did nothing"), "{}", doctor.stdout);
}

#[tokio::test]
async fn a_tool_of_an_mcp_server_runs_where_a_rule_names_it_and_no_secret_is_on_a_command_line() {
    let deck = Deck::copilot().await;
    let rules = json!({ "mode": "ask", "rules": [{ "tool": "greeter-greet", "decision": "allow" }] });
    let session = deck.session_with(json!({ "permissionMode": rules, "options": { "mcpServers": greeter() } })).await;
    let outcome = session.ask("@@tool greeter-greet {}").await;
    assert_eq!(outcome["verdict"], "succeeded", "{outcome}");
    let log = session.get("/log").await.text().to_owned();
    assert!(log.contains("Nobody to greet"), "the server was asked, and nobody can be asked in turn: {log}");
    assert!(notices(&session, "unattended").await.is_empty());
    let other = deck.session_with(json!({ "options": { "mcpServers": greeter() } })).await;
    other.ask("@@tool greeter-greet {}").await;
    assert!(!other.get("/log").await.text().contains("Nobody to greet"), "without the rule it does not run");
}

#[tokio::test]
async fn autopilot_goes_on_by_itself_as_often_as_it_may() {
    let deck = Deck::copilot().await;
    let options = json!({ "autopilot": true, "maxAutopilotContinues": 2 });
    let session = deck.session_with(json!({ "permissionMode": "allow-all", "options": options })).await;
    assert_eq!(session.ask("@@plain").await["verdict"], "succeeded");
    let names = callbacks(&session.log().await);
    balanced(&names);
    let steps = names.iter().filter(|name| *name == "onAgentStart").count();
    assert!((2..=3).contains(&steps), "{names:?}");
    assert!(!names.contains(&"onGeneratedUserPrompt".to_owned()), "the program's own prompts are empty: {names:?}");
}

#[tokio::test]
async fn another_model_is_used_from_the_next_turn_on() {
    let deck = Deck::copilot_as(|builder| builder.config("[agents.copilot]\nmodels = [\"other-model\"]\n")).await;
    let session = deck.session("ask").await;
    session.ask("@@plain").await;
    let reply = session.http.patch_json(&session.path(""), &json!({ "model": "other-model", "effort": "low" })).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(session.ask("@@plain").await["verdict"], "succeeded");
    let models: Vec<Value> = deck.model.requests().iter().map(|request| request["model"].clone()).collect();
    assert_eq!((models.first(), models.last()), (Some(&json!("scripted-model")), Some(&json!("other-model"))));
}

#[tokio::test]
async fn credits_of_a_turn_come_from_the_agents_own_record() {
    let deck = Deck::copilot().await;
    let session = deck.session("allow-all").await;
    assert_eq!(session.ask("@@plain").await["usage"]["credits"], Value::Null);
    deck.model.bill_each_call(1_500_000_000);
    let billed = session.ask("@@bash true").await;
    assert_eq!(billed["usage"]["credits"], 3.0, "two calls: {billed}");
    assert_eq!(session.ask("@@plain").await["usage"]["credits"], 1.5, "only this turn's");
    assert_eq!(session.get("").await.json()["usage"]["credits"], 4.5);
}
