//! What an agent says in a turn becomes blocks, requests and notices.

use serde_json::json;

use super::fake::{Fake, errors, notices};
use crate::support::{Server, callbacks, message_text};

#[tokio::test]
async fn thoughts_messages_tools_plans_and_cost_become_what_everybody_reads() {
    let fake = Fake::start(&[]).await;
    let session = fake.session().await;
    let outcome = session.ask("@@tool").await;
    assert_eq!((&outcome["verdict"], &outcome["text"]), (&json!("succeeded"), &json!("after")), "{outcome}");
    assert_eq!(
        (&outcome["usage"]["costUsd"], &outcome["usage"]["inputTokens"], &outcome["usage"]["premiumRequests"]),
        (&json!(0.5), &json!(3), &json!(null))
    );
    let log = session.log().await;
    let names: Vec<String> = callbacks(&log).into_iter().filter(|name| name.starts_with("onEnd")).collect();
    assert_eq!(names, ["onEndReasoning", "onEndMessage", "onEndToolExecution", "onEndMessage"]);
    let of = |name: &str| &log.iter().find(|(_, response)| response["callback"] == name).expect("there").1;
    let start = of("onStartToolExecution");
    assert_eq!(start["toolName"], "Edit a file");
    assert!(start["toolArguments"].as_str().expect("text").contains("/p/f"), "{start}");
    let result = &of("onEndToolExecution")["result"];
    assert_eq!((&result["content"], &result["images"][0]["mime"]), (&json!("half and half"), &json!("image/png")));
    assert!(result["detailedContent"].as_str().expect("a diff").ends_with("-a\n+b\n"), "{result}");
    assert_eq!(notices(&session, "plan").await, ["- [x] think\n- [ ] do"]);
    assert_eq!(of("onContextUsage")["tokenLimit"], 100);
}

#[tokio::test]
async fn a_decision_becomes_the_agents_own_option_and_an_interrupt_cancels_the_question() {
    for characters in [&[][..], &["string-ids"]] {
        let fake = Fake::start(characters).await;
        for (decision, option) in [("allow-once", "yes"), ("allow-always", "ever"), ("deny", "no")] {
            let session = fake.session().await;
            let request = session.prompt_and_get_request("@@permission").await;
            let body = &session.get("").await.json()["requests"][0]["body"];
            assert_eq!((&body["detail"], &body["toolCallId"]), (&json!("ls"), &json!("call-1")));
            session.post(&format!("/permission/{request}"), json!({ "decision": decision })).await;
            let events = session.events_after(0).await.until_callback("onIdle").await;
            assert_eq!(message_text(&events), format!("outcome: {option}"), "{characters:?}");
        }
        let session = fake.session().await;
        session.prompt_and_get_request("@@permission").await;
        session.post("/interrupt", json!({})).await;
        let events = session.events_after(0).await.until_callback("onIdle").await;
        assert_eq!(message_text(&events), "outcome: cancelled", "it was answered before the turn ended");
        let answered = events.iter().find(|event| event.callback() == "onPermissionAnswered").expect("closed");
        assert_eq!(answered.json()["decision"], "cancelled");
    }
}

#[tokio::test]
async fn an_interrupt_ends_a_turn_and_an_agent_that_does_not_listen_is_cut_off() {
    let fake = Fake::start_with(&[], "[sessions]\ninterrupt_grace = \"200ms\"").await;
    let session = fake.session().await;
    for prompt in ["@@hang", "@@stubborn"] {
        let after = session.get("").await.json()["lastSeq"].as_u64().expect("a number");
        session.prompt(prompt).await;
        let mut stream = session.events_after(after).await;
        stream.until_callback("onMessage").await;
        session.post("/interrupt", json!({})).await;
        let events = stream.until_callback("onIdle").await;
        assert!(events.iter().any(|event| event.json()["kind"] == "interrupted"), "{prompt}");
        assert!(events.iter().any(|event| event.callback() == "onEndMessage"), "{prompt}");
    }
    assert_eq!(session.ask("@@history").await["text"], "turns: 3");
}

#[tokio::test]
async fn how_a_turn_stopped_decides_whether_it_failed() {
    let fake = Fake::start(&[]).await;
    for (prompt, verdict) in [
        ("@@stop end_turn", "succeeded"),
        ("@@stop refusal", "failed"),
        ("@@stop max_tokens", "failed"),
        ("@@stop max_turn_requests", "failed"),
        ("@@stop something_new", "succeeded"),
        ("@@refuse the model is on holiday", "failed"),
    ] {
        let session = fake.session().await;
        let outcome = session.ask(prompt).await;
        assert_eq!(outcome["verdict"], verdict, "{prompt}");
        assert_eq!(errors(&session).await.len(), usize::from(verdict == "failed"), "{prompt}");
        assert_eq!(session.ask("@@echo on").await["text"], "ECHO[on]", "{prompt}");
    }
}

#[tokio::test]
async fn the_models_that_an_agent_named_stay_when_settings_change_and_after_a_restart() {
    let fake = Fake::start(&[]).await;
    fake.session().await.ask("hello").await;
    let ids = async |server: &Server| -> Vec<String> {
        let models = server.http().get("/api/models").await.json();
        let all = models["models"].as_array().expect("models").iter();
        let own = all.filter(|model| model["runtime"] == "acp:fake");
        own.filter_map(|model| model["id"].as_str().map(str::to_owned)).collect()
    };
    assert_eq!(ids(&fake.server).await, ["small", "large"]);
    let change = json!({ "changes": { "mcp_servers.files": { "command": "mcp-files" } } });
    assert_eq!(fake.server.http().patch_json("/api/settings", &change).await.status, 200);
    assert_eq!(ids(&fake.server).await, ["small", "large"], "with another MCP server");
    let server = fake.server.restart().await;
    assert_eq!(ids(&server).await, ["small", "large"], "after a restart");
    let change = json!({ "changes": { "acp.fake": { "command": "another-agent" } } });
    assert_eq!(server.http().patch_json("/api/settings", &change).await.status, 200);
    assert_eq!(ids(&server).await, Vec::<String>::new(), "another program has other models");
}

#[tokio::test]
async fn models_modes_prompts_of_the_system_and_mcp_servers_reach_the_agent() {
    let servers = "auth_method = \"by-hand\"\nmodels = [\"mine\"]\n[mcp_servers.web]\nurl = \"http://127.0.0.1:1\"\n\
                   [mcp_servers.files]\ncommand = \"f\"\nenv = { K = \"v\" }\n[mcp_servers.old]\ntype = \"sse\"\nurl = \"http://127.0.0.1:1\"";
    let fake = Fake::start_with(&[], servers).await;
    let body = json!({ "model": "large", "options": { "mode": "Do" }, "systemPrompt": "Be brief." });
    let session = fake.session_with(body).await;
    let outcome = session.ask("hello").await;
    assert_eq!(outcome["text"], "ECHO[<system>\nBe brief.\n</system>\n\nhello]");
    assert_eq!(session.ask("again").await["text"], "ECHO[again]", "the system's words are said once");
    let read = |name: &str| std::fs::read_to_string(fake.file(name)).expect("written");
    assert_eq!(
        (read("model").as_str(), read("mode").as_str(), read("authenticated").as_str()),
        ("large", "do", "by-hand")
    );
    let given: serde_json::Value = serde_json::from_str(&read("mcp")).expect("JSON");
    let names: Vec<&str> =
        given.as_array().expect("servers").iter().filter_map(|server| server["name"].as_str()).collect();
    assert_eq!(names.len(), 2, "an agent that takes no sse is not given one: {given}");
    let models = fake.server.http().get("/api/models").await.json();
    let ids: Vec<&str> = models["models"]
        .as_array()
        .expect("models")
        .iter()
        .filter(|model| model["runtime"] == "acp:fake")
        .filter_map(|model| model["id"].as_str())
        .collect();
    assert_eq!(ids, ["mine", "small", "large"], "those of the configuration, and those that the agent named: {models}");
    let switched = fake.server.http().patch_json(&session.path(""), &json!({ "model": "small" })).await;
    assert_eq!(switched.status, 200, "{}", switched.text());
    session.ask("more").await;
    assert_eq!(read("model"), "small");
    let bad = fake.session_with(json!({ "model": "huge" })).await;
    assert_eq!(bad.ask("x").await["verdict"], "failed");
    let words = errors(&bad).await.join(" ");
    assert!(words.contains("huge") && words.contains("small, large"), "{words}");
}
