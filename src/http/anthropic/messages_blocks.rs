//! The content blocks of messages.

use serde_json::Value;

use super::messages_tools;
use crate::capture::{CaptureError, Part, ToolCall, ToolResult};
use crate::http::dialect::{Fields, Ignored, ToolList, from_base64, wrong_kind};

/// The field that quotes arguments that are no JSON object, in answers and in the histories that repeat them.
pub(super) const INVALID_JSON: &str = "INVALID_JSON";
/// The signature of thinking blocks. Clients keep it and send it back; nothing is signed, and thinking is dropped then.
pub(super) const SIGNATURE: &str = "ZmxpZ2h0ZGVjaw==";

/// A content block of a message.
pub(super) enum ContentBlock {
    Part(Part),
    Call(ToolCall),
    Result(ToolResult),
}

/// Reads `content`: a string or blocks. Tools that blocks define are added to the list.
pub(super) fn read(
    message: &mut Fields,
    name: &str,
    tools: &mut ToolList,
    ignored: &mut Ignored,
) -> Result<Vec<ContentBlock>, CaptureError> {
    let path = message.path_of(name);
    match message.take(name) {
        None => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(vec![ContentBlock::Part(Part::Text(text))]),
        Some(Value::Array(blocks)) => {
            let mut read = Vec::new();
            for (at, block) in blocks.into_iter().enumerate() {
                read.extend(read_block(Fields::of(block, format!("{path}[{at}]"))?, tools, ignored)?);
            }
            Ok(read)
        }
        Some(other) => Err(wrong_kind(path, "a string or an array", &other)),
    }
}

fn read_block(
    mut block: Fields,
    tools: &mut ToolList,
    ignored: &mut Ignored,
) -> Result<Option<ContentBlock>, CaptureError> {
    if block.take("cache_control").is_some() {
        ignored.add("cache_control");
    }
    let kind = block.required_text("type")?;
    let read = match kind.as_str() {
        "text" => ContentBlock::Part(Part::Text(block.required_text("text")?)),
        "image" => ContentBlock::Part(image(block)?),
        "document" => ContentBlock::Part(document(block)?),
        "tool_use" => ContentBlock::Call(tool_use(block)?),
        "tool_result" => ContentBlock::Result(tool_result(block, tools, ignored)?),
        // What a tool search found: the tools themselves are in `tools`.
        "tool_reference" => {
            ContentBlock::Part(Part::Text(format!("The tool {} is available.", block.required_text("tool_name")?)))
        }
        "tool_addition" => {
            messages_tools::add_from_block(block, tools, ignored)?;
            return Ok(None);
        }
        // The model's own reasoning, which an agent does not take back.
        "thinking" | "redacted_thinking" => return Ok(None),
        "container_upload" => {
            let path = block.path_of("type");
            let message = format!("Unsupported {path}: files are not stored; send the content itself.");
            return Err(CaptureError::invalid(path, message));
        }
        // Calls of hosted tools and their results, and what comes later.
        other => {
            ignored.add(format!("content.{other}"));
            return Ok(None);
        }
    };
    Ok(Some(read))
}

fn image(mut block: Fields) -> Result<Part, CaptureError> {
    let mut source = block.object("source")?.ok_or_else(|| block.missing("source"))?;
    let kind = source.required_text("type")?;
    let path = source.path().to_owned();
    if kind != "base64" {
        let message = format!(
            "Unsupported {path}: only images in base64 are supported, because Flightdeck fetches and stores nothing, got {kind:?}."
        );
        return Err(CaptureError::invalid(path, message));
    }
    let mime = source.required_text("media_type")?;
    Ok(Part::Image(from_base64(&mime, source.required_text("data")?, &path)?))
}

fn document(mut block: Fields) -> Result<Part, CaptureError> {
    let mut source = block.object("source")?.ok_or_else(|| block.missing("source"))?;
    let kind = source.required_text("type")?;
    if kind != "text" {
        let path = source.path().to_owned();
        let message = format!("Unsupported {path}: only documents of plain text are supported, got {kind:?}.");
        return Err(CaptureError::invalid(path, message));
    }
    let text = source.required_text("data")?;
    let title = block.text("title")?.map(|title| format!("{title}\n\n")).unwrap_or_default();
    Ok(Part::Text(format!("{title}{text}")))
}

fn tool_use(mut block: Fields) -> Result<ToolCall, CaptureError> {
    let id = block.required_text("id")?;
    let name = block.required_text("name")?;
    let arguments = match block.take("input") {
        None => "{}".to_owned(),
        Some(Value::Object(input)) => match input.get(INVALID_JSON) {
            Some(Value::String(text)) if input.len() == 1 => text.clone(),
            _ => Value::Object(input).to_string(),
        },
        Some(other) => other.to_string(),
    };
    Ok(ToolCall { id, name, arguments })
}

fn tool_result(mut block: Fields, tools: &mut ToolList, ignored: &mut Ignored) -> Result<ToolResult, CaptureError> {
    let call = block.required_text("tool_use_id")?;
    let is_error = block.flag("is_error")?.unwrap_or(false);
    let content = read(&mut block, "content", tools, ignored)?;
    let part = |block| if let ContentBlock::Part(part) = block { Some(part) } else { None };
    Ok(ToolResult { call, parts: content.into_iter().filter_map(part).collect(), is_error })
}
