//! The responses API.

use std::time::Duration;

use axum::Json;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::chat::{Chunk, stream};
use super::scenario::Item;

/// Events of one response, numbered.
struct Events(Vec<Chunk>);

impl Events {
    fn push(&mut self, kind: &str, mut event: Value, pause: Duration) {
        event["type"] = json!(kind);
        event["sequence_number"] = json!(self.0.len());
        self.0.push((Some(event), pause));
    }

    fn at_once(&mut self, kind: &str, event: Value) {
        self.push(kind, event, Duration::ZERO);
    }
}

pub(super) fn respond(request: &Value, items: Vec<Item>) -> Response {
    let response = json!({
        "id": "resp_scripted", "object": "response", "created_at": 0, "status": "in_progress",
        "model": request["model"], "output": [], "parallel_tool_calls": true, "tools": [], "tool_choice": "auto",
        "error": null, "incomplete_details": null, "instructions": null, "metadata": {},
    });
    let mut events = Events(Vec::new());
    events.at_once("response.created", json!({ "response": response }));
    let mut output = Vec::new();
    for (index, item) in items.into_iter().enumerate() {
        let id = format!("item_{}", uuid::Uuid::new_v4().simple());
        let finished = match item {
            Item::Text(pieces, pause) => text(&mut events, index, &id, &pieces, pause),
            Item::Reasoning(pieces) => reasoning(&mut events, index, &id, &pieces),
            Item::Tool { name, arguments } => function_call(&mut events, index, &id, &name, &arguments),
            Item::Break => {
                events.0.push((None, Duration::ZERO));
                return stream(events.0, false);
            }
            Item::Error(_) | Item::Billed(_) | Item::Finish(_) => continue,
        };
        events.at_once("response.output_item.done", json!({ "output_index": index, "item": finished }));
        output.push(finished);
    }
    let mut completed = response;
    completed["status"] = json!("completed");
    completed["output"] = json!(output);
    completed["usage"] = json!({
        "input_tokens": 100, "output_tokens": 20, "total_tokens": 120,
        "input_tokens_details": { "cached_tokens": 50 }, "output_tokens_details": { "reasoning_tokens": 5 },
    });
    if request["stream"] != json!(true) {
        return Json(completed).into_response();
    }
    events.at_once("response.completed", json!({ "response": completed }));
    stream(events.0, false)
}

fn text(events: &mut Events, index: usize, id: &str, pieces: &[String], pause: Duration) -> Value {
    let place = json!({ "item_id": id, "output_index": index, "content_index": 0 });
    let with = |name: &str, value: Value| {
        let mut event = place.clone();
        event[name] = value;
        event
    };
    let started = json!({ "id": id, "type": "message", "role": "assistant", "status": "in_progress", "content": [] });
    events.at_once("response.output_item.added", json!({ "output_index": index, "item": started }));
    let part = json!({ "type": "output_text", "text": "", "annotations": [] });
    events.at_once("response.content_part.added", with("part", part));
    for piece in pieces {
        events.push("response.output_text.delta", with("delta", json!(piece)), pause);
    }
    let full = pieces.concat();
    events.at_once("response.output_text.done", with("text", json!(full)));
    let part = json!({ "type": "output_text", "text": full, "annotations": [] });
    events.at_once("response.content_part.done", with("part", part.clone()));
    json!({ "id": id, "type": "message", "role": "assistant", "status": "completed", "content": [part] })
}

fn reasoning(events: &mut Events, index: usize, id: &str, pieces: &[String]) -> Value {
    let place = json!({ "item_id": id, "output_index": index, "summary_index": 0 });
    let with = |name: &str, value: Value| {
        let mut event = place.clone();
        event[name] = value;
        event
    };
    let started = json!({ "id": id, "type": "reasoning", "summary": [] });
    events.at_once("response.output_item.added", json!({ "output_index": index, "item": started }));
    events
        .at_once("response.reasoning_summary_part.added", with("part", json!({ "type": "summary_text", "text": "" })));
    for piece in pieces {
        events.at_once("response.reasoning_summary_text.delta", with("delta", json!(piece)));
    }
    let part = json!({ "type": "summary_text", "text": pieces.concat() });
    events.at_once("response.reasoning_summary_text.done", with("text", part["text"].clone()));
    events.at_once("response.reasoning_summary_part.done", with("part", part.clone()));
    json!({ "id": id, "type": "reasoning", "summary": [part], "encrypted_content": "AAAA" })
}

fn function_call(events: &mut Events, index: usize, id: &str, name: &str, text: &str) -> Value {
    let mut call = json!({
        "id": id, "type": "function_call", "status": "in_progress", "call_id": format!("call_{id}"),
        "name": name, "arguments": "",
    });
    events.at_once("response.output_item.added", json!({ "output_index": index, "item": call }));
    let place = json!({ "item_id": id, "output_index": index, "delta": text });
    events.at_once("response.function_call_arguments.delta", place);
    let done = json!({ "item_id": id, "output_index": index, "arguments": text, "name": name });
    events.at_once("response.function_call_arguments.done", done);
    call["status"] = json!("completed");
    call["arguments"] = json!(text);
    call
}
