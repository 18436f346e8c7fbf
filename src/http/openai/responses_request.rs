//! Reading a request of the responses dialect.

use schemars::JsonSchema;
use serde_json::{Map, Value, json};

use super::chat_request::schema_format;
use super::function_calls::{arguments, free_form_arguments};
use super::responses::Responses;
use super::tool_definitions::full_name;
use super::{tool_choice, tool_definitions};
use crate::capture::{AnswerFormat, CaptureError, Part, Request, ToolCall, ToolResult, text_of};
use crate::http::dialect::{Fields, Ignored, ReadRequest, ToolList, Transcript, content, from_url, wrong_kind};

/// A request of the responses dialect. It is read field by field, with errors that name the field; what an agent cannot
/// honour is ignored and named in the response.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(in crate::http) struct ResponsesRequest {
    /// An id from `GET /v1/models`.
    model: String,
    /// A text, or the items of the whole conversation.
    input: Value,
    instructions: Option<String>,
    stream: Option<bool>,
    /// Functions, free-form tools and namespaces of both. The caller runs them.
    tools: Option<Vec<Map<String, Value>>>,
    /// `none`, `auto`, `required` or a tool.
    tool_choice: Option<Value>,
    reasoning: Option<Map<String, Value>>,
    text: Option<Map<String, Value>>,
    /// The caller's own notes, which the answer repeats.
    metadata: Option<Value>,
}

/// Reads the body of a request.
pub(super) fn read(mut body: Fields) -> Result<ReadRequest<Responses>, CaptureError> {
    let mut ignored = Ignored::default();
    refuse_unsupported(&mut body)?;
    let model = body.required_text("model")?;
    let wants_stream = body.flag("stream")?.unwrap_or(false);
    // Only obfuscation, which is padding.
    body.take("stream_options");
    let mut transcript = Transcript::default();
    transcript.system(body.text("instructions")?.unwrap_or_default());
    read_input(&mut body, &mut transcript, &mut ignored)?;
    let (mut tools, mut namespaced) = (ToolList::default(), Vec::new());
    for (path, tool) in body.list("tools")?.unwrap_or_default() {
        tool_definitions::add(path, tool, &mut tools, &mut namespaced, &mut ignored)?;
    }
    let tool_choice = tool_choice::read(&mut body, &mut tools, &mut ignored)?;
    if body.flag("parallel_tool_calls")? == Some(false) {
        ignored.add("parallel_tool_calls");
    }
    if body.flag("store")? == Some(true) {
        ignored.add("store");
    }
    let mut effort = None;
    if let Some(mut reasoning) = body.object("reasoning")? {
        effort = reasoning.text("effort")?;
        // Summaries are what an agent shows of its reasoning, and are always sent.
        reasoning.take("summary");
        reasoning.name_the_rest(&mut ignored);
    }
    let mut format = AnswerFormat::Text;
    if let Some(mut text) = body.object("text")? {
        if let Some(wanted) = text.object("format")? {
            format = read_format(wanted)?;
        }
        text.name_the_rest(&mut ignored);
    }
    let metadata = body.take("metadata").unwrap_or_else(|| json!({}));
    body.name_the_rest(&mut ignored);
    let dialect =
        Responses { model: model.clone(), free_form: tools.free_form(), namespaced, metadata, ..Responses::default() };
    let tools = tools.into_tools();
    let mut request =
        Request { model, effort, tools, tool_choice, format, ignored: ignored.into_names(), ..Request::default() };
    transcript.write_to(&mut request);
    Ok(ReadRequest { request, wants_stream, dialect })
}

/// Refuses what needs stored state, and what would change the meaning of the answer if it were ignored.
fn refuse_unsupported(body: &mut Fields) -> Result<(), CaptureError> {
    for (name, reason) in [
        ("previous_response_id", "responses are not stored; send the whole conversation in input"),
        ("conversation", "conversations are not stored; send the whole conversation in input"),
        ("prompt", "prompts are not stored; send instructions and input"),
    ] {
        if body.take(name).is_some() {
            return Err(unsupported(name, &format!("Unsupported {name}: {reason}.")));
        }
    }
    if body.flag("background")? == Some(true) {
        return Err(unsupported("background", "Unsupported background: responses are not stored; read the response."));
    }
    if body.take("top_logprobs").is_some_and(|count| count != 0) {
        return Err(unsupported("top_logprobs", "Unsupported top_logprobs: agents do not report log probabilities."));
    }
    Ok(())
}

fn unsupported(param: &str, message: &str) -> CaptureError {
    CaptureError::invalid(param, message).with_code("unsupported_parameter")
}

fn read_input(body: &mut Fields, transcript: &mut Transcript, ignored: &mut Ignored) -> Result<(), CaptureError> {
    match body.take("input") {
        None => return Err(body.missing("input")),
        Some(Value::String(text)) => transcript.user(vec![Part::Text(text)]),
        Some(Value::Array(items)) => {
            if items.is_empty() {
                return Err(CaptureError::invalid("input", "Invalid input: send at least one item."));
            }
            for (at, item) in items.into_iter().enumerate() {
                read_item(Fields::of(item, format!("input[{at}]"))?, transcript, ignored)?;
            }
        }
        Some(other) => {
            return Err(wrong_kind("input".to_owned(), "a string or an array", &other));
        }
    }
    Ok(())
}

fn read_item(mut item: Fields, transcript: &mut Transcript, ignored: &mut Ignored) -> Result<(), CaptureError> {
    let kind = match item.text("type")? {
        Some(kind) => kind,
        None if item.has("role") => "message".to_owned(),
        None => return Err(item.missing("type")),
    };
    match kind.as_str() {
        "message" => read_message(item, transcript)?,
        "function_call" | "custom_tool_call" => {
            let id = item.required_text("call_id")?;
            let name = item.required_text("name")?;
            let name = item.text("namespace")?.map_or(name.clone(), |namespace| full_name(&namespace, &name));
            let arguments = if kind == "function_call" {
                arguments(&mut item)?
            } else {
                free_form_arguments(&item.text("input")?.unwrap_or_default())
            };
            transcript.assistant_part("", vec![ToolCall { id, name, arguments }]);
        }
        "function_call_output" | "custom_tool_call_output" => {
            let call = item.required_text("call_id")?;
            let parts = content(&mut item, "output", read_part)?;
            transcript.tool(ToolResult { call, parts, is_error: false });
        }
        // The model's own reasoning, which an agent does not take back.
        "reasoning" => {}
        "item_reference" => {
            let message = format!(
                "Unsupported {}: items are not stored; send the item itself, which clients do with store: false.",
                item.path()
            );
            return Err(unsupported(item.path(), &message));
        }
        // Calls of hosted tools and the like.
        other => ignored.add(format!("input.{other}")),
    }
    Ok(())
}

fn read_message(mut message: Fields, transcript: &mut Transcript) -> Result<(), CaptureError> {
    let role = message.required_text("role")?;
    match role.as_str() {
        "system" | "developer" => transcript.system(text_of(&content(&mut message, "content", read_part)?)),
        "user" => transcript.user(content(&mut message, "content", read_part)?),
        "assistant" => transcript.assistant_part(&text_of(&content(&mut message, "content", read_part)?), vec![]),
        _ => {
            let path = message.path_of("role");
            let message = format!("Invalid {path}: expected system, developer, user or assistant, got {role:?}.");
            return Err(CaptureError::invalid(path, message));
        }
    }
    Ok(())
}

fn read_part(part: Value, path: String) -> Result<Part, CaptureError> {
    let mut part = Fields::of(part, path)?;
    let kind = part.required_text("type")?;
    match kind.as_str() {
        "input_text" | "output_text" | "text" | "summary_text" => Ok(Part::Text(part.required_text("text")?)),
        "refusal" => Ok(Part::Text(part.required_text("refusal")?)),
        "input_image" => {
            let path = part.path_of("image_url");
            let url = part.text("image_url")?.ok_or_else(|| {
                unsupported(&path, &format!("Missing {path}: files are not stored; send the image as a data: URL."))
            })?;
            Ok(Part::Image(from_url(&url, &path)?))
        }
        _ => {
            let path = part.path_of("type");
            let message = format!("Unsupported {path}: text and images are supported, got {kind:?}.");
            Err(CaptureError::invalid(path, message).with_code("unsupported_content"))
        }
    }
}

fn read_format(mut format: Fields) -> Result<AnswerFormat, CaptureError> {
    let kind = format.required_text("type")?;
    match kind.as_str() {
        "text" => Ok(AnswerFormat::Text),
        "json_object" => Ok(AnswerFormat::JsonObject),
        "json_schema" => schema_format(format),
        _ => {
            let path = format.path_of("type");
            let message = format!("Invalid {path}: expected text, json_object or json_schema, got {kind:?}.");
            Err(CaptureError::invalid(path, message))
        }
    }
}

#[cfg(test)]
mod tests;
