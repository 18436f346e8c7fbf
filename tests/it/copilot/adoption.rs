//! Sessions that Copilot has on disk become ours.

use serde_json::{Value, json};

use crate::support::{CopilotServer, Program, TestSession, callbacks};

async fn listed(copilot: &CopilotServer) -> Vec<Value> {
    let answer = copilot.server.http().get("/api/agent-sessions").await.json();
    assert_eq!(answer["problems"], json!([]), "{answer}");
    answer["sessions"].as_array().expect("sessions").clone()
}

/// The first session in the list. The agent writes it down a moment after its first turn.
async fn first_listed(copilot: &CopilotServer) -> Value {
    loop {
        if let Some(first) = listed(copilot).await.first() {
            return first.clone();
        }
    }
}

#[tokio::test]
async fn a_session_begun_elsewhere_is_adopted_with_its_history_and_goes_on() {
    for program in Program::BOTH {
        let copilot = CopilotServer::start(program).await;
        let http = copilot.server.http();
        let elsewhere = copilot.session("allow-all").await;
        elsewhere.ask("@@reason").await;
        elsewhere.ask("@@bash echo out").await;
        let ours = first_listed(&copilot).await;
        assert_eq!(ours["adoptedAs"], elsewhere.id, "{program:?}: what is ours already says so");
        assert_eq!(http.delete(&elsewhere.path("")).await.status, 204);
        let found = listed(&copilot).await;
        assert_eq!((found.len(), &found[0]["adoptedAs"]), (1, &Value::Null), "{found:?}");
        assert_eq!(found[0]["workingDirectory"], json!(copilot.server.work().canonicalize().expect("there")));

        let id = found[0]["agentSessionId"].as_str().expect("an id");
        let path = format!("/api/agent-sessions/copilot/{id}/adopt");
        let adopted = http.post_json(&path, &json!({})).await;
        assert_eq!(adopted.status, 201, "{}", adopted.text());
        let adopted =
            TestSession { http: http.clone(), id: adopted.json()["sessionId"].as_str().expect("an id").to_owned() };
        let log = adopted.log().await;
        let names = callbacks(&log);
        for (name, count) in [("onUserPrompt", 2), ("onEndReasoning", 1), ("onEndToolExecution", 1), ("onIdle", 2)] {
            assert_eq!(
                names.iter().filter(|callback| *callback == name).count(),
                count,
                "{program:?} {name} {names:?}"
            );
        }
        assert!(log.iter().any(|(_, response)| response["completeContent"] == "Reasoned answer: 42."), "{log:?}");
        let again = http.post_json(&path, &json!({})).await.json();
        assert_eq!(again["sessionId"], adopted.id, "nobody drives a session twice");
        let answer = adopted.ask("@@history").await;
        assert_eq!(answer["text"], "user turns: 3", "{program:?} {answer}");
    }
}

#[tokio::test]
async fn what_cannot_be_adopted_is_said() {
    let copilot = CopilotServer::start(Program::Runtime).await;
    let http = copilot.server.http();
    for (path, status, name) in [
        ("/api/agent-sessions/copilot/nope/adopt", 404, "AgentSessionNotFound"),
        ("/api/agent-sessions/nope/x/adopt", 404, "RuntimeNotFound"),
        ("/api/agent-sessions/demo/x/adopt", 409, "NotSupportedByRuntime"),
    ] {
        assert_eq!(http.post_json(path, &json!({})).await.error(status), name);
    }
    let demo = http.get("/api/agent-sessions?runtime=demo").await.json();
    assert_eq!(demo["sessions"], json!([]));
    assert!(demo["problems"][0]["message"].as_str().expect("words").contains("does not store sessions"), "{demo}");
}

#[tokio::test]
async fn a_session_that_another_copilot_has_open_is_left_to_it_until_it_is_closed_there() {
    for program in Program::BOTH {
        let mut copilot = CopilotServer::start(program).await;
        let terminal = copilot.session("allow-all").await;
        terminal.ask("@@echo here").await;
        let id = first_listed(&copilot).await["agentSessionId"].as_str().expect("an id").to_owned();
        let home = copilot.server.folder().join("copilot");
        let folder = tempfile::tempdir().expect("a folder");
        let other = crate::support::byok(program, &copilot.model.base_url(), folder.path())
            .variable("COPILOT_HOME", home.to_str().expect("UTF-8"))
            .variable("FLIGHTDECK_RECOVERY_ATTEMPTS", "1000000")
            .start()
            .await;
        let http = other.http();
        let adopted = http.post_json(&format!("/api/agent-sessions/copilot/{id}/adopt"), &json!({})).await;
        assert_eq!(adopted.status, 201, "{}", adopted.text());
        let id = adopted.json()["sessionId"].as_str().expect("an id").to_owned();
        let adopted = TestSession { http: http.clone(), id };
        adopted.prompt("@@history").await;
        let mut stream = adopted.events_after(0).await;
        let told = stream.until(|event| event.json()["state"] == "recovering").await;
        let detail = told.last().expect("one").json()["detail"].as_str().expect("why").to_owned();
        assert!(detail.contains("is open in another Copilot"), "{program:?} {detail}");
        assert!(copilot.server.stop().await);
        let events = stream.until_callback("onIdle").await;
        assert!(events.iter().any(|event| event.data.contains("user turns: 2")), "{program:?} {events:?}");
    }
}
