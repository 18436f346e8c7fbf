use serde_json::{Value, json};

use super::*;
use crate::capture::{CaptureError, ErrorKind};
use crate::http::dialect::{Block, Dialect as _};
use crate::model::Usage;

fn chat() -> Chat {
    let mut chat = Chat { model: "m".to_owned(), free_form: vec!["patch".to_owned()], ..Chat::default() };
    chat.begin_answer("00ff", 1_700_000_000);
    chat
}

fn calls() -> Vec<ToolCall> {
    let call = |id: &str, name: &str, arguments: &str| ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    };
    vec![call("c1", "read", "{\"a\":1}"), call("c2", "patch", "{\"input\":\"x\"}")]
}

fn used() -> Usage {
    Usage { input_tokens: Some(10), output_tokens: Some(5), cache_read: Some(4), ..Usage::default() }
}

fn streamed(chat: &mut Chat, pieces: Vec<Piece>) -> Vec<Value> {
    let mut frames = Frames::default();
    begin(chat, &mut frames);
    for piece in pieces {
        encode(chat, piece, &mut frames);
    }
    frames.events().into_iter().map(|(name, data)| (name.is_empty().then_some(data)).expect("no names")).collect()
}

#[test]
fn a_whole_answer_has_text_reasoning_calls_and_usage() {
    let answer = Whole {
        blocks: vec![Block::Reasoning("Hm.".to_owned()), Block::Text("I read.".to_owned())],
        calls: calls(),
        stop: StopReason::ToolCalls,
        usage: Some(used()),
    };
    let expected = json!({
        "id": "chatcmpl-00ff", "object": "chat.completion", "created": 1_700_000_000, "model": "m",
        "choices": [{"index": 0, "logprobs": null, "finish_reason": "tool_calls", "message": {
            "role": "assistant", "content": "I read.", "refusal": null, "reasoning_content": "Hm.",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{\"a\":1}"}},
                {"id": "c2", "type": "custom", "custom": {"name": "patch", "input": "x"}}]}}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15, "prompt_tokens_details": {"cached_tokens": 4}},
    });
    assert_eq!(json!(whole(&chat(), &answer)), expected);
}

#[test]
fn content_is_null_only_beside_calls_and_unknown_usage_is_absent() {
    let answer = |calls| Whole { blocks: vec![], calls, stop: StopReason::Stop, usage: None };
    let body = json!(whole(&chat(), &answer(vec![])));
    assert_eq!(body["choices"][0]["message"]["content"], "");
    assert!(body.get("usage").is_none());
    assert_eq!(json!(whole(&chat(), &answer(calls())))["choices"][0]["message"]["content"], Value::Null);
}

#[test]
fn a_stream_has_a_chunk_for_each_piece_and_ends_with_the_usage() {
    let pieces = vec![
        Piece::Reasoning("Hm".to_owned()),
        Piece::Text("Hel".to_owned()),
        Piece::Text("lo".to_owned()),
        Piece::Calls(calls()),
        Piece::End { stop: StopReason::ToolCalls, usage: Some(used()) },
    ];
    let chunks = streamed(&mut Chat { include_usage: true, ..chat() }, pieces);
    let deltas: Vec<&Value> = chunks.iter().map(|chunk| &chunk["choices"][0]["delta"]).collect();
    assert_eq!(deltas[0], &json!({"role": "assistant", "content": ""}));
    assert_eq!(deltas[1], &json!({"reasoning_content": "Hm"}));
    assert_eq!((&deltas[2]["content"], &deltas[3]["content"]), (&json!("Hel"), &json!("lo")));
    assert_eq!(deltas[4]["tool_calls"][0]["index"], 0);
    assert_eq!(deltas[5]["tool_calls"][0]["index"], 1);
    assert_eq!(deltas[5]["tool_calls"][0]["custom"]["input"], "x");
    assert_eq!((deltas[6], &chunks[6]["choices"][0]["finish_reason"]), (&json!({}), &json!("tool_calls")));
    assert!(chunks[..7].iter().all(|chunk| chunk.get("usage") == Some(&Value::Null)));
    assert_eq!((&chunks[7]["choices"], &chunks[7]["usage"]["total_tokens"]), (&json!([]), &json!(15)));
    assert_eq!(chunks[8], "[DONE]");
    assert_eq!(chunks.len(), 9);
    assert!(
        chunks[..8].iter().all(|chunk| chunk["object"] == "chat.completion.chunk" && chunk["id"] == "chatcmpl-00ff")
    );
}

#[test]
fn usage_is_streamed_only_if_asked_for_and_known() {
    let end = |usage| vec![Piece::End { stop: StopReason::Length, usage }];
    let chunks = streamed(&mut chat(), end(Some(used())));
    assert_eq!((chunks.len(), &chunks[1]["choices"][0]["finish_reason"]), (3, &json!("length")));
    assert!(chunks[0].get("usage").is_none());
    assert_eq!(streamed(&mut Chat { include_usage: true, ..chat() }, end(None)).len(), 3);
}

#[test]
fn a_failure_in_mid_stream_is_an_error_event_and_the_end() {
    let failure = CaptureError::new(ErrorKind::Limited, "Too many requests.");
    let chunks = streamed(&mut chat(), vec![Piece::Text("a".to_owned()), Piece::Failed(failure)]);
    let error = json!({"message": "Too many requests.", "type": "rate_limit_error", "param": null, "code": "rate_limit_exceeded"});
    assert_eq!(chunks.last(), Some(&json!({"error": error})));
    assert_eq!(chunks.len(), 3, "no [DONE] after an error");
}

#[test]
fn a_caller_of_old_functions_gets_one_function_call() {
    let mut old = Chat { is_legacy: true, ..chat() };
    let pieces = vec![Piece::Calls(calls()), Piece::End { stop: StopReason::ToolCalls, usage: None }];
    let chunks = streamed(&mut old, pieces);
    assert_eq!(chunks[1]["choices"][0]["delta"]["function_call"]["name"], "read");
    assert_eq!(chunks[2]["choices"][0]["finish_reason"], "function_call");
}
