//! Writing a message.

use serde_json::{Value, json};

use super::error;
use super::messages::Messages;
use super::messages_blocks::{INVALID_JSON, SIGNATURE};
use super::usage::usage;
use crate::capture::{Piece, StopReason, ToolCall};
use crate::http::dialect::{Block, Frames, Whole};

/// The whole message.
pub(super) fn whole(message: &Messages, answer: &Whole) -> Value {
    let mut content = Vec::new();
    for block in &answer.blocks {
        match block {
            Block::Reasoning(text) if message.shows_thinking => {
                content.push(json!({ "type": "thinking", "thinking": text, "signature": SIGNATURE }));
            }
            Block::Reasoning(_) => {}
            Block::Text(text) => content.push(json!({ "type": "text", "text": text })),
        }
    }
    content.extend(answer.calls.iter().map(|call| tool_use(call, &input(call))));
    message.object(&Value::Array(content), Some(stop_reason(answer.stop)), &usage(answer.usage.as_ref()))
}

fn tool_use(call: &ToolCall, input: &Value) -> Value {
    json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": input })
}

/// The arguments as an object, which is the only form that the dialect has.
fn input(call: &ToolCall) -> Value {
    let text = if call.arguments.trim().is_empty() { "{}" } else { &call.arguments };
    match serde_json::from_str(text) {
        Ok(object @ Value::Object(_)) => object,
        _ => json!({ INVALID_JSON: call.arguments }),
    }
}

/// The first events.
pub(super) fn begin(message: &Messages, frames: &mut Frames) {
    // Nothing is known yet; the figures are in message_delta. Clients add to these, so they must be numbers.
    let usage = json!({ "input_tokens": 0, "output_tokens": 0 });
    event("message_start", json!({ "message": message.object(&json!([]), None, &usage) }), frames);
    event("ping", json!({}), frames);
}

/// One more piece.
pub(super) fn encode(message: &mut Messages, piece: Piece, frames: &mut Frames) {
    match piece {
        Piece::Reasoning(_) if !message.shows_thinking => {}
        Piece::Reasoning(text) => {
            if !matches!(message.open, Some(Block::Reasoning(_))) {
                open(message, Block::Reasoning(String::new()), frames);
            }
            delta(message, &json!({ "type": "thinking_delta", "thinking": text }), frames);
        }
        Piece::Text(text) => {
            if !matches!(message.open, Some(Block::Text(_))) {
                open(message, Block::Text(String::new()), frames);
            }
            delta(message, &json!({ "type": "text_delta", "text": text }), frames);
        }
        Piece::Calls(calls) => {
            close(message, frames);
            for call in &calls {
                let block = tool_use(call, &json!({}));
                event("content_block_start", json!({ "index": message.next_block, "content_block": block }), frames);
                let json = input(call).to_string();
                delta(message, &json!({ "type": "input_json_delta", "partial_json": json }), frames);
                stop(message, frames);
            }
        }
        Piece::End { stop, usage: used } => {
            close(message, frames);
            let delta = json!({ "stop_reason": stop_reason(stop), "stop_sequence": null });
            event("message_delta", json!({ "delta": delta, "usage": usage(used.as_ref()) }), frames);
            event("message_stop", json!({}), frames);
        }
        Piece::Failed(failure) => frames.event("error", &error::body(&failure, None)),
    }
}

fn event(name: &str, mut data: Value, frames: &mut Frames) {
    data["type"] = json!(name);
    frames.event(name, &data);
}

fn open(message: &mut Messages, block: Block, frames: &mut Frames) {
    close(message, frames);
    let content = match block {
        Block::Reasoning(_) => json!({ "type": "thinking", "thinking": "", "signature": "" }),
        Block::Text(_) => json!({ "type": "text", "text": "" }),
    };
    message.open = Some(block);
    event("content_block_start", json!({ "index": message.next_block, "content_block": content }), frames);
}

fn delta(message: &Messages, delta: &Value, frames: &mut Frames) {
    event("content_block_delta", json!({ "index": message.next_block, "delta": delta }), frames);
}

/// Ends the open block.
fn close(message: &mut Messages, frames: &mut Frames) {
    let Some(block) = message.open.take() else { return };
    if matches!(block, Block::Reasoning(_)) {
        delta(message, &json!({ "type": "signature_delta", "signature": SIGNATURE }), frames);
    }
    stop(message, frames);
}

fn stop(message: &mut Messages, frames: &mut Frames) {
    event("content_block_stop", json!({ "index": message.next_block }), frames);
    message.next_block += 1;
}

fn stop_reason(stop: StopReason) -> &'static str {
    match stop {
        StopReason::Stop => "end_turn",
        StopReason::ToolCalls => "tool_use",
        StopReason::Length => "max_tokens",
        StopReason::ContentFilter => "refusal",
    }
}

#[cfg(test)]
mod tests;
