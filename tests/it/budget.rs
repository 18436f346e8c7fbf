//! Budgets: told once, refused where that is wanted, and raised again.

use serde_json::{Value, json};

use crate::support::{Server, TestSession};

/// The notices of a session about budgets.
async fn told(session: &TestSession) -> Vec<String> {
    let notices = session.log().await.into_iter().filter(|(_, response)| response["kind"] == "budget");
    notices.map(|(_, response)| response["message"].as_str().expect("a sentence").to_owned()).collect()
}

async fn started(server: &Server, budget: Value) -> TestSession {
    TestSession::start_with(server.http(), json!({ "runtime": "demo", "budget": budget })).await
}

/// Sends a prompt that must be refused; gives the sentence.
async fn refused(session: &TestSession, text: &str) -> String {
    let reply = session.post("/prompt", json!({ "text": text })).await;
    assert_eq!(reply.error(409), "BudgetSpent");
    reply.json()["message"].as_str().expect("a sentence").to_owned()
}

#[tokio::test]
async fn nearness_and_the_limit_are_each_told_once_also_across_a_restart() {
    let server = Server::builder().config("[budget]\nsession_tokens = 100").start().await;
    let session = server.session().await;
    session.ask("usage 70").await;
    assert_eq!(told(&session).await, Vec::<String>::new());
    session.ask("usage 6 4").await;
    let near = told(&session).await;
    assert_eq!(near.len(), 1, "{near:?}");
    assert!(near[0].contains("80 of 100 tokens") && near[0].contains("budget.session_tokens"), "{near:?}");
    session.ask("usage 5").await;
    assert_eq!(told(&session).await.len(), 1, "not at every turn");
    let server = server.restart().await;
    let session = session.seen_by(server.http());
    session.ask("usage 5").await;
    assert_eq!(told(&session).await.len(), 1, "nor after a restart");
    session.ask("usage 10").await;
    session.ask("usage 10").await;
    let both = told(&session).await;
    assert_eq!(both.len(), 2, "{both:?}");
    assert!(both[1].contains("100 of 100 tokens") && both[1].contains("budget.refuse"), "{both:?}");
    assert_eq!(session.ask("hello").await["verdict"], "succeeded", "without `refuse` it only warns");
}

#[tokio::test]
async fn warn_at_says_when_a_limit_is_near() {
    let config = "[budget]\nsession_premium_requests = 10\nwarn_at = 0.5";
    let server = Server::builder().config(config).start().await;
    let session = server.session().await;
    session.ask("usage 1 1 4.9").await;
    assert_eq!(told(&session).await.len(), 0);
    session.ask("usage 1 1 0.1").await;
    assert_eq!(told(&session).await.len(), 1);
}

#[tokio::test]
async fn a_spent_session_refuses_prompts_stays_readable_and_goes_on_when_the_limit_is_raised() {
    let server = Server::builder().config("[budget]\nsession_tokens = 100\nrefuse = true").start().await;
    let session = server.session().await;
    session.ask("usage 120").await;
    let before = session.log().await.len();
    let sentence = refused(&session, "hello").await;
    for word in ["120 of 100 tokens", "budget.session_tokens", "config set", "new session"] {
        assert!(sentence.contains(word), "{word}: {sentence}");
    }
    let portal = server.http().post(&session.path("/query"), "hello").await;
    assert_eq!(portal.error(409), "BudgetSpent");
    assert_eq!(session.log().await.len(), before, "a refused prompt leaves nothing");
    assert_eq!(session.state().await, "ready");
    assert_eq!(server.session().await.ask("hello").await["verdict"], "succeeded", "others go on");
    let raised = server.builder_again().config("[budget]\nsession_tokens = 1000\nrefuse = true");
    let server = server.restart_as(raised).await;
    let session = session.seen_by(server.http());
    assert_eq!(session.ask("hello").await["verdict"], "succeeded");
}

#[tokio::test]
async fn the_budget_of_a_day_is_shared_and_outlives_restarts_and_sessions() {
    let config = "[budget]\nday_cost_usd = 2.0\nrefuse = true";
    let server = Server::builder().config(config).start().await;
    let (one, two) = (server.session().await, server.session().await);
    one.ask("usage - - - 1.5").await;
    two.ask("usage - - - 0.3").await;
    let near = told(&two).await;
    assert!(near.len() == 1 && near[0].contains("Today's sessions have used $1.80 of $2.00"), "{near:?}");
    assert_eq!(told(&one).await.len(), 0);
    server.http().delete(&one.path("")).await;
    let server = server.restart().await;
    let two = two.seen_by(server.http());
    two.ask("usage - - - 0.2").await;
    let sentence = refused(&two, "hello").await;
    assert!(sentence.contains("budget.day_cost_usd") && sentence.contains("midnight UTC"), "{sentence}");
    let another = server.session().await;
    refused(&another, "hello").await;
}

#[tokio::test]
async fn a_queued_prompt_is_refused_when_its_turn_comes() {
    let server = Server::builder().config("[budget]\nday_tokens = 100\nrefuse = true").start().await;
    let session = server.session().await;
    let request = session.prompt_and_get_request("permission").await;
    session.prompt("hello").await;
    // Another session uses what is left while the prompt waits.
    server.session().await.ask("usage 100").await;
    let after = session.get("").await.json()["lastSeq"].as_u64().expect("a number");
    let answered = session.post(&format!("/permission/{request}"), json!({ "decision": "deny" })).await;
    assert_eq!(answered.status, 200, "{}", answered.text());
    let events = session.events_after(after).await.until(|event| event.data.contains("sessionError")).await;
    let error = events.last().expect("one").json()["sessionError"].as_str().expect("a sentence").to_owned();
    assert!(error.contains("budget.day_tokens"), "{error}");
    let outcome = session.http.get(&session.path("")).await.json();
    assert_eq!((&outcome["queuedPrompts"], &outcome["state"]), (&json!([]), &json!("ready")));
}

#[tokio::test]
async fn a_session_may_have_a_lower_budget_of_its_own() {
    let server = Server::builder().config("[budget]\nsession_tokens = 100").start().await;
    let generous = started(&server, json!({ "tokens": 5000 })).await;
    let details = generous.get("").await.json();
    let expected = json!({
        "tokens": 100, "premiumRequests": null, "credits": null, "costUsd": null, "refuse": false, "stopTurns": false,
    });
    assert_eq!(details["budget"], expected);
    let strict = started(&server, json!({ "tokens": 10, "refuse": true })).await;
    strict.ask("usage 10").await;
    let sentence = refused(&strict, "hello").await;
    assert!(sentence.contains("own budget"), "{sentence}");
    let raised = strict.http.patch_json(&strict.path(""), &json!({ "budget": { "tokens": 50 } })).await;
    assert_eq!(raised.json()["budget"]["tokens"], 50, "{}", raised.text());
    let server = server.restart().await;
    let strict = strict.seen_by(server.http());
    assert_eq!(strict.get("").await.json()["budget"]["tokens"], 50, "it is kept");
    assert_eq!(strict.ask("hello").await["verdict"], "succeeded");
}

#[tokio::test]
async fn a_budget_that_will_not_do_is_refused_before_anything_is_made() {
    let server = Server::start().await;
    for (budget, name, word) in [
        (json!({ "tokens": 0 }), "InvalidBudget", "above 0"),
        (json!({ "costUsd": -1 }), "InvalidBudget", "money"),
        (json!({ "token": 5 }), "InvalidJson", "token"),
        (json!({ "tokens": "many" }), "InvalidJson", "many"),
    ] {
        let body = json!({ "runtime": "demo", "budget": budget });
        let reply = server.http().post_json("/api/copilot/session", &body).await;
        assert_eq!(reply.error(400), name);
        assert!(reply.text().contains(word), "{}", reply.text());
    }
    assert_eq!(server.http().get("/api/copilot/session").await.json()["sessions"], json!([]));
}

#[tokio::test]
async fn an_agent_that_does_not_say_what_is_limited_is_named_once() {
    let server = Server::builder().config("[budget]\nsession_cost_usd = 1.0\nrefuse = true").start().await;
    let session = server.session().await;
    session.ask("usage 10").await;
    session.ask("usage 10").await;
    let notices = told(&session).await;
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert!(notices[0].contains("does not report how much money"), "{notices:?}");
}

#[tokio::test]
async fn a_configured_budget_that_will_not_do_is_refused_at_the_start() {
    let folder = tempfile::tempdir().expect("a folder");
    for (config, key) in [
        ("[budget]\nwarn_at = 80", "budget.warn_at"),
        ("[budget]\nday_cost_usd = -1.0", "budget.day_cost_usd"),
        ("[budget]\nday_tokens = 1.5", "budget.day_tokens"),
    ] {
        let ended = Server::builder().config(config).run(folder.path(), &["config"]).await;
        assert!(!ended.success && ended.stderr.contains(key), "{}", ended.stderr);
    }
    let variable = Server::builder().variable("FLIGHTDECK_BUDGET_DAY_COST_USD", "2.5");
    let ended = variable.run(folder.path(), &["config"]).await;
    assert!(ended.stdout.contains("budget.day_cost_usd = 2.5"), "{}{}", ended.stdout, ended.stderr);
}
