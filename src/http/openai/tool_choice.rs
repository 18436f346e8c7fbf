//! Whether the model may or must call a tool.

use serde_json::Value;

use crate::capture::{CaptureError, ToolChoice};
use crate::http::dialect::{Fields, Ignored, ToolList, wrong_kind};

/// Reads `tool_choice` of either dialect, and leaves only the tools that it allows.
pub(super) fn read(body: &mut Fields, tools: &mut ToolList, ignored: &mut Ignored) -> Result<ToolChoice, CaptureError> {
    let path = body.path_of("tool_choice");
    let choice = match body.take("tool_choice") {
        None => return Ok(ToolChoice::Auto),
        Some(Value::String(word)) => mode(&word, &path)?,
        Some(Value::Object(choice)) => {
            let mut choice = Fields::of(Value::Object(choice), &path)?;
            match choice.required_text("type")?.as_str() {
                "allowed_tools" => allowed(choice, tools)?,
                kind @ ("function" | "custom") => ToolChoice::Named(name_in(choice, kind)?),
                // A hosted tool, which is ignored itself.
                _ => {
                    ignored.add("tool_choice");
                    ToolChoice::Auto
                }
            }
        }
        Some(other) => {
            return Err(wrong_kind(path, "a string or an object", &other));
        }
    };
    tools.check(&choice, &path)?;
    Ok(choice)
}

fn mode(word: &str, path: &str) -> Result<ToolChoice, CaptureError> {
    match word {
        "auto" => Ok(ToolChoice::Auto),
        "none" => Ok(ToolChoice::None),
        "required" => Ok(ToolChoice::Required),
        _ => {
            let message = format!("Invalid {path}: expected none, auto, required or a tool, got {word:?}.");
            Err(CaptureError::invalid(path, message))
        }
    }
}

/// The name of a tool: inside the object that its type names (chat), or beside the type (responses).
fn name_in(mut tool: Fields, kind: &str) -> Result<String, CaptureError> {
    match tool.object(kind)? {
        Some(mut inner) => inner.required_text("name"),
        None => tool.required_text("name"),
    }
}

fn allowed(mut choice: Fields, tools: &mut ToolList) -> Result<ToolChoice, CaptureError> {
    let mut choice = choice.object("allowed_tools")?.unwrap_or(choice);
    let path = choice.path_of("mode");
    let mode = choice.text("mode")?.map_or(Ok(ToolChoice::Auto), |word| mode(&word, &path))?;
    let mut names = Vec::new();
    for (path, tool) in choice.list("tools")?.unwrap_or_default() {
        let mut tool = Fields::of(tool, path)?;
        let kind = tool.required_text("type")?;
        if matches!(kind.as_str(), "function" | "custom") {
            names.push(name_in(tool, &kind)?);
        }
    }
    tools.keep(&names);
    Ok(mode)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(choice: &Value, expected: Result<ToolChoice, &str>, left: &[&str]) {
        let mut tools = ToolList::default();
        for name in ["read", "write"] {
            let mut definition = Fields::of(json!({}), "tools[0]").expect("an object");
            tools.add(name.to_owned(), &mut definition, "parameters").expect("valid");
        }
        let mut body = Fields::of(json!({ "tool_choice": choice }), "").expect("an object");
        let read = read(&mut body, &mut tools, &mut Ignored::default());
        assert_eq!(read.map_err(|error| error.param.unwrap_or_default()), expected.map_err(str::to_owned), "{choice}");
        let names: Vec<String> = tools.into_tools().into_iter().map(|tool| tool.name).collect();
        assert_eq!(names, left, "{choice}");
    }

    #[test]
    fn every_form_of_both_dialects_is_read() {
        let all = &["read", "write"];
        let named = || Ok(ToolChoice::Named("read".to_owned()));
        check(&Value::Null, Ok(ToolChoice::Auto), all);
        check(&json!("none"), Ok(ToolChoice::None), all);
        check(&json!("required"), Ok(ToolChoice::Required), all);
        check(&json!("some"), Err("tool_choice"), all);
        check(&json!(5), Err("tool_choice"), all);
        check(&json!({"type": "function", "function": {"name": "read"}}), named(), all);
        check(&json!({"type": "function", "name": "read"}), named(), all);
        check(&json!({"type": "custom", "custom": {"name": "read"}}), named(), all);
        check(&json!({"type": "function", "name": "gone"}), Err("tool_choice"), all);
        check(&json!({"type": "function"}), Err("tool_choice.name"), all);
        check(&json!({"type": "web_search_preview"}), Ok(ToolChoice::Auto), all);
        let in_chat = json!({"type": "allowed_tools", "allowed_tools": {"mode": "required",
            "tools": [{"type": "function", "function": {"name": "read"}}]}});
        check(&in_chat, Ok(ToolChoice::Required), &["read"]);
        let in_responses =
            json!({"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "write"}]});
        check(&in_responses, Ok(ToolChoice::Auto), &["write"]);
        check(&json!({"type": "allowed_tools", "mode": "required", "tools": []}), Err("tool_choice"), &[]);
    }
}
