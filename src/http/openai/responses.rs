//! A call of `POST /v1/responses`. It is stateless: nothing is stored, so every request has the whole conversation.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::error::ERRORS;
use super::responses_items::ResponseItem;
use super::tool_definitions::Namespaced;
use super::usage::{ResponseUsage, response_usage};
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
    pub output: Vec<ResponseItem>,
    /// The item that is being streamed.
    pub open: Option<Block>,
}

impl Dialect for Responses {
    const NAME: &'static str = "responses";
    const ERRORS: ErrorShape = ERRORS;
    const KEEP_ALIVE: &'static [u8] = b": keep-alive\n\n";
    type Answer = ResponseObject;

    fn read(body: Fields) -> Result<ReadRequest<Self>, CaptureError> {
        responses_request::read(body)
    }

    fn begin_answer(&mut self, id: &str, time: i64) {
        id.clone_into(&mut self.id);
        self.created = time;
    }

    fn whole(&self, answer: Whole) -> ResponseObject {
        let blocks = answer.blocks.iter().enumerate().map(|(at, block)| responses_items::block(self, at, block));
        let calls = answer.calls.iter().enumerate();
        let calls = calls.map(|(at, call)| responses_items::call(self, answer.blocks.len() + at, call));
        let output = blocks.chain(calls).collect();
        self.ended(output, answer.stop, answer.usage.as_ref())
    }

    fn begin_stream(&mut self, frames: &mut Frames) {
        responses_stream::begin(self, frames);
    }

    fn encode(&mut self, piece: Piece, frames: &mut Frames) {
        responses_stream::encode(self, piece, frames);
    }
}

/// A response. What the request said is not repeated, except for its metadata.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct ResponseObject {
    id: String,
    /// `response`.
    object: &'static str,
    /// In seconds since 1970.
    created_at: i64,
    pub(super) status: ResponseStatus,
    background: bool,
    pub(super) error: Option<ResponseFailure>,
    incomplete_details: Option<IncompleteDetails>,
    instructions: (),
    max_output_tokens: (),
    metadata: Value,
    model: String,
    output: Vec<ResponseItem>,
    parallel_tool_calls: bool,
    previous_response_id: (),
    store: bool,
    temperature: (),
    text: TextSettings,
    tool_choice: &'static str,
    tools: [(); 0],
    top_p: (),
    truncation: &'static str,
    /// Null if the agent does not report it.
    usage: Option<ResponseUsage>,
    user: (),
}

/// How far a response is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ResponseStatus {
    InProgress,
    Completed,
    Incomplete,
    Failed,
}

/// Why a response failed.
#[derive(Serialize, JsonSchema)]
pub(super) struct ResponseFailure {
    pub code: &'static str,
    pub message: String,
}

/// Why a response is not complete.
#[derive(Serialize, JsonSchema)]
struct IncompleteDetails {
    reason: &'static str,
}

/// The form of the text.
#[derive(Serialize, JsonSchema)]
struct TextSettings {
    format: TextFormat,
}

/// Plain text.
#[derive(Serialize, JsonSchema)]
struct TextFormat {
    #[serde(rename = "type")]
    kind: &'static str,
}

impl Responses {
    /// The response object.
    pub fn object(&self, status: ResponseStatus, output: Vec<ResponseItem>) -> ResponseObject {
        ResponseObject {
            id: format!("resp_{}", self.id),
            object: "response",
            created_at: self.created,
            status,
            background: false,
            error: None,
            incomplete_details: None,
            instructions: (),
            max_output_tokens: (),
            metadata: self.metadata.clone(),
            model: self.model.clone(),
            output,
            parallel_tool_calls: true,
            previous_response_id: (),
            store: false,
            temperature: (),
            text: TextSettings { format: TextFormat { kind: "text" } },
            tool_choice: "auto",
            tools: [],
            top_p: (),
            truncation: "disabled",
            usage: None,
            user: (),
        }
    }

    /// The response object at the end.
    pub fn ended(&self, output: Vec<ResponseItem>, stop: StopReason, used: Option<&Usage>) -> ResponseObject {
        let incomplete = match stop {
            StopReason::Stop | StopReason::ToolCalls => None,
            StopReason::Length => Some("max_output_tokens"),
            StopReason::ContentFilter => Some("content_filter"),
        };
        let status = if incomplete.is_some() { ResponseStatus::Incomplete } else { ResponseStatus::Completed };
        ResponseObject {
            incomplete_details: incomplete.map(|reason| IncompleteDetails { reason }),
            usage: response_usage(used),
            ..self.object(status, output)
        }
    }
}
