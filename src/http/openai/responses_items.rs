//! The items of an answer.

use schemars::JsonSchema;
use serde::Serialize;

use super::responses::Responses;
use crate::capture::ToolCall;
use crate::http::dialect::{Block, input_of};

/// An item of an answer.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(in crate::http) enum ResponseItem {
    /// What the model thought.
    Reasoning { id: String, summary: Vec<SummaryPart> },
    /// What it says.
    Message { id: String, role: &'static str, status: ItemStatus, content: Vec<TextPart> },
    /// A call of a function.
    FunctionCall {
        id: String,
        call_id: String,
        name: String,
        /// JSON text.
        arguments: String,
        status: ItemStatus,
        #[serde(skip_serializing_if = "Option::is_none")]
        namespace: Option<String>,
    },
    /// A call of a free-form tool.
    CustomToolCall {
        id: String,
        call_id: String,
        name: String,
        input: String,
        status: ItemStatus,
        #[serde(skip_serializing_if = "Option::is_none")]
        namespace: Option<String>,
    },
}

/// How far an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(in crate::http) enum ItemStatus {
    InProgress,
    Completed,
}

/// A part of a reasoning item.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(in crate::http) struct SummaryPart {
    /// `summary_text`.
    #[serde(rename = "type")]
    kind: &'static str,
    text: String,
}

/// A part of a message.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(in crate::http) struct TextPart {
    /// `output_text`.
    #[serde(rename = "type")]
    kind: &'static str,
    text: String,
    annotations: [(); 0],
    logprobs: [(); 0],
}

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
pub(super) fn block(response: &Responses, index: usize, block: &Block) -> ResponseItem {
    let id = id(response, prefix(block), index);
    match block {
        Block::Reasoning(text) => ResponseItem::Reasoning { id, summary: vec![summary_part(text)] },
        Block::Text(text) => ResponseItem::Message {
            id,
            role: "assistant",
            status: ItemStatus::Completed,
            content: vec![text_part(text)],
        },
    }
}

/// A part of a reasoning item.
pub(super) fn summary_part(text: &str) -> SummaryPart {
    SummaryPart { kind: "summary_text", text: text.to_owned() }
}

/// A part of a message.
pub(super) fn text_part(text: &str) -> TextPart {
    TextPart { kind: "output_text", text: text.to_owned(), annotations: [], logprobs: [] }
}

/// A finished call.
pub(super) fn call(response: &Responses, index: usize, call: &ToolCall) -> ResponseItem {
    let namespaced = response.namespaced.iter().find(|tool| tool.full_name == call.name);
    let name = namespaced.map_or(&call.name, |tool| &tool.name).clone();
    let namespace = namespaced.map(|tool| tool.namespace.clone());
    let (call_id, status) = (call.id.clone(), ItemStatus::Completed);
    if response.free_form.contains(&call.name) {
        let (id, input) = (id(response, "ctc", index), input_of(&call.arguments));
        ResponseItem::CustomToolCall { id, call_id, name, input, status, namespace }
    } else {
        let (id, arguments) = (id(response, "fc", index), call.arguments.clone());
        ResponseItem::FunctionCall { id, call_id, name, arguments, status, namespace }
    }
}
