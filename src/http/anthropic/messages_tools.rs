//! The tools of a request, and which of them the model may or must call.

use serde_json::Value;

use crate::capture::{CaptureError, ToolChoice};
use crate::http::dialect::{Fields, Ignored, ToolList};

/// Adds one element of `tools`.
pub(super) fn add(path: String, tool: Value, tools: &mut ToolList, ignored: &mut Ignored) -> Result<(), CaptureError> {
    let mut tool = Fields::of(tool, path)?;
    match tool.text("type")?.as_deref() {
        None | Some("custom") => define(tool, tools, ignored),
        // Hosted, or defined by Anthropic without a schema.
        Some(kind) => {
            ignored.add(format!("tools.{kind}"));
            Ok(())
        }
    }
}

/// Adds the tool that a block of a later message defines. One that only refers to a tool adds nothing: the tool is in
/// `tools` already.
pub(super) fn add_from_block(
    mut block: Fields,
    tools: &mut ToolList,
    ignored: &mut Ignored,
) -> Result<(), CaptureError> {
    match block.object("tool")? {
        Some(tool) if tool.has("input_schema") => define(tool, tools, ignored),
        _ => Ok(()),
    }
}

fn define(mut tool: Fields, tools: &mut ToolList, ignored: &mut Ignored) -> Result<(), CaptureError> {
    let name = tool.required_text("name")?;
    if tool.flag("strict")? == Some(true) {
        ignored.add("tools.strict");
    }
    if tool.take("cache_control").is_some() {
        ignored.add("cache_control");
    }
    tools.add(name, &mut tool, "input_schema")
}

/// Reads `tool_choice`.
pub(super) fn choice(body: &mut Fields, tools: &ToolList, ignored: &mut Ignored) -> Result<ToolChoice, CaptureError> {
    let Some(mut choice) = body.object("tool_choice")? else { return Ok(ToolChoice::Auto) };
    if choice.flag("disable_parallel_tool_use")? == Some(true) {
        ignored.add("tool_choice.disable_parallel_tool_use");
    }
    let kind = choice.required_text("type")?;
    let choice = match kind.as_str() {
        "auto" => ToolChoice::Auto,
        "none" => ToolChoice::None,
        "any" => ToolChoice::Required,
        "tool" => ToolChoice::Named(choice.required_text("name")?),
        _ => {
            let path = choice.path_of("type");
            let message = format!("Invalid {path}: expected auto, any, tool or none, got {kind:?}.");
            return Err(CaptureError::invalid(path, message));
        }
    };
    tools.check(&choice, "tool_choice")?;
    Ok(choice)
}
