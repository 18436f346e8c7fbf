//! Reading a request for a message.

use schemars::JsonSchema;
use serde_json::{Map, Value};

use super::messages::Messages;
use super::messages_blocks::{self, ContentBlock};
use super::messages_tools;
use crate::capture::{AnswerFormat, CaptureError, Part, Request};
use crate::http::dialect::{Fields, Ignored, ReadRequest, ToolList, Transcript, wrong_kind};

/// A system block that Claude Code sends for Anthropic's accounting. It differs from request to request and is not for
/// the model.
const BILLING_BLOCK: &str = "x-anthropic-billing-header:";

/// A request for a message. It is read field by field, with errors that name the field; what an agent cannot honour is
/// ignored and named in the response.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(in crate::http) struct MessagesRequest {
    /// An id from `GET /v1/models`.
    model: String,
    messages: Vec<Map<String, Value>>,
    /// A text, or blocks of text.
    system: Option<Value>,
    stream: Option<bool>,
    /// The caller runs them.
    tools: Option<Vec<Map<String, Value>>>,
    tool_choice: Option<Map<String, Value>>,
    thinking: Option<Map<String, Value>>,
}

/// Reads the body of a request.
pub(super) fn read(mut body: Fields) -> Result<ReadRequest<Messages>, CaptureError> {
    let mut ignored = Ignored::default();
    let model = body.required_text("model")?;
    let wants_stream = body.flag("stream")?.unwrap_or(false);
    let mut tools = ToolList::default();
    for (path, tool) in body.list("tools")?.unwrap_or_default() {
        messages_tools::add(path, tool, &mut tools, &mut ignored)?;
    }
    let mut transcript = Transcript::default();
    let system = messages_blocks::read(&mut body, "system", &mut tools, &mut ignored)?;
    write_system(system, &mut transcript);
    let messages = body.list("messages")?.ok_or_else(|| body.missing("messages"))?;
    for (path, message) in messages {
        read_message(Fields::of(message, path)?, &mut transcript, &mut tools, &mut ignored)?;
    }
    if transcript.has_no_messages() {
        return Err(CaptureError::invalid("messages", "Invalid messages: send at least one message of a user."));
    }
    if transcript.ends_with_assistant() {
        let message = "Invalid messages: the last message must be the user's; an answer cannot be begun by the caller.";
        return Err(CaptureError::invalid("messages", message));
    }
    let tool_choice = messages_tools::choice(&mut body, &tools, &mut ignored)?;
    let shows_thinking = read_thinking(&mut body, &mut ignored)?;
    let (effort, format) = read_output(&mut body, &mut ignored)?;
    body.name_the_rest(&mut ignored);
    let tools = tools.into_tools();
    let dialect = Messages { model: model.clone(), shows_thinking, ..Messages::default() };
    let mut request =
        Request { model, effort, tools, tool_choice, format, ignored: ignored.into_names(), ..Request::default() };
    transcript.write_to(&mut request);
    Ok(ReadRequest { request, wants_stream, dialect })
}

fn write_system(blocks: Vec<ContentBlock>, transcript: &mut Transcript) {
    for block in blocks {
        if let ContentBlock::Part(Part::Text(text)) = block
            && !text.starts_with(BILLING_BLOCK)
        {
            transcript.system(text);
        }
    }
}

fn read_message(
    mut message: Fields,
    transcript: &mut Transcript,
    tools: &mut ToolList,
    ignored: &mut Ignored,
) -> Result<(), CaptureError> {
    let role = message.required_text("role")?;
    let blocks = messages_blocks::read(&mut message, "content", tools, ignored)?;
    match role.as_str() {
        "user" => {
            // Results come first, whatever stands between them: they belong to the calls before this message.
            let mut parts = Vec::new();
            for block in blocks {
                match block {
                    ContentBlock::Result(result) => transcript.tool(result),
                    ContentBlock::Part(part) => parts.push(part),
                    ContentBlock::Call(_) => return Err(misplaced(&message, "tool_use", "assistant")),
                }
            }
            if !parts.is_empty() {
                transcript.user(parts);
            }
        }
        "assistant" => {
            for block in blocks {
                match block {
                    ContentBlock::Part(Part::Text(text)) => transcript.assistant_part(&text, vec![]),
                    ContentBlock::Call(call) => transcript.assistant_part("", vec![call]),
                    ContentBlock::Part(Part::Image(_)) => return Err(misplaced(&message, "image", "user")),
                    ContentBlock::Result(_) => return Err(misplaced(&message, "tool_result", "user")),
                }
            }
        }
        "system" => write_system(blocks, transcript),
        _ => {
            let path = message.path_of("role");
            let message = format!("Invalid {path}: expected user, assistant or system, got {role:?}.");
            return Err(CaptureError::invalid(path, message));
        }
    }
    Ok(())
}

fn misplaced(message: &Fields, block: &str, role: &str) -> CaptureError {
    let path = message.path_of("content");
    let message = format!("Invalid {path}: {block} blocks belong in messages of the role {role}.");
    CaptureError::invalid(path, message)
}

/// Whether the caller wants to see the model's thinking. How much it thinks is up to the agent.
fn read_thinking(body: &mut Fields, ignored: &mut Ignored) -> Result<bool, CaptureError> {
    let Some(mut thinking) = body.object("thinking")? else { return Ok(false) };
    let kind = thinking.required_text("type")?;
    let is_omitted = thinking.text("display")?.as_deref() == Some("omitted");
    thinking.name_the_rest(ignored);
    Ok(kind != "disabled" && !is_omitted)
}

/// The effort and the format of the answer, in the fields of today and of the first version.
fn read_output(body: &mut Fields, ignored: &mut Ignored) -> Result<(Option<String>, AnswerFormat), CaptureError> {
    let (mut effort, mut format) = (None, body.object("output_format")?);
    if let Some(mut output) = body.object("output_config")? {
        effort = output.text("effort")?;
        if let Some(newer) = output.object("format")? {
            format = Some(newer);
        }
        output.name_the_rest(ignored);
    }
    let format = format.map_or(Ok(AnswerFormat::Text), read_format)?;
    Ok((effort, format))
}

fn read_format(mut format: Fields) -> Result<AnswerFormat, CaptureError> {
    let kind = format.required_text("type")?;
    if kind != "json_schema" {
        let path = format.path_of("type");
        let message = format!("Invalid {path}: expected json_schema, got {kind:?}.");
        return Err(CaptureError::invalid(path, message));
    }
    let path = format.path_of("schema");
    match format.take("schema") {
        Some(schema @ Value::Object(_)) => Ok(AnswerFormat::JsonSchema { name: "answer".to_owned(), schema }),
        None => Err(format.missing("schema")),
        Some(other) => Err(wrong_kind(path, "a JSON Schema object", &other)),
    }
}

#[cfg(test)]
mod tests;
