//! Results of tools.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::agent::AgentEvent;
use crate::model::{ToolError, ToolResult};

/// Image types that browsers show without running anything.
const SHOWN: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// The text of a result, and the details for display only.
pub(in crate::agent::copilot) fn result(result: &Value) -> ToolResult {
    let content = text(result, "content").unwrap_or_default();
    let detailed_content = text(result, "detailedContent").filter(|detailed| *detailed != content);
    ToolResult { content, detailed_content, ..ToolResult::default() }
}

/// The images of a result.
pub(in crate::agent::copilot) fn images(tool_call_id: &str, result: &Value) -> Vec<AgentEvent> {
    let parts = ["contents", "binaryResultsForLlm"].iter().filter_map(|name| result[name].as_array()).flatten();
    let mut seen = Vec::new();
    parts
        .filter(|part| part["type"] == "image")
        .filter_map(|part| {
            let mime = text(part, "mimeType").filter(|mime| SHOWN.contains(&mime.as_str()))?;
            let encoded = part["data"].as_str()?;
            // The same image appears in both lists.
            if seen.contains(&encoded) {
                return None;
            }
            seen.push(encoded);
            let data = STANDARD.decode(encoded).ok()?;
            Some(AgentEvent::ImageMade { tool_call_id: tool_call_id.to_owned(), mime, data })
        })
        .collect()
}

/// Why a tool failed.
pub(in crate::agent::copilot) fn error(error: Option<&Value>) -> ToolError {
    let message = error.and_then(|error| text(error, "message")).unwrap_or_else(|| "the tool failed".to_owned());
    // Two Copilot names for one of ours.
    let code = error
        .and_then(|error| text(error, "code"))
        .map(|code| if code == "rejected" { "denied".to_owned() } else { code });
    ToolError { message, code }
}

fn text(value: &Value, name: &str) -> Option<String> {
    value[name].as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_taken_once_and_only_if_it_is_harmless() {
        let picture = |mime: &str, data: &str| serde_json::json!({ "type": "image", "mimeType": mime, "data": data });
        let result = serde_json::json!({
            "content": "done",
            "contents": [picture("image/png", "AQID"), picture("image/svg+xml", "AQIE"), picture("image/png", "!")],
            "binaryResultsForLlm": [picture("image/png", "AQID")],
        });
        let events = images("call", &result);
        let [AgentEvent::ImageMade { tool_call_id, mime, data }] = &events[..] else { panic!("{events:?}") };
        assert_eq!((tool_call_id.as_str(), mime.as_str(), &data[..]), ("call", "image/png", &[1, 2, 3][..]));
    }
}
