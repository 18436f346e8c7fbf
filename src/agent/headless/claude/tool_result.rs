//! Results of Claude Code's tools.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::agent::{AgentEvent, BlockEnd};
use crate::model::{ToolError, ToolResult};

/// Image types that browsers show and that cannot contain scripts.
const SHOWN: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// The events of one result: its images, then the end of its call. `None` if it names no call.
pub(super) fn events(result: &Value, is_denied: impl Fn(&str) -> bool) -> Option<Vec<AgentEvent>> {
    let id = result["tool_use_id"].as_str()?;
    let content = &result["content"];
    let parts = content.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut events: Vec<AgentEvent> = parts.iter().filter_map(|part| image(id, part)).collect();
    let text = content.as_str().map_or_else(|| texts(parts), str::to_owned);
    let (result, error) = if result["is_error"] == true {
        let code = is_denied(id).then(|| "denied".to_owned());
        (None, Some(ToolError { message: plain(&text).to_owned(), code }))
    } else {
        (Some(ToolResult { content: text, ..ToolResult::default() }), None)
    };
    events.push(AgentEvent::BlockEnded(BlockEnd::Tool { id: id.to_owned(), result, error }));
    Some(events)
}

fn texts(parts: &[Value]) -> String {
    parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
}

/// The text without the tags that mark an error for the model.
fn plain(text: &str) -> &str {
    let inner = text.trim().strip_prefix("<tool_use_error>").and_then(|text| text.strip_suffix("</tool_use_error>"));
    match inner.unwrap_or(text) {
        "" => "the tool failed",
        words => words,
    }
}

fn image(id: &str, part: &Value) -> Option<AgentEvent> {
    let source = Some(&part["source"]).filter(|_| part["type"] == "image")?;
    let mime = source["media_type"].as_str().filter(|mime| SHOWN.contains(mime))?.to_owned();
    let data = STANDARD.decode(source["data"].as_str()?).ok()?;
    Some(AgentEvent::ImageMade { tool_call_id: id.to_owned(), mime, data })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_errors_denials_and_pictures_are_told_apart() {
        let end = |result: Value| match events(&result, |id| id == "denied").expect("whose").pop() {
            Some(AgentEvent::BlockEnded(BlockEnd::Tool { result, error, .. })) => (result, error),
            other => panic!("{other:?}"),
        };
        let (result, error) = end(json!({ "tool_use_id": "a", "content": [{ "text": "x" }, { "text": "y" }] }));
        assert_eq!((result.expect("one").content.as_str(), error), ("x\ny", None));
        let failed = |id: &str| json!({ "tool_use_id": id, "is_error": true, "content": "<tool_use_error>No.</tool_use_error>" });
        let (result, error) = end(failed("a"));
        assert_eq!((result, error), (None, Some(ToolError { message: "No.".to_owned(), code: None })));
        assert_eq!(end(failed("denied")).1.expect("one").code.as_deref(), Some("denied"));
        let source = json!({ "type": "base64", "media_type": "image/png", "data": "AQI=" });
        let picture = json!({ "tool_use_id": "a", "content": [{ "type": "image", "source": source }] });
        let events = events(&picture, |_| false).expect("whose");
        assert!(matches!(&events[0], AgentEvent::ImageMade { data, .. } if data == &[1, 2]), "{events:?}");
        assert!(super::events(&json!({ "content": "x" }), |_| false).is_none());
    }
}
