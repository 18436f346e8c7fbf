//! Answers, reasoning, several sessions, interrupts.

use serde_json::json;

use crate::support::{CopilotServer, Program, SseEvent, message_text};

#[tokio::test]
async fn an_answer_is_streamed_by_both_programs() {
    for program in Program::BOTH {
        let copilot = CopilotServer::start(program).await;
        let models = copilot.server.http().get("/api/copilot/models").await.json();
        assert_eq!(models["models"][0]["id"], "scripted-model", "the default runtime's, so plain and first");
        let session = copilot.session("ask").await;
        let outcome = session.ask("@@plain").await;
        assert_eq!(outcome["verdict"], "succeeded", "{program:?} {outcome}");
        assert_eq!(outcome["text"], "Hello from the scripted model. This is a plain streamed reply.");
        assert_eq!((&outcome["usage"]["inputTokens"], &outcome["usage"]["outputTokens"]), (&json!(100), &json!(20)));
        let events = session.events_after(0).await.until_callback("onIdle").await;
        let deltas: String = events
            .iter()
            .filter(|event| event.callback() == "onMessage")
            .map(|event| event.json()["delta"].as_str().expect("text").to_owned())
            .collect();
        assert_eq!(deltas, outcome["text"].as_str().expect("text"));
        assert_eq!(session.get("").await.json()["runtime"], "copilot");
    }
}

#[tokio::test]
async fn reasoning_is_a_block_of_its_own() {
    let copilot = CopilotServer::start(Program::Runtime).await;
    let session = copilot.session("ask").await;
    session.ask("@@reason").await;
    let log = session.log().await;
    let reasoning = log.iter().find(|(_, response)| response["callback"] == "onEndReasoning").expect("reasoning");
    assert_eq!(reasoning.1["completeContent"], "Let me think about this step by step.");
}

#[tokio::test]
async fn sessions_work_at_once_and_the_conversation_is_remembered() {
    let copilot = CopilotServer::start(Program::Runtime).await;
    let (one, two) = (copilot.session("ask").await, copilot.session("ask").await);
    let answers = tokio::join!(one.ask("@@echo first"), two.ask("@@echo second"));
    assert_eq!((&answers.0["text"], &answers.1["text"]), (&json!("ECHO[first]"), &json!("ECHO[second]")));
    assert_eq!(one.ask("@@history").await["text"], "user turns: 2");
}

#[tokio::test]
async fn an_interrupt_ends_the_turn_and_the_session_goes_on() {
    for program in Program::BOTH {
        let copilot = CopilotServer::start(program).await;
        let session = copilot.session("ask").await;
        session.prompt("@@slow 1000").await;
        let mut stream = session.events_after(0).await;
        stream.until(|event| event.data.contains("tick3")).await;
        session.post("/interrupt", json!({})).await;
        let events = stream.until_callback("onIdle").await;
        assert!(events.iter().any(|event| event.json()["kind"] == "interrupted"));
        let names: Vec<String> = events.iter().map(SseEvent::callback).collect();
        assert_eq!(names[names.len() - 2..], ["onAgentEnd", "onIdle"]);
        assert_eq!(session.ask("@@plain").await["verdict"], "succeeded");
    }
}

#[tokio::test]
async fn a_flood_of_deltas_arrives_whole() {
    let copilot = CopilotServer::start(Program::Runtime).await;
    let session = copilot.session("ask").await;
    let mut stream = session.events_after(0).await;
    session.prompt("@@many 5000").await;
    let events = stream.until_callback("onIdle").await;
    let expected = (0..5000).map(|number| format!("tok{number} ")).collect::<Vec<_>>().concat();
    let deltas: String = events
        .iter()
        .filter(|event| event.callback() == "onMessage")
        .map(|event| event.json()["delta"].as_str().expect("text").to_owned())
        .collect();
    assert_eq!(message_text(&events), expected);
    assert_eq!(deltas.len(), expected.len(), "nothing twice and nothing missing");
}
