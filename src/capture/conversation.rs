//! A request in terms that no dialect owns: what a caller says to the model, and which tools it offers.

use std::fmt;

use serde::Serialize;
use serde_json::{Value, value::RawValue};

/// One request of a caller: a whole conversation, as every dialect sends it each time.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The model's name as the caller gave it, before aliases.
    pub model: String,
    /// Reasoning effort.
    pub effort: Option<String>,
    /// System and developer messages, joined with blank lines; empty for none.
    pub system: String,
    /// The conversation, without system messages.
    pub messages: Vec<Message>,
    /// The caller's tools, without duplicate names.
    pub tools: Vec<Tool>,
    /// Whether the model may or must call one.
    pub tool_choice: ToolChoice,
    /// The required shape of the answer.
    pub format: AnswerFormat,
    /// The caller wants the answer in one piece.
    pub is_whole: bool,
    /// The dialect's name, for the log.
    pub dialect: &'static str,
    /// Parameters that an agent cannot honour, in the order in which they were found.
    pub ignored: Vec<String>,
}

impl Request {
    /// The tools that the model can call in this request: a named one is the only one, so that nothing else can be called.
    pub fn callable_tools(&self) -> impl Iterator<Item = &Tool> {
        self.tools.iter().filter(|tool| match &self.tool_choice {
            ToolChoice::Auto | ToolChoice::Required => true,
            ToolChoice::None => false,
            ToolChoice::Named(name) => tool.name == *name,
        })
    }
}

/// One message.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// From the user.
    User(Vec<Part>),
    /// From the model. Reasoning is not kept.
    Assistant {
        /// The text; empty for none.
        text: String,
        /// The tool calls, in order.
        calls: Vec<ToolCall>,
    },
    /// A tool's result.
    Tool(ToolResult),
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Text.
    Text(String),
    /// An image.
    Image(Image),
}

/// An image with its content.
#[derive(Clone, PartialEq, Eq)]
pub struct Image {
    /// Its media type, such as `image/png`.
    pub mime: String,
    /// Its content in base64.
    pub data: String,
}

impl fmt::Debug for Image {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Image({}, {} characters)", self.mime, self.data.len())
    }
}

/// A tool that the caller offers.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What it does; empty for none.
    pub description: String,
    /// The JSON Schema of its arguments: an object.
    pub parameters: Value,
    /// A free-form tool: its arguments are one string in the dialect, and `{"input": "…"}` for the model.
    pub is_free_form: bool,
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolCall {
    /// Its id: ours when we gave it out, the caller's in a history from elsewhere.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments as JSON text, as the model wrote them. Not necessarily valid JSON.
    pub arguments: String,
}

/// The result of a tool call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult {
    /// The call's id.
    pub call: String,
    /// The result.
    pub parts: Vec<Part>,
    /// The tool failed.
    pub is_error: bool,
}

/// Whether the model may or must call a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// It must not call one.
    None,
    /// It must call at least one.
    Required,
    /// It must call the tool with this name.
    Named(String),
}

/// The required shape of an answer.
#[derive(Clone, Debug, Default)]
pub enum AnswerFormat {
    /// Free text.
    #[default]
    Text,
    /// Any JSON object.
    JsonObject,
    /// JSON that matches a schema.
    JsonSchema {
        /// The schema's name.
        name: String,
        /// The schema.
        schema: Value,
    },
}

/// Whether the text is JSON.
pub fn is_json(text: &str) -> bool {
    serde_json::from_str::<&RawValue>(text).is_ok()
}

/// The text parts, joined with newlines.
pub fn text_of(parts: &[Part]) -> String {
    let texts: Vec<&str> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Image(_) => None,
        })
        .collect();
    texts.join("\n")
}

/// The images among the parts.
pub fn images_of(parts: &[Part]) -> impl Iterator<Item = &Image> {
    parts.iter().filter_map(|part| match part {
        Part::Image(image) => Some(image),
        Part::Text(_) => None,
    })
}
