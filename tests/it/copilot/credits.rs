//! AI credits: counted as the program reports them, and a budget of them that stops a turn.

use serde_json::{Value, json};

use crate::support::{CopilotServer, Program};

/// A credit and a half.
const BILLED: u64 = 1_500_000_000;

#[tokio::test]
async fn credits_are_counted_for_each_call_and_unknown_where_nobody_says() {
    for program in Program::BOTH {
        let copilot = CopilotServer::start(program).await;
        let session = copilot.session("allow-all").await;
        let free = session.ask("@@plain").await;
        assert_eq!(free["usage"]["credits"], Value::Null, "{program:?}: {free}");
        copilot.model.bill_each_call(BILLED);
        let billed = session.ask("@@bash true").await;
        assert_eq!(billed["usage"]["credits"], 3.0, "two calls: {program:?}: {billed}");
        let details = session.get("").await.json();
        assert_eq!(details["usage"]["credits"], 3.0, "{details}");
        let usage = copilot.server.http().get("/api/usage?by=session").await.json();
        assert_eq!(usage["total"]["usage"]["credits"], 3.0, "{usage}");
        assert_eq!(usage["total"]["unknown"]["credits"], 1, "{usage}");
    }
}

#[tokio::test]
async fn a_turn_is_stopped_at_its_budget_if_the_user_wants_that_and_finished_otherwise() {
    for program in Program::BOTH {
        let copilot = CopilotServer::start_with(program, "[budget]\nsession_credits = 1").await;
        copilot.model.bill_each_call(BILLED);
        let session = copilot.session("allow-all").await;
        assert_eq!(session.ask("@@bash true").await["verdict"], "succeeded", "only a notice");

        let budget = json!({ "credits": 1, "stopTurns": true });
        let session = copilot.session_with(json!({ "permissionMode": "allow-all", "budget": budget })).await;
        let last = session.ask("@@plain").await;
        assert_eq!(last["verdict"], "succeeded", "the call that reached the limit was the turn's last: {last}");

        let session = copilot.session_with(json!({ "permissionMode": "allow-all", "budget": budget })).await;
        let stopped = session.ask("@@bash sleep 1000").await;
        assert_eq!((&stopped["verdict"], &stopped["errorClass"]), (&json!("interrupted"), &json!("budget")));
        assert_eq!(stopped["retry"], "after-change", "{stopped}");
        let log = session.log().await;
        let error = log.iter().find(|(_, response)| response["errorClass"] == "budget").expect("an error");
        let sentence = error.1["sessionError"].as_str().expect("a sentence");
        assert!(sentence.contains("1.5 of 1 credit"), "{sentence}");
        let refused = session.post("/prompt", json!({ "text": "@@plain" })).await;
        assert_eq!(refused.error(409), "BudgetSpent");
    }
}
