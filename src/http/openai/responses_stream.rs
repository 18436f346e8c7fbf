//! The events of a streamed answer.

use serde_json::{Value, json};

use super::error;
use super::responses::Responses;
use super::responses_items::{self, summary_part, text_part};
use crate::capture::{Piece, ToolCall};
use crate::http::dialect::{Block, Frames};

/// The first events.
pub(super) fn begin(response: &mut Responses, frames: &mut Frames) {
    for name in ["response.created", "response.in_progress"] {
        let object = response.object("in_progress", &json!([]));
        emit(response, name, json!({ "response": object }), frames);
    }
}

/// One more piece.
pub(super) fn encode(response: &mut Responses, piece: Piece, frames: &mut Frames) {
    match piece {
        Piece::Reasoning(delta) => {
            if !matches!(response.open, Some(Block::Reasoning(_))) {
                open(response, Block::Reasoning(String::new()), frames);
            }
            append(response, &delta, frames);
        }
        Piece::Text(delta) => {
            if !matches!(response.open, Some(Block::Text(_))) {
                open(response, Block::Text(String::new()), frames);
            }
            append(response, &delta, frames);
        }
        Piece::Calls(calls) => {
            close(response, frames);
            for call in &calls {
                write_call(response, call, frames);
            }
        }
        Piece::End { stop, usage } => {
            close(response, frames);
            let output = Value::Array(std::mem::take(&mut response.output));
            let object = response.ended(&output, stop, usage.as_ref());
            let is_complete = object["status"] == "completed";
            let name = if is_complete { "response.completed" } else { "response.incomplete" };
            emit(response, name, json!({ "response": object }), frames);
        }
        Piece::Failed(failure) => {
            let output = Value::Array(std::mem::take(&mut response.output));
            let mut object = response.object("failed", &output);
            let code = error::code(&failure).unwrap_or("invalid_prompt");
            object["error"] = json!({ "code": code, "message": failure.message });
            emit(response, "response.failed", json!({ "response": object }), frames);
        }
    }
}

/// Writes an event with its number.
fn emit(response: &mut Responses, name: &str, mut data: Value, frames: &mut Frames) {
    data["type"] = json!(name);
    data["sequence_number"] = json!(response.sequence);
    response.sequence += 1;
    frames.event(name, &data);
}

/// The fields that say where the open item is.
fn place(response: &Responses, block: &Block) -> Value {
    let index = response.output.len();
    let id = responses_items::id(response, responses_items::prefix(block), index);
    match block {
        Block::Reasoning(_) => json!({ "item_id": id, "output_index": index, "summary_index": 0 }),
        Block::Text(_) => json!({ "item_id": id, "output_index": index, "content_index": 0 }),
    }
}

fn with(mut place: Value, name: &str, value: Value) -> Value {
    place[name] = value;
    place
}

fn open(response: &mut Responses, block: Block, frames: &mut Frames) {
    close(response, frames);
    let index = response.output.len();
    let mut item = responses_items::block(response, index, &block);
    let place = place(response, &block);
    let (name, part) = match block {
        Block::Reasoning(_) => {
            item["summary"] = json!([]);
            ("response.reasoning_summary_part.added", summary_part(""))
        }
        Block::Text(_) => {
            item["content"] = json!([]);
            item["status"] = json!("in_progress");
            ("response.content_part.added", text_part(""))
        }
    };
    response.open = Some(block);
    emit(response, "response.output_item.added", json!({ "output_index": index, "item": item }), frames);
    emit(response, name, with(place, "part", part), frames);
}

fn append(response: &mut Responses, delta: &str, frames: &mut Frames) {
    let Some(mut block) = response.open.take() else { return };
    let place = with(place(response, &block), "delta", json!(delta));
    let (name, data) = match &mut block {
        Block::Reasoning(text) => {
            text.push_str(delta);
            ("response.reasoning_summary_text.delta", place)
        }
        Block::Text(text) => {
            text.push_str(delta);
            ("response.output_text.delta", with(place, "logprobs", json!([])))
        }
    };
    response.open = Some(block);
    emit(response, name, data, frames);
}

/// Ends the open item.
fn close(response: &mut Responses, frames: &mut Frames) {
    let Some(block) = response.open.take() else { return };
    let index = response.output.len();
    let (place, item) = (place(response, &block), responses_items::block(response, index, &block));
    match &block {
        Block::Reasoning(text) => {
            let done = with(place.clone(), "text", json!(text));
            emit(response, "response.reasoning_summary_text.done", done, frames);
            let done = with(place, "part", summary_part(text));
            emit(response, "response.reasoning_summary_part.done", done, frames);
        }
        Block::Text(text) => {
            let done = with(with(place.clone(), "text", json!(text)), "logprobs", json!([]));
            emit(response, "response.output_text.done", done, frames);
            emit(response, "response.content_part.done", with(place, "part", text_part(text)), frames);
        }
    }
    finish(response, index, item, frames);
}

fn finish(response: &mut Responses, index: usize, item: Value, frames: &mut Frames) {
    emit(response, "response.output_item.done", json!({ "output_index": index, "item": item }), frames);
    response.output.push(item);
}

fn write_call(response: &mut Responses, call: &ToolCall, frames: &mut Frames) {
    let index = response.output.len();
    let item = responses_items::call(response, index, call);
    let is_free_form = item["type"] == "custom_tool_call";
    let (field, name) = if is_free_form {
        ("input", "response.custom_tool_call_input")
    } else {
        ("arguments", "response.function_call_arguments")
    };
    let mut begun = item.clone();
    begun[field] = json!("");
    begun["status"] = json!("in_progress");
    emit(response, "response.output_item.added", json!({ "output_index": index, "item": begun }), frames);
    let place = json!({ "item_id": item["id"], "output_index": index });
    emit(response, &format!("{name}.delta"), with(place.clone(), "delta", item[field].clone()), frames);
    let mut done = with(place, field, item[field].clone());
    if !is_free_form {
        done["name"] = item["name"].clone();
    }
    emit(response, &format!("{name}.done"), done, frames);
    finish(response, index, item, frames);
}

#[cfg(test)]
mod tests;
