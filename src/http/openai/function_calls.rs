//! Calls of tools in a request's history.

use serde_json::{Value, json};

use crate::capture::{CaptureError, ToolCall};
use crate::http::dialect::Fields;

/// The arguments of a free-form call as the model knows them.
pub(super) fn free_form_arguments(input: &str) -> String {
    json!({ "input": input }).to_string()
}

/// Takes `arguments`: JSON text that is kept as it is, or an object from clients that parse it.
pub(super) fn arguments(call: &mut Fields) -> Result<String, CaptureError> {
    let path = call.path_of("arguments");
    match call.take("arguments") {
        None => Ok("{}".to_owned()),
        Some(Value::String(text)) => Ok(text),
        Some(Value::Object(object)) => Ok(Value::Object(object).to_string()),
        Some(_) => {
            let message = format!("Invalid {path}: expected a string with JSON.");
            Err(CaptureError::invalid(path, message))
        }
    }
}

/// One element of `tool_calls` in a chat message.
pub(super) fn chat_call(path: String, call: Value) -> Result<ToolCall, CaptureError> {
    let mut call = Fields::of(call, path)?;
    let id = call.required_text("id")?;
    if let Some(mut custom) = call.object("custom")? {
        let name = custom.required_text("name")?;
        let input = custom.text("input")?.unwrap_or_default();
        return Ok(ToolCall { id, name, arguments: free_form_arguments(&input) });
    }
    let mut function = call.object("function")?.ok_or_else(|| call.missing("function"))?;
    Ok(ToolCall { id, name: function.required_text("name")?, arguments: arguments(&mut function)? })
}
