//! Prompts that tasks send, and the tools with which agents report back.

use flightdeck::agent::{AgentCommand, AgentEvent, BlockStart, Capabilities, ToolRequest};
use flightdeck::model::{PromptAuthor, PromptId, PromptVerdict, TurnActivity};
use flightdeck::session::{NewPrompt, PromptMode, SessionSettings};
use serde_json::{Value, json};

use crate::support::{Puppet, PuppetSession};

fn of_task(text: &str, mode: PromptMode) -> NewPrompt {
    NewPrompt { text: text.to_owned(), mode, author: PromptAuthor::Task, ..NewPrompt::default() }
}

async fn session() -> PuppetSession {
    let capabilities = Capabilities { steering: true, ..Capabilities::default() };
    PuppetSession::new(Puppet::new(capabilities, None), SessionSettings::default()).await
}

#[tokio::test(start_paused = true)]
async fn a_tasks_prompt_is_generated_and_otherwise_a_prompt_like_any_other() {
    let it = session().await;
    it.prompt_with(of_task("build it", PromptMode::Queue)).await;
    it.prompt_with(of_task("faster", PromptMode::Steer)).await;
    it.prompt_with(of_task("then test it", PromptMode::Queue)).await;
    assert_eq!(it.puppet.prompted().await, "build it");
    assert!(matches!(it.puppet.told().await, AgentCommand::Steer { text, .. } if text == "faster"));
    let tool = BlockStart::Tool {
        id: "c".to_owned(),
        parent: None,
        name: "job_boolean_true".to_owned(),
        arguments: r#"{"reason":"it builds"}"#.to_owned(),
    };
    it.say(AgentEvent::BlockStarted(tool)).await;
    it.say(AgentEvent::Idle).await;
    assert_eq!(it.puppet.prompted().await, "then test it");
    it.say(AgentEvent::Idle).await;
    let mut activities = Vec::new();
    for number in 1..=3 {
        let outcome = it.session.outcome(PromptId::from_number(number)).await.expect("an outcome");
        assert_eq!(outcome.verdict, PromptVerdict::Succeeded);
        activities.push(outcome.activity);
    }
    assert_eq!(activities[0].reports[0].text, "it builds");
    assert_eq!(activities[1], activities[0], "the prompt that was added to the turn");
    assert_eq!(activities[2], TurnActivity::default());
    let log = it.log().await;
    let prompts: Vec<&Value> = log.iter().filter(|event| event["callback"] == "onGeneratedUserPrompt").collect();
    let expected = [("build it", false), ("faster", false), ("then test it", true)];
    for ((number, prompt), (text, queued)) in (1..).zip(&prompts).zip(expected) {
        let fields = json!({
            "callback": "onGeneratedUserPrompt", "prompt": text, "promptId": format!("prompt-{number}"), "queued": queued,
        });
        assert_eq!(**prompt, fields);
    }
    assert!(!log.iter().any(|event| event["callback"] == "onUserPrompt"), "{log:#?}");
    let summary = it.sessions.store().session(it.session.id()).await.expect("read").expect("there");
    assert_eq!(summary.profile.title.as_deref(), Some("build it"));
    it.end().await;
}

/// The start of the call is committed long before the call waits, so no commit follows that could send the answer.
#[tokio::test(start_paused = true)]
async fn a_waiting_call_is_answered_although_nothing_is_written() {
    let it = session().await;
    it.prompt_with(of_task("decide", PromptMode::Queue)).await;
    it.puppet.prompted().await;
    for (id, name, text, is_error) in
        [("r1", "job_boolean_false", "no", false), ("r2", "something_else", "unknown tool", true)]
    {
        let call = ToolRequest {
            call_id: format!("c-{id}"),
            name: name.to_owned(),
            arguments: r#"{"reason":"no"}"#.to_owned(),
        };
        for _ in 0..2 {
            it.say(AgentEvent::ToolWaits { agent_request_id: id.to_owned(), call: call.clone() }).await;
        }
        let AgentCommand::AnswerTools(answers) = it.puppet.told().await else { panic!("an answer") };
        let [(request, answer)] = &answers[..] else { panic!("one answer: {answers:?}") };
        assert_eq!((request.as_str(), answer.is_error), (id, is_error));
        assert!(answer.text.contains(text), "{answer:?}");
    }
    it.say(AgentEvent::Idle).await;
    it.session.outcome(PromptId::from_number(1)).await.expect("an outcome");
    assert!(!it.puppet.has_been_told(), "a repeated call is answered once");
    it.end().await;
}
