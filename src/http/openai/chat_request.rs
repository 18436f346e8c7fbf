//! Reading a chat request.

use schemars::JsonSchema;
use serde_json::{Map, Value};

use super::chat::Chat;
use super::function_calls::{arguments, chat_call};
use super::{tool_choice, tool_definitions};
use crate::capture::{AnswerFormat, CaptureError, Part, Request, ToolCall, ToolChoice, ToolResult};
use crate::http::dialect::{Fields, Ignored, ReadRequest, ToolList, Transcript, content, from_url, wrong_kind};

/// A chat request. It is read field by field, with errors that name the field; what an agent cannot honour is ignored and
/// named in the response.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(in crate::http) struct ChatRequest {
    /// An id from `GET /v1/models`.
    model: String,
    messages: Vec<Map<String, Value>>,
    stream: Option<bool>,
    stream_options: Option<Map<String, Value>>,
    /// Functions and free-form tools. The caller runs them.
    tools: Option<Vec<Map<String, Value>>>,
    /// `none`, `auto`, `required` or a tool.
    tool_choice: Option<Value>,
    /// Text, `json_object` or `json_schema`.
    response_format: Option<Map<String, Value>>,
    reasoning_effort: Option<String>,
}

/// Reads the body of a chat request.
pub(super) fn read(mut body: Fields) -> Result<ReadRequest<Chat>, CaptureError> {
    let mut ignored = Ignored::default();
    refuse_unsupported(&mut body)?;
    let model = body.required_text("model")?;
    let wants_stream = body.flag("stream")?.unwrap_or(false);
    let include_usage = match body.object("stream_options")? {
        Some(mut options) => options.flag("include_usage")?.unwrap_or(false),
        None => false,
    };
    let mut transcript = Transcript::default();
    let messages = body.list("messages")?.ok_or_else(|| body.missing("messages"))?;
    if messages.is_empty() {
        return Err(CaptureError::invalid("messages", "Invalid messages: send at least one message."));
    }
    for (path, message) in messages {
        read_message(Fields::of(message, path)?, &mut transcript)?;
    }
    let mut tools = ToolList::default();
    let mut namespaced = Vec::new();
    for (path, tool) in body.list("tools")?.unwrap_or_default() {
        tool_definitions::add(path, tool, &mut tools, &mut namespaced, &mut ignored)?;
    }
    let functions = body.list("functions")?;
    let is_legacy = functions.is_some();
    for (path, function) in functions.unwrap_or_default() {
        tool_definitions::add_function(Fields::of(function, path)?, None, &mut tools, &mut ignored)?;
    }
    let mut choice = tool_choice::read(&mut body, &mut tools, &mut ignored)?;
    if let Some(legacy) = legacy_choice(&mut body)? {
        tools.check(&legacy, "function_call")?;
        choice = legacy;
    }
    if body.flag("parallel_tool_calls")? == Some(false) {
        ignored.add("parallel_tool_calls");
    }
    if body.flag("store")? == Some(true) {
        ignored.add("store");
    }
    let format = match body.object("response_format")? {
        Some(format) => read_format(format)?,
        None => AnswerFormat::Text,
    };
    let effort = body.text("reasoning_effort")?;
    body.name_the_rest(&mut ignored);
    let dialect =
        Chat { model: model.clone(), include_usage, free_form: tools.free_form(), is_legacy, ..Chat::default() };
    let mut request = Request {
        model,
        effort,
        tools: tools.into_tools(),
        tool_choice: choice,
        format,
        ignored: ignored.into_names(),
        ..Request::default()
    };
    transcript.write_to(&mut request);
    Ok(ReadRequest { request, wants_stream, dialect })
}

/// Refuses what would change the meaning of the answer if it were ignored.
fn refuse_unsupported(body: &mut Fields) -> Result<(), CaptureError> {
    let refuse =
        |name: &str, message: &str| Err(CaptureError::invalid(name, message).with_code("unsupported_parameter"));
    if body.take("n").is_some_and(|n| n != 1) {
        return refuse("n", "Unsupported n: an agent gives one answer; leave it out or send 1.");
    }
    if body.flag("logprobs")? == Some(true) {
        return refuse("logprobs", "Unsupported logprobs: agents do not report log probabilities.");
    }
    if body.take("top_logprobs").is_some_and(|count| count != 0) {
        return refuse("top_logprobs", "Unsupported top_logprobs: agents do not report log probabilities.");
    }
    let is_text = |(_, modality): &(String, Value)| modality == "text";
    if body.list("modalities")?.is_some_and(|modalities| !modalities.iter().all(is_text)) {
        return refuse("modalities", "Unsupported modalities: answers are text only.");
    }
    if body.take("audio").is_some() {
        return refuse("audio", "Unsupported audio: answers are text only.");
    }
    Ok(())
}

fn read_message(mut message: Fields, transcript: &mut Transcript) -> Result<(), CaptureError> {
    let role = message.required_text("role")?;
    match role.as_str() {
        "system" | "developer" => transcript.system(text_content(&mut message)?),
        "user" => {
            let parts = content(&mut message, "content", read_part)?;
            transcript.user(parts);
        }
        "assistant" => {
            let text = text_content(&mut message)?;
            let calls = message.list("tool_calls")?.unwrap_or_default();
            let mut calls =
                calls.into_iter().map(|(path, call)| chat_call(path, call)).collect::<Result<Vec<_>, _>>()?;
            if let Some(mut call) = message.object("function_call")? {
                // The old form has no id, and its result names the function.
                let name = call.required_text("name")?;
                calls.push(ToolCall { id: legacy_id(&name), name, arguments: arguments(&mut call)? });
            }
            transcript.assistant(text, calls);
        }
        "tool" => {
            let call = message.required_text("tool_call_id")?;
            transcript.tool(ToolResult { call, parts: content(&mut message, "content", read_part)?, is_error: false });
        }
        "function" => {
            let call = legacy_id(&message.required_text("name")?);
            transcript.tool(ToolResult { call, parts: content(&mut message, "content", read_part)?, is_error: false });
        }
        _ => {
            let path = message.path_of("role");
            let message = format!("Invalid {path}: expected system, developer, user, assistant or tool, got {role:?}.");
            return Err(CaptureError::invalid(path, message));
        }
    }
    Ok(())
}

fn legacy_id(name: &str) -> String {
    format!("function_{name}")
}

fn read_part(part: Value, path: String) -> Result<Part, CaptureError> {
    let mut part = Fields::of(part, path)?;
    let kind = part.required_text("type")?;
    match kind.as_str() {
        "text" => Ok(Part::Text(part.required_text("text")?)),
        "refusal" => Ok(Part::Text(part.required_text("refusal")?)),
        "image_url" => {
            let mut image = part.object("image_url")?.ok_or_else(|| part.missing("image_url"))?;
            let path = image.path_of("url");
            Ok(Part::Image(from_url(&image.required_text("url")?, &path)?))
        }
        _ => {
            let path = part.path_of("type");
            let message = format!("Unsupported {path}: text and image_url parts are supported, got {kind:?}.");
            Err(CaptureError::invalid(path, message).with_code("unsupported_content"))
        }
    }
}

/// Content that may only be text, as one string.
fn text_content(message: &mut Fields) -> Result<String, CaptureError> {
    let path = message.path_of("content");
    let mut text = String::new();
    for (at, part) in content(message, "content", read_part)?.into_iter().enumerate() {
        match part {
            Part::Text(more) => {
                if at > 0 {
                    text.push('\n');
                }
                text.push_str(&more);
            }
            Part::Image(_) => {
                let message = format!("Invalid {path}: images are supported in user and tool messages only.");
                return Err(CaptureError::invalid(path, message));
            }
        }
    }
    Ok(text)
}

fn read_format(mut format: Fields) -> Result<AnswerFormat, CaptureError> {
    let kind = format.required_text("type")?;
    match kind.as_str() {
        "text" => Ok(AnswerFormat::Text),
        "json_object" => Ok(AnswerFormat::JsonObject),
        "json_schema" => {
            let inner = format.object("json_schema")?.ok_or_else(|| format.missing("json_schema"))?;
            schema_format(inner)
        }
        _ => {
            let path = format.path_of("type");
            let message = format!("Invalid {path}: expected text, json_object or json_schema, got {kind:?}.");
            Err(CaptureError::invalid(path, message))
        }
    }
}

/// A format with `name` and `schema`.
pub(super) fn schema_format(mut format: Fields) -> Result<AnswerFormat, CaptureError> {
    let name = format.text("name")?.unwrap_or_else(|| "answer".to_owned());
    let path = format.path_of("schema");
    match format.take("schema") {
        Some(schema @ Value::Object(_)) => Ok(AnswerFormat::JsonSchema { name, schema }),
        None => Err(format.missing("schema")),
        Some(other) => Err(wrong_kind(path, "a JSON Schema object", &other)),
    }
}

fn legacy_choice(body: &mut Fields) -> Result<Option<ToolChoice>, CaptureError> {
    match body.take("function_call") {
        None => Ok(None),
        Some(Value::String(word)) if word == "none" => Ok(Some(ToolChoice::None)),
        Some(Value::String(word)) if word == "auto" => Ok(Some(ToolChoice::Auto)),
        Some(other) => {
            Fields::of(other, "function_call")?.required_text("name").map(|name| Some(ToolChoice::Named(name)))
        }
    }
}

#[cfg(test)]
mod tests;
