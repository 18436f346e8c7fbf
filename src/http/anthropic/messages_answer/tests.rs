use serde_json::json;

use super::*;
use crate::capture::{CaptureError, ErrorKind};
use crate::http::dialect::Dialect as _;
use crate::model::Usage;

fn message() -> Messages {
    let mut message = Messages { model: "m".to_owned(), shows_thinking: true, ..Messages::default() };
    message.begin_answer("00ff", 0);
    message
}

fn calls() -> Vec<ToolCall> {
    let call = |id: &str, arguments: &str| ToolCall {
        id: id.to_owned(),
        name: "read".to_owned(),
        arguments: arguments.to_owned(),
    };
    vec![call("t1", "{\"a\":1}"), call("t2", "{\"a\":"), call("t3", "")]
}

fn used() -> Usage {
    Usage { input_tokens: Some(10), output_tokens: Some(5), cache_read: Some(4), ..Usage::default() }
}

fn streamed(mut message: Messages, pieces: Vec<Piece>) -> Vec<Value> {
    let mut frames = Frames::default();
    begin(&message, &mut frames);
    for piece in pieces {
        encode(&mut message, piece, &mut frames);
    }
    let events = frames.events();
    assert!(events.iter().all(|(name, data)| data["type"] == name.as_str()));
    events.into_iter().map(|(_, data)| data).collect()
}

#[test]
fn a_whole_message_has_its_blocks_in_order() {
    let answer = || Whole {
        blocks: vec![Block::Reasoning("Hm.".to_owned()), Block::Text("I read.".to_owned())],
        calls: calls(),
        stop: StopReason::ToolCalls,
        usage: Some(used()),
    };
    let expected = json!({
        "id": "msg_00ff", "type": "message", "role": "assistant", "model": "m", "stop_reason": "tool_use",
        "stop_sequence": null, "usage": {"input_tokens": 6, "output_tokens": 5, "cache_read_input_tokens": 4},
        "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": SIGNATURE},
            {"type": "text", "text": "I read."},
            {"type": "tool_use", "id": "t1", "name": "read", "input": {"a": 1}},
            {"type": "tool_use", "id": "t2", "name": "read", "input": {"INVALID_JSON": "{\"a\":"}},
            {"type": "tool_use", "id": "t3", "name": "read", "input": {}}],
    });
    assert_eq!(json!(whole(&message(), &answer())), expected);
    let without_thinking = json!(whole(&Messages { shows_thinking: false, ..message() }, &answer()));
    assert_eq!(without_thinking["content"].as_array().map(Vec::len), Some(4));
}

#[test]
fn a_stream_has_the_whole_life_of_each_block() {
    let pieces = || {
        vec![
            Piece::Reasoning("Hm".to_owned()),
            Piece::Text("Hel".to_owned()),
            Piece::Text("lo".to_owned()),
            Piece::Calls(calls()[..2].to_vec()),
            Piece::End { stop: StopReason::ToolCalls, usage: Some(used()) },
        ]
    };
    let events = streamed(message(), pieces());
    let names: Vec<&str> = events.iter().filter_map(|event| event["type"].as_str()).collect();
    let (start, delta, stop) = ("content_block_start", "content_block_delta", "content_block_stop");
    let expected = [
        "message_start",
        "ping",
        start,
        delta,
        delta,
        stop,
        start,
        delta,
        delta,
        stop,
        start,
        delta,
        stop,
        start,
        delta,
        stop,
        "message_delta",
        "message_stop",
    ];
    assert_eq!(names, expected);
    assert_eq!(events[0]["message"]["id"], "msg_00ff");
    assert_eq!(events[4]["delta"], json!({"type": "signature_delta", "signature": SIGNATURE}));
    let indexes: Vec<&Value> = events[2..16].iter().map(|event| &event["index"]).collect();
    assert_eq!(indexes, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3]);
    assert_eq!(events[10]["content_block"], json!({"type": "tool_use", "id": "t1", "name": "read", "input": {}}));
    assert_eq!(events[11]["delta"], json!({"type": "input_json_delta", "partial_json": "{\"a\":1}"}));
    assert_eq!(events[14]["delta"]["partial_json"], "{\"INVALID_JSON\":\"{\\\"a\\\":\"}");
    assert_eq!(events[16]["delta"]["stop_reason"], "tool_use");
    assert_eq!(events[16]["usage"], json!({"input_tokens": 6, "output_tokens": 5, "cache_read_input_tokens": 4}));
    let events = streamed(Messages { shows_thinking: false, ..message() }, pieces());
    assert_eq!((&events[2]["content_block"]["type"], &events[2]["index"]), (&json!("text"), &json!(0)));
}

#[test]
fn every_stop_reason_has_its_name() {
    for (stop, name) in [
        (StopReason::Stop, "end_turn"),
        (StopReason::ToolCalls, "tool_use"),
        (StopReason::Length, "max_tokens"),
        (StopReason::ContentFilter, "refusal"),
    ] {
        let events = streamed(message(), vec![Piece::End { stop, usage: None }]);
        assert_eq!(events[2]["delta"]["stop_reason"], name);
    }
}

#[test]
fn a_failure_in_mid_stream_is_an_error_event_and_the_end() {
    let failure = CaptureError::new(ErrorKind::TimedOut, "The deadline passed.");
    let events = streamed(message(), vec![Piece::Text("a".to_owned()), Piece::Failed(failure)]);
    let expected = json!({"type": "error", "error": {"type": "timeout_error", "message": "The deadline passed."}});
    assert_eq!(events.last(), Some(&expected));
}
