//! Recorded traffic of real agents, and other cases that the protocol allows.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{Translator, TurnEnd};
use crate::agent::acp::offers::Offers;
use crate::agent::{AgentEvent, BlockEnd, BlockStart};
use crate::model::{NoticeKind, SlashCommand, Usage};

const BASIC: &str = include_str!("../../../../tests/transcripts/acp/copilot-basic.ndjson");
const ERRORS: &str = include_str!("../../../../tests/transcripts/acp/copilot-errors.ndjson");
const CANCEL: &str = include_str!("../../../../tests/transcripts/acp/copilot-cancel.ndjson");
const GEMINI: &str = include_str!("../../../../tests/transcripts/acp/gemini.ndjson");
const OPENCODE: &str = include_str!("../../../../tests/transcripts/acp/opencode.ndjson");

fn raw(update: &Value) -> Box<RawValue> {
    RawValue::from_string(update.to_string()).expect("JSON")
}

fn chunk(text: &str) -> Value {
    json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } })
}

/// The events of each turn of a recorded session.
fn turns(transcript: &str, is_copilot: bool) -> Vec<Vec<AgentEvent>> {
    let mut translator = Translator::new(is_copilot, Offers::default());
    let (mut turns, mut events) = (Vec::new(), Vec::new());
    for line in transcript.lines() {
        let line: Value = serde_json::from_str(line).expect("JSON");
        let message = &line["msg"];
        if message["method"] == "session/update" {
            events.extend(translator.translate(raw(&message["params"]["update"])));
        } else if let Some(stop_reason) = message["result"]["stopReason"].as_str() {
            events.extend(translator.end_turn(&TurnEnd { stop_reason, usage: &message["result"]["usage"] }));
            turns.push(std::mem::take(&mut events));
        }
    }
    turns
}

fn messages(events: &[AgentEvent]) -> Vec<&str> {
    events
        .iter()
        .filter_map(|event| match event {
            AgentEvent::BlockEnded(BlockEnd::Message { content, .. }) => Some(content.as_str()),
            _ => None,
        })
        .collect()
}

fn failures(events: &[AgentEvent]) -> Vec<&str> {
    events
        .iter()
        .filter_map(
            |event| if let AgentEvent::TurnFailed { failure } = event { Some(failure.message.as_str()) } else { None },
        )
        .collect()
}

#[test]
fn recorded_sessions_are_understood() {
    for (transcript, is_copilot) in [(BASIC, true), (ERRORS, true), (CANCEL, true), (GEMINI, false), (OPENCODE, false)]
    {
        for event in turns(transcript, is_copilot).iter().flatten() {
            assert!(!matches!(event, AgentEvent::Unknown { .. }), "{event:?}");
        }
    }
}

#[test]
fn a_turns_usage_is_what_the_session_used_more() {
    let used: Vec<Option<u64>> = turns(BASIC, true)
        .iter()
        .flatten()
        .filter_map(|event| match event {
            AgentEvent::UsageReported(Usage { input_tokens, .. }) => Some(*input_tokens),
            _ => None,
        })
        .collect();
    assert_eq!(used, [100, 100, 200, 100, 100, 200, 0].map(Some));
}

#[test]
fn tools_have_a_start_an_end_and_what_was_said_around_them_is_apart() {
    let turns = turns(BASIC, true);
    let tool = &turns[2];
    assert_eq!(messages(tool)[0], "I will run a command.");
    assert_eq!(messages(tool).len(), 2);
    let starts = tool.iter().filter(|event| matches!(event, AgentEvent::BlockStarted(BlockStart::Tool { .. }))).count();
    assert_eq!(starts, 1);
    let denied = turns[3].iter().any(|event| {
        matches!(event, AgentEvent::BlockEnded(BlockEnd::Tool { error: Some(error), .. }) if error.code.as_deref() == Some("denied"))
    });
    assert!(denied, "{:?}", turns[3]);
    let created = turns[5].iter().any(|event| {
        matches!(event, AgentEvent::BlockEnded(BlockEnd::Tool { result: Some(result), .. }) if result.detailed_content.as_deref().is_some_and(|diff| diff.contains("+created by")))
    });
    assert!(created, "{:?}", turns[5]);
}

#[test]
fn opencode_says_with_the_second_update_what_a_call_is_given() {
    let turns = turns(OPENCODE, false);
    let start = turns[0].iter().find_map(|event| match event {
        AgentEvent::BlockStarted(BlockStart::Tool { name, arguments, .. }) => Some((name.clone(), arguments.clone())),
        _ => None,
    });
    let (name, arguments) = start.expect("a tool");
    assert!(name == "echo hi-oc" && arguments.contains("echo hi-oc"), "{name} {arguments}");
}

#[test]
fn copilots_own_errors_and_retries_are_no_part_of_the_answer() {
    let turns = turns(ERRORS, true);
    for (turn, words) in turns.iter().zip(["Authentication failed", "429 Rate limit", "retried 5 times"]) {
        let failed = failures(turn);
        assert!(failed.len() == 1 && failed[0].contains(words), "{failed:?}");
    }
    assert_eq!(messages(&turns[0]), Vec::<&str>::new());
    assert_eq!(messages(&turns[2]), Vec::<&str>::new(), "what a broken stream said is no message");
    let discarded = turns[2].iter().filter(|event| matches!(event, AgentEvent::BlockDiscarded(_)));
    assert_eq!(discarded.count(), 6, "each attempt is a block of its own");
    let retries = turns[2]
        .iter()
        .filter(|event| matches!(event, AgentEvent::Notice { kind, .. } if *kind == NoticeKind::Retrying));
    assert_eq!(retries.count(), 5);
    assert_eq!(failures(&self::turns(BASIC, true)[6]).len(), 1);
}

#[test]
fn a_model_that_writes_about_errors_is_believed() {
    let spoken = |is_copilot: bool, chunks: &[&str], output: u64, stop_reason: &str| {
        let mut translator = Translator::new(is_copilot, Offers::default());
        let mut events: Vec<AgentEvent> =
            chunks.iter().flat_map(|text| translator.translate(raw(&chunk(text)))).collect();
        let usage = json!({ "inputTokens": 1, "outputTokens": output });
        events.extend(translator.end_turn(&TurnEnd { stop_reason, usage: &usage }));
        (messages(&events).join("|"), failures(&events).len())
    };
    assert_eq!(spoken(true, &["Error: 400 no"], 0, "end_turn"), (String::new(), 1));
    assert_eq!(spoken(true, &["Error: file not found"], 7, "end_turn"), ("Error: file not found".to_owned(), 0));
    assert_eq!(spoken(true, &["Error: a", " b"], 0, "end_turn"), ("Error: a b".to_owned(), 0));
    let (said, failures) = spoken(true, &["Error: a", "Error: b"], 0, "end_turn");
    assert_eq!((said.as_str(), failures), ("", 1), "the stream of the first one broke");
    assert_eq!(spoken(true, &["Error: a"], 0, "cancelled"), ("Error: a".to_owned(), 0));
    assert_eq!(spoken(false, &["Error: a"], 0, "end_turn"), ("Error: a".to_owned(), 0));
    assert_eq!(spoken(true, &["Info: a fact."], 3, "end_turn"), ("Info: a fact.".to_owned(), 0));
}

#[test]
fn a_call_that_goes_on_after_its_end_opens_nothing() {
    let mut translator = Translator::new(false, Offers::default());
    let update = |kind: &str, status: &str| raw(&json!({ "sessionUpdate": kind, "toolCallId": "c", "status": status }));
    let first = translator.translate(update("tool_call_update", "completed"));
    assert!(matches!(&first[..], [AgentEvent::BlockStarted(_), AgentEvent::BlockEnded(_)]), "{first:?}");
    assert!(translator.translate(update("tool_call_update", "completed")).is_empty());
    assert!(translator.translate(update("tool_call", "pending")).is_empty());
}

#[test]
fn plans_commands_modes_and_models_are_told_once() {
    let mut translator = Translator::new(false, Offers::default());
    let model = |value: &str| {
        json!({ "sessionUpdate": "config_option_update", "configOptions": [
        { "id": "model", "category": "model", "currentValue": value, "options": [{ "group": "g", "options": [{ "value": "a", "name": "A" }] }] },
    ] })
    };
    let updates = [
        json!({ "sessionUpdate": "plan", "entries": [{ "content": "one", "status": "completed" }, { "content": "two" }] }),
        json!({ "sessionUpdate": "available_commands_update", "availableCommands": [{ "name": "plan", "description": "Plans", "input": { "hint": "task" } }] }),
        json!({ "sessionUpdate": "current_mode_update", "currentModeId": "yolo" }),
        model("a"),
        model("b"),
        json!({ "sessionUpdate": "session_info_update", "title": "T" }),
        json!({ "sessionUpdate": "something_new" }),
        json!({ "sessionUpdate": "agent_message_chunk", "content": 7 }),
    ];
    let mut told = Vec::new();
    for update in updates.iter().chain(&updates[..3]) {
        for event in translator.translate(raw(update)) {
            told.push(match event {
                AgentEvent::Notice { kind, message } => format!("{kind}: {message}"),
                AgentEvent::TitleChanged(title) => format!("title: {title}"),
                AgentEvent::CommandsListed(commands) => {
                    let plan =
                        SlashCommand { hint: Some("task".to_owned()), ..SlashCommand::new("plan", Some("Plans")) };
                    assert_eq!(commands, [plan], "listed each time");
                    continue;
                }
                AgentEvent::Unknown { kind, .. } => format!("unknown: {kind}"),
                other => format!("{other:?}"),
            });
        }
    }
    assert_eq!(
        told,
        [
            "plan: - [x] one\n- [ ] two",
            "commands: Available commands: /plan.",
            "mode: The mode is now yolo.",
            "model: The model is now b.",
            "title: T",
            "unknown: something_new",
            "unknown: agent_message_chunk",
        ]
    );
    assert_eq!(translator.offers.models().len(), 1, "also in groups");
}
