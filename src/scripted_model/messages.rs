//! Anthropic's messages.

use std::time::Duration;

use axum::Json;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::chat::{Chunk, stream};
use super::scenario::Item;

pub(super) fn respond(request: &Value, items: Vec<Item>) -> Response {
    let is_call = items.iter().any(|item| matches!(item, Item::Tool { .. }));
    let stop_reason = if is_call { "tool_use" } else { "end_turn" };
    let message = json!({
        "id": format!("msg_{}", uuid::Uuid::new_v4().simple()), "type": "message", "role": "assistant",
        "model": request["model"], "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": { "input_tokens": 100, "output_tokens": 1, "cache_read_input_tokens": 50, "cache_creation_input_tokens": 0 },
    });
    if request["stream"] == json!(true) {
        streamed(&message, items, stop_reason)
    } else {
        whole(message, items, stop_reason)
    }
}

fn whole(mut message: Value, items: Vec<Item>, stop_reason: &str) -> Response {
    let block = |item| match item {
        Item::Text(pieces, _) => Some(json!({ "type": "text", "text": pieces.concat() })),
        Item::Reasoning(pieces) => {
            Some(json!({ "type": "thinking", "thinking": pieces.concat(), "signature": "c2ln" }))
        }
        Item::Tool { name, arguments } => Some(tool_use(&name, &serde_json::from_str(&arguments).unwrap_or_default())),
        Item::Break | Item::Error(_) | Item::Billed(_) | Item::Finish(_) => None,
    };
    message["content"] = items.into_iter().filter_map(block).collect();
    message["stop_reason"] = json!(stop_reason);
    message["usage"]["output_tokens"] = json!(20);
    Json(message).into_response()
}

fn tool_use(name: &str, input: &Value) -> Value {
    json!({ "type": "tool_use", "id": format!("toolu_{}", uuid::Uuid::new_v4().simple()), "name": name, "input": input })
}

fn streamed(message: &Value, items: Vec<Item>, stop_reason: &str) -> Response {
    let at_once = |event: Value| -> Chunk { (Some(event), Duration::ZERO) };
    let mut chunks = vec![at_once(json!({ "type": "message_start", "message": message }))];
    for (index, item) in items.into_iter().enumerate() {
        let begins =
            |block: Value| at_once(json!({ "type": "content_block_start", "index": index, "content_block": block }));
        let delta = |delta: Value| json!({ "type": "content_block_delta", "index": index, "delta": delta });
        match item {
            Item::Text(pieces, pause) => {
                chunks.push(begins(json!({ "type": "text", "text": "" })));
                let said = pieces.into_iter().map(|piece| delta(json!({ "type": "text_delta", "text": piece })));
                chunks.extend(said.map(|event| (Some(event), pause)));
            }
            Item::Reasoning(pieces) => {
                chunks.push(begins(json!({ "type": "thinking", "thinking": "", "signature": "" })));
                let thought =
                    pieces.into_iter().map(|piece| delta(json!({ "type": "thinking_delta", "thinking": piece })));
                chunks.extend(thought.map(at_once));
                chunks.push(at_once(delta(json!({ "type": "signature_delta", "signature": "c2ln" }))));
            }
            Item::Tool { name, arguments } => {
                chunks.push(begins(tool_use(&name, &json!({}))));
                chunks.push(at_once(delta(json!({ "type": "input_json_delta", "partial_json": arguments }))));
            }
            Item::Break => {
                chunks.push((None, Duration::ZERO));
                return stream(chunks, false);
            }
            Item::Error(_) | Item::Billed(_) | Item::Finish(_) => continue,
        }
        chunks.push(at_once(json!({ "type": "content_block_stop", "index": index })));
    }
    let end = json!({ "stop_reason": stop_reason, "stop_sequence": null });
    chunks.push(at_once(json!({ "type": "message_delta", "delta": end, "usage": { "output_tokens": 20 } })));
    chunks.push(at_once(json!({ "type": "message_stop" })));
    stream(chunks, false)
}
