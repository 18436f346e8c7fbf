use serde_json::value::RawValue;

use super::*;
use crate::model::NoticeKind;

/// The events that a Copilot event translates to.
fn ours(translated: Vec<Translated>) -> Vec<AgentEvent> {
    translated
        .into_iter()
        .filter_map(|translated| if let Translated::Event(event) = translated { Some(event) } else { None })
        .collect()
}

impl Translator {
    fn translated(&mut self, event: &RawValue) -> Vec<Translated> {
        let mut translated = Vec::new();
        self.translate_text(event.get(), &mut translated);
        translated
    }
}

/// Events of the real CLI, as it sent them.
const RECORDED: &str = include_str!("../../../../../tests/transcripts/sdk/client-events.jsonl");

fn recorded() -> Vec<Box<RawValue>> {
    #[derive(Deserialize)]
    struct Line {
        k: String,
        e: Option<Box<RawValue>>,
    }
    RECORDED
        .lines()
        .filter_map(|line| serde_json::from_str::<Line>(line).ok())
        .filter(|line| line.k == "EV")
        .filter_map(|line| line.e)
        .collect()
}

fn event(json: &Value) -> Box<RawValue> {
    RawValue::from_string(json.to_string()).expect("JSON")
}

#[test]
fn a_recorded_session_is_understood_and_what_is_begun_is_ended() {
    let mut translator = Translator::default();
    let (mut open, mut texts, mut idles) = (HashSet::new(), Vec::new(), 0);
    for raw in recorded() {
        for event in ours(translator.translated(&raw)) {
            match event {
                AgentEvent::Unknown { kind, .. } => {
                    assert!(matches!(kind.as_str(), "external_tool.requested"), "{kind} is not understood");
                }
                AgentEvent::BlockStarted(BlockStart::Tool { id, .. }) => {
                    open.insert(BlockKey::new(BlockKind::Tool, id));
                }
                AgentEvent::BlockDelta { key, .. } => {
                    open.insert(key);
                }
                AgentEvent::BlockEnded(BlockEnd::Message { id, content }) => {
                    open.remove(&BlockKey::new(BlockKind::Message, id));
                    texts.push(content);
                }
                AgentEvent::BlockEnded(BlockEnd::Reasoning { id, .. }) => {
                    open.remove(&BlockKey::new(BlockKind::Reasoning, id));
                }
                AgentEvent::BlockEnded(BlockEnd::Tool { id, .. }) => {
                    open.remove(&BlockKey::new(BlockKind::Tool, id));
                }
                AgentEvent::Idle => idles += 1,
                _ => {}
            }
        }
    }
    assert!(idles >= 9, "{idles}");
    assert!(texts.iter().any(|text| text == "Hello from the fake model. This is a plain streamed reply."), "{texts:?}");
    // One turn of the recording was aborted in mid-message and one session destroyed in mid-turn.
    assert!(open.len() <= 2, "{open:?}");
}

#[test]
fn an_event_that_comes_again_says_nothing_new() {
    let delta = |id: &str| {
        event(&serde_json::json!({
            "type": "assistant.message_delta", "id": id, "data": { "messageId": "m", "deltaContent": "x" },
        }))
    };
    let mut translator = Translator::default();
    assert_eq!(translator.translated(&delta("1")).len(), 1);
    assert_eq!(translator.translated(&delta("2")).len(), 1);
    assert_eq!(translator.translated(&delta("1")).len(), 0);
}

#[test]
fn what_is_not_known_is_kept_and_rubbish_breaks_nothing() {
    let mut translator = Translator::default();
    for json in [
        serde_json::json!({ "type": "session.something_new", "data": { "a": 1 } }),
        serde_json::json!({ "type": "assistant.message_delta", "data": { "messageId": 7 } }),
        serde_json::json!({ "type": "tool.execution_start" }),
        serde_json::json!([1, 2]),
        serde_json::json!("text"),
    ] {
        let events = ours(translator.translated(&event(&json)));
        assert!(matches!(events[..], [AgentEvent::Unknown { .. }]), "{json}: {events:?}");
    }
}

#[test]
fn an_error_has_a_class_by_its_words_its_status_or_its_type() {
    for (data, class) in [
        (
            serde_json::json!({ "message": "400 The requested model is not supported.", "statusCode": 400 }),
            "model-unavailable",
        ),
        (serde_json::json!({ "message": "no", "statusCode": 429, "errorType": "query" }), "rate-limit"),
        (serde_json::json!({ "message": "no", "errorType": "quota" }), "quota"),
        (serde_json::json!({ "message": "no", "statusCode": 1e300 }), "unknown"),
    ] {
        let raw = event(&serde_json::json!({ "type": "session.error", "data": data }));
        let events = ours(Translator::default().translated(&raw));
        let [AgentEvent::TurnFailed { failure }] = &events[..] else { panic!("{events:?}") };
        assert_eq!(failure.class.as_str(), class, "{data}");
    }
}

#[test]
fn a_retried_stream_closes_what_it_left_behind() {
    let mut translator = Translator::default();
    translator.translated(&event(&serde_json::json!({
        "type": "assistant.message_delta", "data": { "messageId": "old", "deltaContent": "half" },
    })));
    let retry = serde_json::json!({ "type": "assistant.turn_retry", "data": {} });
    let events = ours(translator.translated(&event(&retry)));
    assert!(matches!(&events[..], [AgentEvent::BlockDiscarded(key)] if key.id == "old"), "{events:?}");
}

#[test]
fn a_model_that_is_asked_again_is_reported_with_the_cause() {
    let mut translator = Translator::default();
    let mut said = |kind: &str, data: Value| -> Vec<String> {
        let events = ours(translator.translated(&event(&serde_json::json!({ "type": kind, "data": data }))));
        let message = |event| match event {
            AgentEvent::Notice { kind: NoticeKind::Retrying, message } => message,
            other => panic!("{other:?}"),
        };
        events.into_iter().map(message).collect()
    };
    let failure = |status: u16, attempt: u8| serde_json::json!({ "statusCode": status, "retryAttempt": attempt });
    let limited = ["The model provider limits the number of requests (HTTP 429). Retrying …"];
    assert_eq!(said("model.call_failure", failure(429, 0)), limited, "at once, because it waits now");
    let again = serde_json::json!({ "turnId": "0", "reason": "rate_limit" });
    assert_eq!(said("assistant.turn_retry", again.clone()), Vec::<String>::new(), "it was said");
    assert_eq!(said("model.call_failure", failure(429, 1)), Vec::<String>::new(), "it may be the last");
    assert_eq!(said("assistant.turn_retry", again), limited);

    let info = serde_json::json!({ "infoType": "model_retry", "message": "A transient error. Retrying..." });
    for (data, expected) in [
        (failure(401, 0), "The model provider rejected the credentials (HTTP 401). Retrying …"),
        (failure(503, 0), "The model provider failed (HTTP 503). Retrying …"),
        (serde_json::json!({ "failureKind": "transport" }), "A transient error. Retrying..."),
    ] {
        assert_eq!(said("model.call_failure", data), Vec::<String>::new());
        assert_eq!(said("session.info", info.clone()), [expected]);
    }
}

#[test]
fn a_file_that_a_tool_has_made_is_not_reported_twice() {
    let info =
        |kind: &str| serde_json::json!({ "type": "session.info", "data": { "infoType": kind, "message": "/f" } });
    assert!(Translator::default().translated(&event(&info("file_created"))).is_empty());
    assert_eq!(Translator::default().translated(&event(&info("snapshot"))).len(), 1);
}

#[test]
fn a_sub_agent_speaks_within_its_tool_call_and_its_turns_are_not_the_sessions() {
    let mut translator = Translator::default();
    let said = |kind: &str, data: Value| event(&serde_json::json!({ "type": kind, "agentId": "sub", "data": data }));
    assert!(translator.translated(&said("assistant.turn_start", serde_json::json!({ "turnId": "0" }))).is_empty());
    let delta = serde_json::json!({ "messageId": "m", "deltaContent": "x", "parentToolCallId": "call" });
    let events = ours(translator.translated(&said("assistant.message_delta", delta.clone())));
    let start = BlockStart::Message { id: "m".to_owned(), parent: Some("call".to_owned()) };
    assert!(matches!(&events[0], AgentEvent::BlockStarted(begun) if *begun == start), "{events:?}");
    assert_eq!(ours(translator.translated(&said("assistant.message_delta", delta))).len(), 1, "it begins once");
    assert!(translator.translated(&said("session.idle", serde_json::json!({}))).is_empty());
    assert!(
        translator.translated(&said("user.message", serde_json::json!({ "content": "c", "source": "a" }))).is_empty()
    );
}

#[test]
fn what_the_program_asks_of_itself_is_shown_and_what_a_person_typed_is_not_repeated() {
    let mut translator = Translator::default();
    let message = |source: Option<&str>| {
        let data = serde_json::json!({ "content": "go on", "source": source });
        event(&serde_json::json!({ "type": "user.message", "data": data }))
    };
    assert!(translator.translated(&message(None)).is_empty());
    let events = ours(translator.translated(&message(Some("autopilot"))));
    assert!(matches!(&events[..], [AgentEvent::PromptGenerated(prompt)] if prompt == "go on"), "{events:?}");
}

#[test]
fn figures_of_memory_and_cost_are_kept_apart() {
    let mut translator = Translator::default();
    let info =
        serde_json::json!({ "type": "session.usage_info", "data": { "tokenLimit": 128_000, "currentTokens": 9 } });
    let expected = ContextUsage { current_tokens: 9, token_limit: 128_000 };
    let events = ours(translator.translated(&event(&info)));
    assert!(matches!(events[..], [AgentEvent::ContextUsed(usage)] if usage == expected), "{events:?}");
    for (byok, premium) in [(true, None), (false, Some(1.0))] {
        let usage = serde_json::json!({ "type": "assistant.usage", "data": { "cost": 1, "isByok": byok } });
        let events = ours(translator.translated(&event(&usage)));
        let [AgentEvent::UsageReported(usage)] = &events[..] else { panic!("{events:?}") };
        assert_eq!(usage.premium_requests, premium);
    }
}

#[test]
fn credits_are_what_each_call_was_billed_and_unknown_where_it_does_not_say() {
    let mut translator = Translator::default();
    let billed = serde_json::json!({ "tokenDetails": [], "totalNanoAiu": 1_500_000_000_u64 });
    for (copilot_usage, credits) in [
        (billed, Some(1.5)),
        (serde_json::json!({ "totalNanoAiu": 0 }), Some(0.0)),
        (serde_json::json!({ "tokenDetails": [] }), None),
        (Value::Null, None),
    ] {
        let data = serde_json::json!({ "inputTokens": 1, "copilotUsage": copilot_usage });
        let events =
            ours(translator.translated(&event(&serde_json::json!({ "type": "assistant.usage", "data": data }))));
        let [AgentEvent::UsageReported(usage)] = &events[..] else { panic!("{events:?}") };
        assert_eq!((usage.credits, usage.input_tokens), (credits, Some(1)));
    }
}

#[test]
fn a_task_that_is_not_accepted_as_complete_is_a_failed_turn() {
    let said = |kind: &str, data: Value| event(&serde_json::json!({ "type": kind, "data": data }));
    let mut translator = Translator::default();
    let task = serde_json::json!({ "summary": "half of it", "success": false, "outcome": "blocked" });
    assert!(ours(translator.translated(&said("session.task_complete", task))).is_empty());
    let events = ours(translator.translated(&said("session.idle", serde_json::json!({}))));
    let [AgentEvent::TurnFailed { failure }, AgentEvent::Idle] = &events[..] else { panic!("{events:?}") };
    assert!(failure.message.contains("half of it"), "{failure:?}");
    translator.translated(&said("assistant.turn_start", serde_json::json!({ "turnId": "0" })));
    let events = ours(translator.translated(&said("session.idle", serde_json::json!({}))));
    assert!(matches!(&events[..], [AgentEvent::Idle]), "the next turn is another one: {events:?}");
}

#[test]
fn a_turn_ends_with_the_agent_and_not_with_what_it_left_running() {
    let said = |kind: &str, data: Value| event(&serde_json::json!({ "type": kind, "data": data }));
    let idles = |translator: &mut Translator, kind: &str, data: Value| {
        ours(translator.translated(&said(kind, data))).iter().filter(|event| matches!(event, AgentEvent::Idle)).count()
    };
    let mut translator = Translator::in_mode("interactive".to_owned());
    assert_eq!(idles(&mut translator, "assistant.idle", serde_json::json!({})), 1);
    assert_eq!(idles(&mut translator, "session.idle", serde_json::json!({ "mode": "interactive" })), 0, "told already");
    translator.translated(&said("assistant.turn_start", serde_json::json!({ "turnId": "1" })));
    assert_eq!(idles(&mut translator, "session.idle", serde_json::json!({ "mode": "interactive" })), 1);
    translator.translated(&said("session.mode_changed", serde_json::json!({ "newMode": "autopilot" })));
    translator.translated(&said("assistant.turn_start", serde_json::json!({ "turnId": "2" })));
    assert_eq!(idles(&mut translator, "assistant.idle", serde_json::json!({})), 0, "it goes on by itself");
    assert_eq!(idles(&mut translator, "session.idle", serde_json::json!({ "mode": "autopilot" })), 1);
}

#[test]
fn reasoning_that_nobody_can_read_is_no_block() {
    let mut translator = Translator::default();
    let said = |kind: &str, data: Value| event(&serde_json::json!({ "type": kind, "data": data }));
    let opaque = serde_json::json!({ "reasoningId": "r", "content": "" });
    assert!(translator.translated(&said("assistant.reasoning", opaque.clone())).is_empty());
    let delta = serde_json::json!({ "reasoningId": "r", "deltaContent": "hm" });
    assert_eq!(translator.translated(&said("assistant.reasoning_delta", delta)).len(), 1);
    assert_eq!(translator.translated(&said("assistant.reasoning", opaque)).len(), 1, "what began ends");
}
