//! Writing the answer to a chat request.

use schemars::JsonSchema;
use serde::Serialize;

use super::chat::Chat;
use super::error;
use super::usage::{ChatUsage, chat_usage};
use crate::capture::{Piece, StopReason, ToolCall};
use crate::http::dialect::{Frames, Whole, input_of};

/// A whole answer.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct ChatCompletion {
    id: String,
    /// `chat.completion`.
    object: &'static str,
    /// In seconds since 1970.
    created: i64,
    model: String,
    choices: Vec<ChatChoice>,
    /// Left out if the agent does not report it.
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<ChatUsage>,
}

/// The one answer.
#[derive(Serialize, JsonSchema)]
struct ChatChoice {
    index: u32,
    message: ChatMessage,
    logprobs: (),
    /// `stop`, `tool_calls`, `function_call`, `length` or `content_filter`.
    finish_reason: &'static str,
}

/// What the model says.
#[derive(Serialize, JsonSchema)]
struct ChatMessage {
    /// `assistant`.
    role: &'static str,
    /// Null if there are only calls.
    content: Option<String>,
    refusal: (),
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<String>,
    /// The call of a caller that defined `functions`.
    #[serde(skip_serializing_if = "Option::is_none")]
    function_call: Option<FunctionCall>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_calls: Option<Vec<ChatToolCall>>,
}

/// A call of a tool.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
enum ChatToolCall {
    /// With arguments.
    Function { id: String, function: FunctionCall },
    /// With free text.
    Custom { id: String, custom: CustomCall },
}

/// A call of a function.
#[derive(Serialize, JsonSchema)]
struct FunctionCall {
    name: String,
    /// JSON text.
    arguments: String,
}

/// A call of a free-form tool.
#[derive(Serialize, JsonSchema)]
struct CustomCall {
    name: String,
    input: String,
}

/// A piece of a streamed answer. The stream ends with `[DONE]`.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct ChatChunk {
    id: String,
    /// `chat.completion.chunk`.
    object: &'static str,
    created: i64,
    model: String,
    /// Empty in the chunk that has the usage.
    choices: Vec<ChunkChoice>,
    /// With `include_usage`: null until the last chunk.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[expect(clippy::option_option, reason = "left out, null, or there")]
    usage: Option<Option<ChatUsage>>,
}

/// A piece of the one answer.
#[derive(Serialize, JsonSchema)]
struct ChunkChoice {
    index: u32,
    delta: ChatDelta,
    logprobs: (),
    finish_reason: Option<&'static str>,
}

/// What is new.
#[derive(Default, Serialize, JsonSchema)]
struct ChatDelta {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_call: Option<FunctionCall>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<ToolCallDelta>,
}

/// A call in a stream.
#[derive(Serialize, JsonSchema)]
struct ToolCallDelta {
    index: usize,
    #[serde(flatten)]
    call: ChatToolCall,
}

/// The whole answer.
pub(super) fn whole(chat: &Chat, answer: &Whole) -> ChatCompletion {
    let (text, reasoning) = (answer.text(), answer.reasoning());
    let mut message = ChatMessage {
        role: "assistant",
        content: (!text.is_empty() || answer.calls.is_empty()).then_some(text),
        refusal: (),
        reasoning_content: Some(reasoning).filter(|reasoning| !reasoning.is_empty()),
        function_call: None,
        tool_calls: None,
    };
    match answer.calls.as_slice() {
        [] => {}
        [first, ..] if chat.is_legacy => message.function_call = Some(function(first)),
        calls => message.tool_calls = Some(calls.iter().map(|call| tool_call(chat, call)).collect()),
    }
    let finish_reason = finish_reason(chat, answer.stop);
    ChatCompletion {
        id: chat.id.clone(),
        object: "chat.completion",
        created: chat.created,
        model: chat.model.clone(),
        choices: vec![ChatChoice { index: 0, message, logprobs: (), finish_reason }],
        usage: chat_usage(answer.usage.as_ref()),
    }
}

/// The first chunk.
pub(super) fn begin(chat: &Chat, frames: &mut Frames) {
    let delta = ChatDelta { role: Some("assistant"), content: Some(String::new()), ..ChatDelta::default() };
    frames.data(&chunk(chat, delta, None));
}

/// One more piece.
pub(super) fn encode(chat: &mut Chat, piece: Piece, frames: &mut Frames) {
    match piece {
        Piece::Reasoning(text) => {
            let delta = ChatDelta { reasoning_content: Some(text), ..ChatDelta::default() };
            frames.data(&chunk(chat, delta, None));
        }
        Piece::Text(text) => {
            frames.data(&chunk(chat, ChatDelta { content: Some(text), ..ChatDelta::default() }, None));
        }
        Piece::Calls(calls) if chat.is_legacy => {
            if let Some(first) = calls.first() {
                let delta = ChatDelta { function_call: Some(function(first)), ..ChatDelta::default() };
                frames.data(&chunk(chat, delta, None));
            }
        }
        Piece::Calls(calls) => {
            for call in &calls {
                let call = ToolCallDelta { index: chat.calls, call: tool_call(chat, call) };
                chat.calls += 1;
                frames.data(&chunk(chat, ChatDelta { tool_calls: vec![call], ..ChatDelta::default() }, None));
            }
        }
        Piece::End { stop, usage: used } => {
            frames.data(&chunk(chat, ChatDelta::default(), Some(finish_reason(chat, stop))));
            if chat.include_usage
                && let Some(used) = chat_usage(used.as_ref())
            {
                let last = chunk(chat, ChatDelta::default(), None);
                frames.data(&ChatChunk { choices: Vec::new(), usage: Some(Some(used)), ..last });
            }
            frames.raw(b"data: [DONE]\n\n");
        }
        Piece::Failed(failure) => frames.data(&error::body(&failure)),
    }
}

fn chunk(chat: &Chat, delta: ChatDelta, finish_reason: Option<&'static str>) -> ChatChunk {
    ChatChunk {
        id: chat.id.clone(),
        object: "chat.completion.chunk",
        created: chat.created,
        model: chat.model.clone(),
        choices: vec![ChunkChoice { index: 0, delta, logprobs: (), finish_reason }],
        usage: chat.include_usage.then_some(None),
    }
}

fn function(call: &ToolCall) -> FunctionCall {
    FunctionCall { name: call.name.clone(), arguments: call.arguments.clone() }
}

fn tool_call(chat: &Chat, call: &ToolCall) -> ChatToolCall {
    let id = call.id.clone();
    if chat.free_form.contains(&call.name) {
        return ChatToolCall::Custom {
            id,
            custom: CustomCall { name: call.name.clone(), input: input_of(&call.arguments) },
        };
    }
    ChatToolCall::Function { id, function: function(call) }
}

fn finish_reason(chat: &Chat, stop: StopReason) -> &'static str {
    match stop {
        StopReason::Stop => "stop",
        StopReason::ToolCalls if chat.is_legacy => "function_call",
        StopReason::ToolCalls => "tool_calls",
        StopReason::Length => "length",
        StopReason::ContentFilter => "content_filter",
    }
}

#[cfg(test)]
mod tests;
