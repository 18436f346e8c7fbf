//! The items of an answer.

use serde_json::{Value, json};

use super::responses::Responses;
use crate::capture::ToolCall;
use crate::http::dialect::{Block, input_of};

/// The id of the item at an index.
pub(super) fn id(response: &Responses, prefix: &str, index: usize) -> String {
    format!("{prefix}_{}_{index}", response.id)
}

/// The prefix of the id of a block's item.
pub(super) fn prefix(block: &Block) -> &'static str {
    match block {
        Block::Reasoning(_) => "rs",
        Block::Text(_) => "msg",
    }
}

/// A finished item of reasoning or text.
pub(super) fn block(response: &Responses, index: usize, block: &Block) -> Value {
    let id = id(response, prefix(block), index);
    match block {
        Block::Reasoning(text) => json!({ "id": id, "type": "reasoning", "summary": [summary_part(text)] }),
        Block::Text(text) => json!({
            "id": id, "type": "message", "role": "assistant", "status": "completed", "content": [text_part(text)],
        }),
    }
}

/// A part of a reasoning item.
pub(super) fn summary_part(text: &str) -> Value {
    json!({ "type": "summary_text", "text": text })
}

/// A part of a message.
pub(super) fn text_part(text: &str) -> Value {
    json!({ "type": "output_text", "text": text, "annotations": [], "logprobs": [] })
}

/// A finished call.
pub(super) fn call(response: &Responses, index: usize, call: &ToolCall) -> Value {
    let namespaced = response.namespaced.iter().find(|tool| tool.full_name == call.name);
    let name = namespaced.map_or(&call.name, |tool| &tool.name);
    let mut item = if response.free_form.contains(&call.name) {
        json!({
            "id": id(response, "ctc", index), "type": "custom_tool_call", "call_id": call.id, "name": name,
            "input": input_of(&call.arguments), "status": "completed",
        })
    } else {
        json!({
            "id": id(response, "fc", index), "type": "function_call", "call_id": call.id, "name": name,
            "arguments": call.arguments, "status": "completed",
        })
    };
    if let Some(tool) = namespaced {
        item["namespace"] = json!(tool.namespace);
    }
    item
}
