//! A call of `POST /v1/responses`. It is stateless: nothing is stored, so every request has the whole conversation.

use serde_json::{Value, json};

use super::error::ERRORS;
use super::tool_definitions::Namespaced;
use super::usage::{self, usage};
use super::{responses_items, responses_request, responses_stream};
use crate::capture::{CaptureError, Piece, StopReason};
use crate::http::dialect::{Block, Dialect, ErrorShape, Fields, Frames, ReadRequest, Whole};
use crate::model::Usage;

/// What an answer must know about its request, and what of it was streamed.
#[derive(Debug, Default)]
pub(super) struct Responses {
    pub id: String,
    pub created: i64,
    pub model: String,
    /// Names of free-form tools, whose calls have another shape.
    pub free_form: Vec<String>,
    /// Tools of namespaces, whose calls name both.
    pub namespaced: Vec<Namespaced>,
    /// The caller's own notes, which the answer repeats.
    pub metadata: Value,
    /// The number of the next event.
    pub sequence: u64,
    /// The finished items.
    pub output: Vec<Value>,
    /// The item that is being streamed.
    pub open: Option<Block>,
}

impl Dialect for Responses {
    const NAME: &'static str = "responses";
    const ERRORS: ErrorShape = ERRORS;
    const KEEP_ALIVE: &'static [u8] = b": keep-alive\n\n";

    fn read(body: Fields) -> Result<ReadRequest<Self>, CaptureError> {
        responses_request::read(body)
    }

    fn begin_answer(&mut self, id: &str, time: i64) {
        id.clone_into(&mut self.id);
        self.created = time;
    }

    fn whole(&self, answer: Whole) -> Value {
        let blocks = answer.blocks.iter().enumerate().map(|(at, block)| responses_items::block(self, at, block));
        let calls = answer.calls.iter().enumerate();
        let calls = calls.map(|(at, call)| responses_items::call(self, answer.blocks.len() + at, call));
        let output = blocks.chain(calls).collect();
        self.ended(&output, answer.stop, answer.usage.as_ref())
    }

    fn begin_stream(&mut self, frames: &mut Frames) {
        responses_stream::begin(self, frames);
    }

    fn encode(&mut self, piece: Piece, frames: &mut Frames) {
        responses_stream::encode(self, piece, frames);
    }
}

impl Responses {
    /// The response object. What the request said is not repeated, except for its metadata.
    pub fn object(&self, status: &str, output: &Value) -> Value {
        json!({
            "id": format!("resp_{}", self.id), "object": "response", "created_at": self.created, "status": status,
            "background": false, "error": null, "incomplete_details": null, "instructions": null,
            "max_output_tokens": null, "metadata": self.metadata, "model": self.model, "output": output,
            "parallel_tool_calls": true, "previous_response_id": null, "store": false, "temperature": null,
            "text": { "format": { "type": "text" } }, "tool_choice": "auto", "tools": [], "top_p": null,
            "truncation": "disabled", "usage": null, "user": null,
        })
    }

    /// The response object at the end.
    pub fn ended(&self, output: &Value, stop: StopReason, used: Option<&Usage>) -> Value {
        let incomplete = match stop {
            StopReason::Stop | StopReason::ToolCalls => None,
            StopReason::Length => Some("max_output_tokens"),
            StopReason::ContentFilter => Some("content_filter"),
        };
        let mut object = self.object(if incomplete.is_some() { "incomplete" } else { "completed" }, output);
        if let Some(reason) = incomplete {
            object["incomplete_details"] = json!({ "reason": reason });
        }
        if let Some(mut used) = usage(used, &usage::RESPONSES) {
            // The official packages read both, and accept null for unknown.
            for details in ["input_tokens_details", "output_tokens_details"] {
                if used[details].is_null() {
                    used[details] = Value::Null;
                }
            }
            object["usage"] = used;
        }
        object
    }
}
