//! Permissions and questions: asked, answered once, decided by mode and rules, closed when nobody can answer.

use serde_json::{Value, json};

use crate::support::{Server, SseEvent, TestSession, a_moment, callbacks, page};

async fn tool_end(session: &TestSession) -> Value {
    let log = session.log().await;
    log.iter().rev().find(|(_, response)| response["callback"] == "onEndToolExecution").expect("an end").1.clone()
}

#[tokio::test]
async fn a_person_is_asked_and_the_decision_reaches_the_agent() {
    let server = Server::start().await;
    for (decision, allowed) in [("allow-once", true), ("deny", false)] {
        let session = server.session().await;
        let request = session.prompt_and_get_request("permission").await;
        assert_eq!(session.state().await, "waiting");
        let details = session.get("").await.json();
        assert_eq!((&details["pending"], &details["requests"][0]["requestId"]), (&json!(1), &json!(request)));
        let reply = session.post(&format!("/permission/{request}"), json!({ "decision": decision })).await;
        assert_eq!(reply.json()["by"], "api");
        session.events_after(0).await.until_callback("onIdle").await;
        let end = tool_end(&session).await;
        assert_eq!(end.get("result").is_some(), allowed, "{end}");
        assert_eq!(end["error"]["code"] == "denied", !allowed, "{end}");
        let log = session.log().await;
        let (_, answered) =
            log.iter().find(|(_, response)| response["callback"] == "onPermissionAnswered").expect("one");
        assert_eq!((&answered["decision"], &answered["by"]), (&json!(decision), &json!("api")));
    }
}

#[tokio::test]
async fn the_state_is_waiting_while_a_person_is_needed_and_the_log_says_so() {
    let server = Server::start().await;
    let session = server.session().await;
    let request = session.prompt_and_get_request("permission").await;
    session.post(&format!("/permission/{request}"), json!({ "decision": "deny" })).await;
    let events = session.events_after(0).await.until_callback("onIdle").await;
    let states: Vec<Value> = events
        .iter()
        .map(SseEvent::json)
        .filter(|event| event["callback"] == "onStateChanged")
        .map(|event| event["state"].clone())
        .collect();
    assert_eq!(states, [json!("waiting"), json!("working")]);
}

#[tokio::test]
async fn always_allowing_a_tool_asks_no_more_in_this_session_even_after_a_restart() {
    let server = Server::start().await;
    let session = server.session().await;
    let request = session.prompt_and_get_request("permission").await;
    session.post(&format!("/permission/{request}"), json!({ "decision": "allow-always" })).await;
    session.events_after(0).await.until_callback("onIdle").await;
    let server = server.restart().await;
    let session = session.seen_by(server.http());
    assert_eq!(session.ask("permission").await["verdict"], "succeeded");
    let asked = callbacks(&session.log().await).iter().filter(|name| *name == "onPermissionRequested").count();
    assert_eq!(asked, 1);
    let other = server.session().await;
    other.prompt_and_get_request("permission").await;
}

#[tokio::test]
async fn an_answer_for_good_that_does_not_fit_the_request_is_refused_and_the_request_stays_open() {
    let server = Server::start().await;
    let session = server.session().await;
    let request = session.prompt_and_get_request("permission").await;
    for (body, error) in [
        (json!({ "decision": "allow-always", "covers": "prefix" }), "InvalidJson"),
        (json!({ "decision": "allow-always", "prefix": "touch" }), "InvalidJson"),
        (json!({ "decision": "allow-always", "covers": "everything" }), "InvalidJson"),
        (json!({ "decision": "allow-always", "covers": "prefix", "prefix": "rm" }), "NotForGood"),
        (json!({ "decision": "allow-always", "covers": "prefix", "prefix": "" }), "NotForGood"),
    ] {
        assert_eq!(session.post(&format!("/permission/{request}"), body.clone()).await.error(400), error, "{body}");
    }
    assert_eq!(session.get("").await.json()["requests"][0]["requestId"], request);
}

#[tokio::test]
async fn rules_that_are_changed_count_for_requests_that_are_open() {
    let server = Server::start().await;
    let session = server.session().await;
    let request = session.prompt_and_get_request("permission").await;
    let body = json!({ "permissionMode": "allow-all" });
    let changed = session.http.patch_json(&session.path(""), &body).await;
    assert_eq!(changed.status, 200, "{}", changed.text());
    session.events_after(0).await.until_callback("onIdle").await;
    assert!(tool_end(&session).await.get("result").is_some());
    let answer = session.post(&format!("/permission/{request}"), json!({ "decision": "deny" })).await;
    assert_eq!(answer.error(409), "AlreadyAnswered");
    assert!(answer.text().contains("by mode"), "{}", answer.text());
}

#[tokio::test]
async fn a_request_is_answered_exactly_once_and_the_others_hear_who_was_first() {
    let server = Server::start().await;
    let session = server.session().await;
    let request = session.prompt_and_get_request("permission").await;
    let path = format!("/permission/{request}");
    let answers = (0..10).map(|number| {
        let decision = if number % 2 == 0 { "deny" } else { "allow-once" };
        session.post(&path, json!({ "decision": decision }))
    });
    let replies = futures_util::future::join_all(answers).await;
    let (winners, losers): (Vec<_>, Vec<_>) = replies.iter().partition(|reply| reply.status == 200);
    assert_eq!((winners.len(), losers.len()), (1, 9));
    let decision = winners[0].json()["decision"].as_str().expect("a word").to_owned();
    for loser in losers {
        assert_eq!(loser.error(409), "AlreadyAnswered");
        let message = loser.json()["message"].as_str().expect("a sentence").to_owned();
        assert!(message.contains(&decision) && message.contains("api"), "{message}");
    }
    session.events_after(0).await.until_callback("onIdle").await;
    let answered = callbacks(&session.log().await).iter().filter(|name| *name == "onPermissionAnswered").count();
    assert_eq!(answered, 1);
    let server = server.restart().await;
    let late = session.seen_by(server.http()).post(&path, json!({ "decision": "deny" })).await;
    assert_eq!(late.error(409), "AlreadyAnswered");
}

#[tokio::test]
async fn a_question_is_answered_with_text() {
    let server = Server::start().await;
    let session = server.session().await;
    let request = session.prompt_and_get_request("question").await;
    let wrong = session.post(&format!("/permission/{request}"), json!({ "decision": "deny" })).await;
    assert_eq!(wrong.error(400), "WrongKindOfAnswer");
    session.post(&format!("/answer/{request}"), json!({ "answer": "blue & green" })).await;
    let events = session.events_after(0).await.until_callback("onIdle").await;
    assert!(crate::support::message_text(&events).contains("blue & green"));
    assert_eq!(session.post("/answer/request-99", json!({ "answer": "" })).await.error(404), "RequestNotFound");
}

#[tokio::test]
async fn modes_decide_without_asking() {
    let server = Server::start().await;
    for (mode, allowed) in [(json!("allow-all"), true), (json!("deny"), false)] {
        let body = json!({ "runtime": "demo", "permissionMode": mode });
        let session = TestSession::start_with(server.http(), body).await;
        session.ask("permission").await;
        assert_eq!(tool_end(&session).await.get("result").is_some(), allowed);
        let names = callbacks(&session.log().await);
        assert_eq!(names.contains(&"onPermissionAnswered".to_owned()), !allowed, "a denial is told: {names:?}");
        assert_eq!(names.contains(&"onPermissionAllowed".to_owned()), allowed, "so is what is allowed: {names:?}");
    }
}

#[tokio::test]
async fn rules_per_tool_go_before_the_mode_and_a_sessions_own_before_the_configured() {
    let config = "[permissions]\ndefault = \"allow-all\"\nrules = [{ tool = \"sh*\", decision = \"deny\" }]";
    let server = Server::builder().config(config).start().await;
    let session = server.session().await;
    assert_eq!(session.get("").await.json()["permissionMode"], "allow-all");
    session.ask("permission").await;
    assert_eq!(tool_end(&session).await["error"]["code"], "denied");
    let own = json!({ "mode": "deny", "rules": [{ "tool": "shell", "decision": "allow" }] });
    let session = TestSession::start_with(server.http(), json!({ "runtime": "demo", "permissionMode": own })).await;
    session.ask("permission").await;
    assert!(tool_end(&session).await.get("result").is_some());
}

#[tokio::test]
async fn what_is_said_with_a_decision_is_in_the_log_and_in_the_export() {
    let server = Server::start().await;
    let session = server.session().await;
    let request = session.prompt_and_get_request("permission").await;
    let answer = json!({ "decision": "deny", "feedback": "Use a branch." });
    assert_eq!(session.post(&format!("/permission/{request}"), answer).await.status, 200);
    session.events_after(0).await.until_callback("onIdle").await;
    let log = session.log().await;
    let (_, answered) = log.iter().find(|(_, response)| response["callback"] == "onPermissionAnswered").expect("one");
    assert_eq!((&answered["decision"], &answered["feedback"]), (&json!("deny"), &json!("Use a branch.")));
    let markdown = session.get("/export?format=md").await.text().to_owned();
    assert!(markdown.contains("> Use a branch."), "{markdown}");
}

#[tokio::test]
async fn an_interrupt_cancels_open_requests() {
    let server = Server::start().await;
    let session = server.session().await;
    let request = session.prompt_and_get_request("permission").await;
    session.post("/interrupt", json!({})).await;
    session.events_after(0).await.until_callback("onIdle").await;
    let log = session.log().await;
    let (_, answered) = log.iter().find(|(_, response)| response["callback"] == "onPermissionAnswered").expect("one");
    assert_eq!((&answered["decision"], &answered["by"]), (&json!("cancelled"), &json!("interrupt")));
    assert_eq!(tool_end(&session).await["error"]["code"], "interrupted");
    let late = session.post(&format!("/permission/{request}"), json!({ "decision": "allow-once" })).await;
    assert_eq!(late.error(409), "AlreadyAnswered");
    assert_eq!(session.state().await, "ready");
}

#[tokio::test]
async fn a_request_waits_while_somebody_can_answer_and_is_denied_when_nobody_can() {
    let server = Server::builder().config("[permissions]\nunattended_timeout = \"300ms\"").start().await;
    let watched = server.session().await;
    let mut viewer = watched.http.events(&watched.path("/events?after=0&answers=true")).await;
    watched.prompt("permission").await;
    viewer.until_callback("onPermissionRequested").await;
    let of_a_person = TestSession::start_with(page(&server).await, json!({ "runtime": "demo" })).await;
    of_a_person.prompt_and_get_request("permission").await;
    // Asked later, and its reader only reads: its time is over while the others still wait.
    let alone = server.session().await;
    let mut reader = alone.events_after(0).await;
    assert_eq!(alone.ask("permission").await["verdict"], "succeeded");
    assert_eq!(alone.ask("question").await["verdict"], "succeeded");
    let log = alone.log().await;
    let by: Vec<Value> = log
        .iter()
        .filter(|(_, response)| response.get("by").is_some())
        .map(|(_, response)| response["by"].clone())
        .collect();
    assert_eq!(by, [json!("timeout"), json!("timeout")]);
    let told: Vec<String> = log
        .iter()
        .filter(|(_, response)| response["kind"] == "unattended")
        .map(|(_, response)| response["message"].as_str().expect("text").to_owned())
        .collect();
    assert_eq!(told.len(), 4, "at once and at the end, for each: {told:?}");
    assert!(told[0].starts_with("Nobody who could answer a request is attached."), "{told:?}");
    reader.until_callback("onIdle").await;
    assert_eq!((watched.state().await, of_a_person.state().await), ("waiting".to_owned(), "waiting".to_owned()));
    drop(viewer);
    while watched.state().await == "waiting" {
        a_moment().await;
    }
    assert!(callbacks(&watched.log().await).contains(&"onPermissionAnswered".to_owned()));
}

#[tokio::test]
async fn a_client_of_the_portal_chooses_the_permission_mode() {
    let server = Server::builder().config("[portal]\npermissions = \"deny\"").start().await;
    let http = server.http();
    for (query, mode) in [("", "deny"), ("?permissions=allow-all", "allow-all"), ("?permissions=ask&_=1", "ask")] {
        let started = http.post(&format!("/api/copilot/session/start/demo{query}"), "").await.json();
        let id = started["sessionId"].as_str().expect("an id");
        let details = http.get(&format!("/api/copilot/session/{id}")).await.json();
        assert_eq!(details["permissionMode"], mode, "{query}");
    }
    let wrong = http.post("/api/copilot/session/start/demo?permissions=sometimes", "").await;
    assert_eq!(wrong.error(400), "InvalidQuery");
    assert!(wrong.text().contains("ask, allow-all, deny or folder"), "{}", wrong.text());
}
