//! Writing a message.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::error::{self, MessagesError};
use super::messages::Messages;
use super::messages_blocks::{INVALID_JSON, SIGNATURE};
use super::usage::{MessageUsage, usage};
use crate::capture::{Piece, StopReason, ToolCall};
use crate::http::dialect::{Block, Frames, Whole};

/// A message.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct MessageObject {
    pub(super) id: String,
    /// `message`.
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    /// `assistant`.
    pub(super) role: &'static str,
    pub(super) model: String,
    pub(super) content: Vec<ContentBlock>,
    /// `end_turn`, `tool_use`, `max_tokens` or `refusal`; null at the beginning of a stream.
    pub(super) stop_reason: Option<&'static str>,
    pub(super) stop_sequence: (),
    pub(super) usage: MessageUsage,
}

/// A part of a message.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(in crate::http) enum ContentBlock {
    /// What the model thought.
    Thinking { thinking: String, signature: &'static str },
    /// What it says.
    Text { text: String },
    /// A call of a tool.
    ToolUse { id: String, name: String, input: Map<String, Value> },
}

/// An event of a stream.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(in crate::http) enum MessageEvent {
    MessageStart {
        message: Box<MessageObject>,
    },
    Ping {},
    ContentBlockStart {
        index: usize,
        content_block: ContentBlock,
    },
    ContentBlockDelta {
        index: usize,
        delta: BlockDelta,
    },
    ContentBlockStop {
        index: usize,
    },
    MessageDelta {
        delta: EndDelta,
        usage: MessageUsage,
    },
    MessageStop {},
    #[serde(untagged)]
    Error(MessagesError),
}

/// What is new in a block.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(clippy::enum_variant_names, reason = "the names are the dialect's")]
pub(in crate::http) enum BlockDelta {
    ThinkingDelta { thinking: String },
    SignatureDelta { signature: &'static str },
    TextDelta { text: String },
    InputJsonDelta { partial_json: String },
}

/// How a message ended.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct EndDelta {
    stop_reason: &'static str,
    stop_sequence: (),
}

impl MessageEvent {
    /// The name of the frame, which is the type too.
    fn name(&self) -> &'static str {
        match self {
            Self::MessageStart { .. } => "message_start",
            Self::Ping {} => "ping",
            Self::ContentBlockStart { .. } => "content_block_start",
            Self::ContentBlockDelta { .. } => "content_block_delta",
            Self::ContentBlockStop { .. } => "content_block_stop",
            Self::MessageDelta { .. } => "message_delta",
            Self::MessageStop {} => "message_stop",
            Self::Error(_) => "error",
        }
    }
}

/// The whole message.
pub(super) fn whole(message: &Messages, answer: &Whole) -> MessageObject {
    let mut content = Vec::new();
    for block in &answer.blocks {
        match block {
            Block::Reasoning(text) if message.shows_thinking => {
                content.push(ContentBlock::Thinking { thinking: text.clone(), signature: SIGNATURE });
            }
            Block::Reasoning(_) => {}
            Block::Text(text) => content.push(ContentBlock::Text { text: text.clone() }),
        }
    }
    content.extend(answer.calls.iter().map(|call| tool_use(call, input(call))));
    message.object(content, Some(stop_reason(answer.stop)), usage(answer.usage.as_ref()))
}

fn tool_use(call: &ToolCall, input: Map<String, Value>) -> ContentBlock {
    ContentBlock::ToolUse { id: call.id.clone(), name: call.name.clone(), input }
}

/// The arguments as an object, which is the only form that the dialect has.
fn input(call: &ToolCall) -> Map<String, Value> {
    let text = if call.arguments.trim().is_empty() { "{}" } else { &call.arguments };
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => object,
        _ => Map::from_iter([(INVALID_JSON.to_owned(), Value::from(call.arguments.as_str()))]),
    }
}

/// The first events.
pub(super) fn begin(message: &Messages, frames: &mut Frames) {
    // Nothing is known yet; the figures are in message_delta. Clients add to these, so they must be numbers.
    let usage = MessageUsage { input_tokens: Some(0), output_tokens: Some(0), ..MessageUsage::default() };
    let message = Box::new(message.object(Vec::new(), None, usage));
    event(&MessageEvent::MessageStart { message }, frames);
    event(&MessageEvent::Ping {}, frames);
}

/// One more piece.
pub(super) fn encode(message: &mut Messages, piece: Piece, frames: &mut Frames) {
    match piece {
        Piece::Reasoning(_) if !message.shows_thinking => {}
        Piece::Reasoning(text) => {
            if !matches!(message.open, Some(Block::Reasoning(_))) {
                open(message, Block::Reasoning(String::new()), frames);
            }
            delta(message, BlockDelta::ThinkingDelta { thinking: text }, frames);
        }
        Piece::Text(text) => {
            if !matches!(message.open, Some(Block::Text(_))) {
                open(message, Block::Text(String::new()), frames);
            }
            delta(message, BlockDelta::TextDelta { text }, frames);
        }
        Piece::Calls(calls) => {
            close(message, frames);
            for call in &calls {
                start(message, tool_use(call, Map::new()), frames);
                let partial_json = Value::Object(input(call)).to_string();
                delta(message, BlockDelta::InputJsonDelta { partial_json }, frames);
                stop(message, frames);
            }
        }
        Piece::End { stop, usage: used } => {
            close(message, frames);
            let delta = EndDelta { stop_reason: stop_reason(stop), stop_sequence: () };
            event(&MessageEvent::MessageDelta { delta, usage: usage(used.as_ref()) }, frames);
            event(&MessageEvent::MessageStop {}, frames);
        }
        Piece::Failed(failure) => event(&MessageEvent::Error(error::body(&failure, None)), frames),
    }
}

fn event(event: &MessageEvent, frames: &mut Frames) {
    frames.event(event.name(), event);
}

fn open(message: &mut Messages, block: Block, frames: &mut Frames) {
    close(message, frames);
    let content = match block {
        Block::Reasoning(_) => ContentBlock::Thinking { thinking: String::new(), signature: "" },
        Block::Text(_) => ContentBlock::Text { text: String::new() },
    };
    message.open = Some(block);
    start(message, content, frames);
}

fn start(message: &Messages, content_block: ContentBlock, frames: &mut Frames) {
    event(&MessageEvent::ContentBlockStart { index: message.next_block, content_block }, frames);
}

fn delta(message: &Messages, delta: BlockDelta, frames: &mut Frames) {
    event(&MessageEvent::ContentBlockDelta { index: message.next_block, delta }, frames);
}

/// Ends the open block.
fn close(message: &mut Messages, frames: &mut Frames) {
    let Some(block) = message.open.take() else { return };
    if matches!(block, Block::Reasoning(_)) {
        delta(message, BlockDelta::SignatureDelta { signature: SIGNATURE }, frames);
    }
    stop(message, frames);
}

fn stop(message: &mut Messages, frames: &mut Frames) {
    event(&MessageEvent::ContentBlockStop { index: message.next_block }, frames);
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
