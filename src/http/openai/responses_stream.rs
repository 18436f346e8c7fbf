//! The events of a streamed answer.

use schemars::JsonSchema;
use serde::Serialize;

use super::error;
use super::responses::{ResponseFailure, ResponseObject, ResponseStatus, Responses};
use super::responses_items::{self, ItemStatus, ResponseItem, SummaryPart, TextPart, summary_part, text_part};
use crate::capture::{Piece, ToolCall};
use crate::http::dialect::{Block, Frames};

/// An event with its number.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct ResponseEvent {
    #[serde(flatten)]
    kind: EventKind,
    sequence_number: u64,
}

/// What happened.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "type")]
#[schemars(rename = "ResponseEventKind")]
enum EventKind {
    #[serde(rename = "response.created")]
    Created { response: Box<ResponseObject> },
    #[serde(rename = "response.in_progress")]
    InProgress { response: Box<ResponseObject> },
    #[serde(rename = "response.output_item.added")]
    ItemAdded { output_index: usize, item: ResponseItem },
    #[serde(rename = "response.output_item.done")]
    ItemDone { output_index: usize, item: ResponseItem },
    #[serde(rename = "response.reasoning_summary_part.added")]
    SummaryPartAdded {
        #[serde(flatten)]
        place: SummaryPlace,
        part: SummaryPart,
    },
    #[serde(rename = "response.reasoning_summary_text.delta")]
    SummaryTextDelta {
        #[serde(flatten)]
        place: SummaryPlace,
        delta: String,
    },
    #[serde(rename = "response.reasoning_summary_text.done")]
    SummaryTextDone {
        #[serde(flatten)]
        place: SummaryPlace,
        text: String,
    },
    #[serde(rename = "response.reasoning_summary_part.done")]
    SummaryPartDone {
        #[serde(flatten)]
        place: SummaryPlace,
        part: SummaryPart,
    },
    #[serde(rename = "response.content_part.added")]
    ContentPartAdded {
        #[serde(flatten)]
        place: ContentPlace,
        part: TextPart,
    },
    #[serde(rename = "response.output_text.delta")]
    TextDelta {
        #[serde(flatten)]
        place: ContentPlace,
        delta: String,
        logprobs: [(); 0],
    },
    #[serde(rename = "response.output_text.done")]
    TextDone {
        #[serde(flatten)]
        place: ContentPlace,
        text: String,
        logprobs: [(); 0],
    },
    #[serde(rename = "response.content_part.done")]
    ContentPartDone {
        #[serde(flatten)]
        place: ContentPlace,
        part: TextPart,
    },
    #[serde(rename = "response.function_call_arguments.delta")]
    ArgumentsDelta { item_id: String, output_index: usize, delta: String },
    #[serde(rename = "response.function_call_arguments.done")]
    ArgumentsDone { item_id: String, output_index: usize, arguments: String, name: String },
    #[serde(rename = "response.custom_tool_call_input.delta")]
    InputDelta { item_id: String, output_index: usize, delta: String },
    #[serde(rename = "response.custom_tool_call_input.done")]
    InputDone { item_id: String, output_index: usize, input: String },
    #[serde(rename = "response.completed")]
    Completed { response: Box<ResponseObject> },
    #[serde(rename = "response.incomplete")]
    Incomplete { response: Box<ResponseObject> },
    #[serde(rename = "response.failed")]
    Failed { response: Box<ResponseObject> },
}

/// Where a part of a reasoning item is.
#[derive(Clone, Serialize, JsonSchema)]
struct SummaryPlace {
    item_id: String,
    output_index: usize,
    summary_index: usize,
}

/// Where a part of a message is.
#[derive(Clone, Serialize, JsonSchema)]
struct ContentPlace {
    item_id: String,
    output_index: usize,
    content_index: usize,
}

impl EventKind {
    /// The name of the frame, which is the type too.
    fn name(&self) -> &'static str {
        match self {
            Self::Created { .. } => "response.created",
            Self::InProgress { .. } => "response.in_progress",
            Self::ItemAdded { .. } => "response.output_item.added",
            Self::ItemDone { .. } => "response.output_item.done",
            Self::SummaryPartAdded { .. } => "response.reasoning_summary_part.added",
            Self::SummaryTextDelta { .. } => "response.reasoning_summary_text.delta",
            Self::SummaryTextDone { .. } => "response.reasoning_summary_text.done",
            Self::SummaryPartDone { .. } => "response.reasoning_summary_part.done",
            Self::ContentPartAdded { .. } => "response.content_part.added",
            Self::TextDelta { .. } => "response.output_text.delta",
            Self::TextDone { .. } => "response.output_text.done",
            Self::ContentPartDone { .. } => "response.content_part.done",
            Self::ArgumentsDelta { .. } => "response.function_call_arguments.delta",
            Self::ArgumentsDone { .. } => "response.function_call_arguments.done",
            Self::InputDelta { .. } => "response.custom_tool_call_input.delta",
            Self::InputDone { .. } => "response.custom_tool_call_input.done",
            Self::Completed { .. } => "response.completed",
            Self::Incomplete { .. } => "response.incomplete",
            Self::Failed { .. } => "response.failed",
        }
    }
}

/// The first events.
pub(super) fn begin(response: &mut Responses, frames: &mut Frames) {
    let object = |response: &Responses| Box::new(response.object(ResponseStatus::InProgress, Vec::new()));
    let created = EventKind::Created { response: object(response) };
    emit(response, created, frames);
    let in_progress = EventKind::InProgress { response: object(response) };
    emit(response, in_progress, frames);
}

/// One more piece.
pub(super) fn encode(response: &mut Responses, piece: Piece, frames: &mut Frames) {
    match piece {
        Piece::Reasoning(delta) => {
            if !matches!(response.open, Some(Block::Reasoning(_))) {
                open(response, Block::Reasoning(String::new()), frames);
            }
            append(response, delta, frames);
        }
        Piece::Text(delta) => {
            if !matches!(response.open, Some(Block::Text(_))) {
                open(response, Block::Text(String::new()), frames);
            }
            append(response, delta, frames);
        }
        Piece::Calls(calls) => {
            close(response, frames);
            for call in &calls {
                write_call(response, call, frames);
            }
        }
        Piece::End { stop, usage } => {
            close(response, frames);
            let output = std::mem::take(&mut response.output);
            let object = Box::new(response.ended(output, stop, usage.as_ref()));
            let end = if object.status == ResponseStatus::Completed {
                EventKind::Completed { response: object }
            } else {
                EventKind::Incomplete { response: object }
            };
            emit(response, end, frames);
        }
        Piece::Failed(failure) => {
            let output = std::mem::take(&mut response.output);
            let code = error::code(&failure).unwrap_or("invalid_prompt");
            let error = Some(ResponseFailure { code, message: failure.message });
            let mut object = Box::new(response.object(ResponseStatus::Failed, output));
            object.error = error;
            emit(response, EventKind::Failed { response: object }, frames);
        }
    }
}

/// Writes an event with its number.
fn emit(response: &mut Responses, kind: EventKind, frames: &mut Frames) {
    let name = kind.name();
    let event = ResponseEvent { kind, sequence_number: response.sequence };
    response.sequence += 1;
    frames.event(name, &event);
}

/// Where the open item is: its id and its index.
fn place(response: &Responses, block: &Block) -> (String, usize) {
    let index = response.output.len();
    (responses_items::id(response, responses_items::prefix(block), index), index)
}

fn summary_place((item_id, output_index): (String, usize)) -> SummaryPlace {
    SummaryPlace { item_id, output_index, summary_index: 0 }
}

fn content_place((item_id, output_index): (String, usize)) -> ContentPlace {
    ContentPlace { item_id, output_index, content_index: 0 }
}

fn open(response: &mut Responses, block: Block, frames: &mut Frames) {
    close(response, frames);
    let place = place(response, &block);
    let (id, output_index) = place.clone();
    let (item, part) = match block {
        Block::Reasoning(_) => {
            let part = EventKind::SummaryPartAdded { place: summary_place(place), part: summary_part("") };
            (ResponseItem::Reasoning { id, summary: Vec::new() }, part)
        }
        Block::Text(_) => {
            let part = EventKind::ContentPartAdded { place: content_place(place), part: text_part("") };
            let (role, status) = ("assistant", ItemStatus::InProgress);
            (ResponseItem::Message { id, role, status, content: Vec::new() }, part)
        }
    };
    response.open = Some(block);
    emit(response, EventKind::ItemAdded { output_index, item }, frames);
    emit(response, part, frames);
}

fn append(response: &mut Responses, delta: String, frames: &mut Frames) {
    let Some(mut block) = response.open.take() else { return };
    let place = place(response, &block);
    let event = match &mut block {
        Block::Reasoning(text) => {
            text.push_str(&delta);
            EventKind::SummaryTextDelta { place: summary_place(place), delta }
        }
        Block::Text(text) => {
            text.push_str(&delta);
            EventKind::TextDelta { place: content_place(place), delta, logprobs: [] }
        }
    };
    response.open = Some(block);
    emit(response, event, frames);
}

/// Ends the open item.
fn close(response: &mut Responses, frames: &mut Frames) {
    let Some(block) = response.open.take() else { return };
    let index = response.output.len();
    let (place, item) = (place(response, &block), responses_items::block(response, index, &block));
    match block {
        Block::Reasoning(text) => {
            let (place, part) = (summary_place(place), summary_part(&text));
            emit(response, EventKind::SummaryTextDone { place: place.clone(), text }, frames);
            emit(response, EventKind::SummaryPartDone { place, part }, frames);
        }
        Block::Text(text) => {
            let (place, part) = (content_place(place), text_part(&text));
            emit(response, EventKind::TextDone { place: place.clone(), text, logprobs: [] }, frames);
            emit(response, EventKind::ContentPartDone { place, part }, frames);
        }
    }
    finish(response, index, item, frames);
}

fn finish(response: &mut Responses, output_index: usize, item: ResponseItem, frames: &mut Frames) {
    emit(response, EventKind::ItemDone { output_index, item: item.clone() }, frames);
    response.output.push(item);
}

fn write_call(response: &mut Responses, call: &ToolCall, frames: &mut Frames) {
    let output_index = response.output.len();
    let item = responses_items::call(response, output_index, call);
    let mut begun = item.clone();
    let (delta, done) = match &mut begun {
        ResponseItem::FunctionCall { id, arguments, name, status, .. } => {
            *status = ItemStatus::InProgress;
            let (item_id, arguments, name) = (id.clone(), std::mem::take(arguments), name.clone());
            (
                EventKind::ArgumentsDelta { item_id: item_id.clone(), output_index, delta: arguments.clone() },
                EventKind::ArgumentsDone { item_id, output_index, arguments, name },
            )
        }
        ResponseItem::CustomToolCall { id, input, status, .. } => {
            *status = ItemStatus::InProgress;
            let (item_id, input) = (id.clone(), std::mem::take(input));
            (
                EventKind::InputDelta { item_id: item_id.clone(), output_index, delta: input.clone() },
                EventKind::InputDone { item_id, output_index, input },
            )
        }
        // A call is never one of these.
        ResponseItem::Reasoning { .. } | ResponseItem::Message { .. } => return,
    };
    emit(response, EventKind::ItemAdded { output_index, item: begun }, frames);
    emit(response, delta, frames);
    emit(response, done, frames);
    finish(response, output_index, item, frames);
}

#[cfg(test)]
mod tests;
