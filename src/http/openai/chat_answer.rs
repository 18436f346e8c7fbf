//! Writing the answer to a chat request.

use serde_json::{Value, json};

use super::chat::Chat;
use super::error;
use super::usage::{self, usage};
use crate::capture::{Piece, StopReason, ToolCall};
use crate::http::dialect::{Frames, Whole, input_of};

/// The whole answer.
pub(super) fn whole(chat: &Chat, answer: &Whole) -> Value {
    let (text, reasoning) = (answer.text(), answer.reasoning());
    let mut message = json!({ "role": "assistant", "content": null, "refusal": null });
    if !text.is_empty() || answer.calls.is_empty() {
        message["content"] = json!(text);
    }
    if !reasoning.is_empty() {
        message["reasoning_content"] = json!(reasoning);
    }
    match answer.calls.as_slice() {
        [] => {}
        [first, ..] if chat.is_legacy => message["function_call"] = function(first),
        calls => message["tool_calls"] = calls.iter().map(|call| tool_call(chat, call)).collect(),
    }
    let choice = json!({
        "index": 0, "message": message, "logprobs": null, "finish_reason": finish_reason(chat, answer.stop),
    });
    let mut body = json!({
        "id": chat.id, "object": "chat.completion", "created": chat.created, "model": chat.model, "choices": [choice],
    });
    if let Some(usage) = usage(answer.usage.as_ref(), &usage::CHAT) {
        body["usage"] = usage;
    }
    body
}

/// The first chunk.
pub(super) fn begin(chat: &Chat, frames: &mut Frames) {
    frames.data(&chunk(chat, &json!({ "role": "assistant", "content": "" }), None));
}

/// One more piece.
pub(super) fn encode(chat: &mut Chat, piece: Piece, frames: &mut Frames) {
    match piece {
        Piece::Reasoning(text) => frames.data(&chunk(chat, &json!({ "reasoning_content": text }), None)),
        Piece::Text(text) => frames.data(&chunk(chat, &json!({ "content": text }), None)),
        Piece::Calls(calls) if chat.is_legacy => {
            if let Some(first) = calls.first() {
                frames.data(&chunk(chat, &json!({ "function_call": function(first) }), None));
            }
        }
        Piece::Calls(calls) => {
            for call in &calls {
                let mut delta = tool_call(chat, call);
                delta["index"] = json!(chat.calls);
                chat.calls += 1;
                frames.data(&chunk(chat, &json!({ "tool_calls": [delta] }), None));
            }
        }
        Piece::End { stop, usage: used } => {
            frames.data(&chunk(chat, &json!({}), Some(finish_reason(chat, stop))));
            if chat.include_usage
                && let Some(used) = usage(used.as_ref(), &usage::CHAT)
            {
                let mut last = chunk(chat, &json!({}), None);
                last["choices"] = json!([]);
                last["usage"] = used;
                frames.data(&last);
            }
            frames.raw(b"data: [DONE]\n\n");
        }
        Piece::Failed(failure) => frames.data(&error::body(&failure)),
    }
}

fn chunk(chat: &Chat, delta: &Value, finish_reason: Option<&str>) -> Value {
    let choice = json!({ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish_reason });
    let mut chunk = json!({
        "id": chat.id, "object": "chat.completion.chunk", "created": chat.created, "model": chat.model,
        "choices": [choice],
    });
    if chat.include_usage {
        chunk["usage"] = Value::Null;
    }
    chunk
}

fn function(call: &ToolCall) -> Value {
    json!({ "name": call.name, "arguments": call.arguments })
}

fn tool_call(chat: &Chat, call: &ToolCall) -> Value {
    if chat.free_form.contains(&call.name) {
        let input = input_of(&call.arguments);
        return json!({ "id": call.id, "type": "custom", "custom": { "name": call.name, "input": input } });
    }
    json!({ "id": call.id, "type": "function", "function": function(call) })
}

fn finish_reason(chat: &Chat, stop: StopReason) -> &'static str {
    match stop {
        StopReason::Stop => "stop",
        StopReason::ToolCalls if chat.is_legacy => "function_call",
        StopReason::ToolCalls => "tool_calls",
        StopReason::Length => "length",
        StopReason::ContentFilter => "content_filter",
    }
}

#[cfg(test)]
mod tests;
