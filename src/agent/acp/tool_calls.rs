//! Tool calls: merges an agent's updates of a call and translates them into events.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::diff;
use crate::agent::{AgentEvent, BlockEnd, BlockStart};
use crate::model::{BlockKey, BlockKind, ToolError, ToolResult};

/// Image types that browsers show without running anything.
const SHOWN: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// The name that permission rules use for a kind of action, the same for every runtime.
pub(super) fn family(kind: &str) -> &'static str {
    match kind {
        "execute" => "shell",
        "edit" | "delete" | "move" => "write",
        "read" | "search" => "read",
        "fetch" => "url",
        "think" => "think",
        "switch_mode" => "mode",
        _ => "other",
    }
}

/// A call that has not ended.
#[derive(Debug, Default)]
pub(super) struct ToolCall {
    id: String,
    parent: Option<String>,
    /// The latest value of each field.
    fields: Map<String, Value>,
    /// Output that was already reported.
    shown: String,
    is_started: bool,
}

/// The state of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Pending,
    Running,
    Ended,
}

impl ToolCall {
    pub fn new(id: &str) -> Self {
        Self { id: id.to_owned(), ..Self::default() }
    }

    /// Merges an update; missing fields keep their value.
    pub fn learn(&mut self, update: &Value) {
        for name in ["title", "kind", "status", "rawInput", "rawOutput", "content", "locations"] {
            if !update[name].is_null() {
                self.fields.insert(name.to_owned(), update[name].clone());
            }
        }
        if let Some(parent) = update["_meta"]["claudeCode"]["parentToolUseId"].as_str() {
            self.parent = Some(parent.to_owned());
        }
    }

    pub fn stage(&self) -> Stage {
        match self.field("status").as_str() {
            Some("completed" | "failed") => Stage::Ended,
            Some("in_progress") => Stage::Running,
            _ => Stage::Pending,
        }
    }

    fn field(&self, name: &str) -> &Value {
        self.fields.get(name).unwrap_or(&Value::Null)
    }

    /// Its start, once.
    pub fn start(&mut self) -> Option<AgentEvent> {
        if std::mem::replace(&mut self.is_started, true) {
            return None;
        }
        let name = [self.field("title"), self.field("kind")]
            .iter()
            .find_map(|value| value.as_str().filter(|text| !text.is_empty()))
            .unwrap_or("tool")
            .to_owned();
        let (id, parent) = (self.id.clone(), self.parent.clone());
        Some(AgentEvent::BlockStarted(BlockStart::Tool { id, parent, name, arguments: self.arguments() }))
    }

    /// Its input, or the locations it concerns if the agent sends no input.
    fn arguments(&self) -> String {
        let places = self.field("locations").as_array().filter(|places| !places.is_empty());
        match (self.field("rawInput"), places) {
            (Value::Null, None) => String::new(),
            (Value::Null, Some(places)) => format!("{:#}", json!({ "locations": places })),
            (Value::Object(input), None) if input.is_empty() => String::new(),
            (Value::Object(input), Some(places)) if !mentions(input, places) => {
                let mut input = input.clone();
                input.insert("locations".to_owned(), json!(places));
                format!("{:#}", Value::Object(input))
            }
            (input, _) => format!("{input:#}"),
        }
    }

    /// New output. Agents send the complete output each time.
    pub fn output(&mut self) -> Option<AgentEvent> {
        let all = text(self.field("content"))?;
        let new = all.strip_prefix(&self.shown).filter(|new| !new.is_empty())?.to_owned();
        self.shown = all;
        let key = BlockKey::new(BlockKind::Tool, self.id.clone());
        Some(AgentEvent::BlockDelta { key, delta: new })
    }

    /// Its end, with the images it produced.
    pub fn end(self) -> Vec<AgentEvent> {
        let (content, output) = (self.field("content"), self.field("rawOutput"));
        let said = text(content).or_else(|| output.as_str().map(str::to_owned)).or_else(|| {
            ["content", "output", "message"].iter().find_map(|name| output[name].as_str().map(str::to_owned))
        });
        let failed = self.field("status") == "failed";
        let error = failed.then(|| ToolError {
            message: output["message"]
                .as_str()
                .map(str::to_owned)
                .or_else(|| said.clone())
                .unwrap_or_else(|| "the tool failed".to_owned()),
            // Two agent names for one of ours.
            code: output["code"].as_str().map(|code| if code == "rejected" { "denied" } else { code }.to_owned()),
        });
        let detailed_content = diffs(content);
        let is_told = error.as_ref().is_some_and(|error| said.as_ref() == Some(&error.message));
        let result = (said.is_some() || detailed_content.is_some()).then(|| ToolResult {
            content: said.unwrap_or_default(),
            detailed_content,
            ..ToolResult::default()
        });
        let result = result.filter(|result| !is_told || result.detailed_content.is_some());
        let mut events = images(&self.id, content);
        events.push(AgentEvent::BlockEnded(BlockEnd::Tool { id: self.id, result, error }));
        events
    }
}

/// Whether the input already names every location.
fn mentions(input: &Map<String, Value>, places: &[Value]) -> bool {
    places.iter().all(|place| input.values().any(|value| *value == place["path"]))
}

fn parts(content: &Value) -> &[Value] {
    content.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The text of a call's content.
pub(super) fn text(content: &Value) -> Option<String> {
    let texts: Vec<&str> = parts(content)
        .iter()
        .filter(|part| part["type"] == "content")
        .filter_map(|part| part["content"]["text"].as_str().or_else(|| part["content"]["resource"]["text"].as_str()))
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// The changes in a call's content, as unified diffs.
pub(super) fn diffs(content: &Value) -> Option<String> {
    let diffs: Vec<String> = parts(content)
        .iter()
        .filter(|part| part["type"] == "diff")
        .filter_map(|part| {
            Some(diff::unified(part["path"].as_str()?, part["oldText"].as_str(), part["newText"].as_str()?))
        })
        .collect();
    (!diffs.is_empty()).then(|| diffs.concat())
}

fn images(id: &str, content: &Value) -> Vec<AgentEvent> {
    parts(content)
        .iter()
        .map(|part| &part["content"])
        .filter(|part| part["type"] == "image")
        .filter_map(|part| {
            let mime = part["mimeType"].as_str().filter(|mime| SHOWN.contains(mime))?.to_owned();
            let data = STANDARD.decode(part["data"].as_str()?).ok()?;
            Some(AgentEvent::ImageMade { tool_call_id: id.to_owned(), mime, data })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(updates: &[Value]) -> (Option<ToolResult>, Option<ToolError>) {
        let mut call = ToolCall::new("c");
        for update in updates {
            call.learn(update);
        }
        assert_eq!(call.stage(), Stage::Ended);
        match call.end().pop() {
            Some(AgentEvent::BlockEnded(BlockEnd::Tool { result, error, .. })) => (result, error),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_change_is_told_as_a_diff_beside_what_the_tool_said() {
        let diff = json!({ "type": "diff", "path": "/p/f", "oldText": "", "newText": "x\n" });
        let (result, error) =
            ended(&[json!({ "status": "completed", "content": [diff], "rawOutput": { "content": "Created" } })]);
        let result = result.expect("a result");
        assert_eq!((result.content.as_str(), error), ("Created", None));
        assert!(result.detailed_content.expect("a diff").contains("+++ b/p/f\n@@ -0,0 +1,1 @@\n+x"));
    }

    #[test]
    fn a_rejected_call_is_denied_and_says_so_once() {
        let output = json!({ "message": "The user rejected this tool call.", "code": "rejected" });
        let (result, error) = ended(&[json!({ "status": "failed", "rawOutput": output })]);
        let error = error.expect("an error");
        assert_eq!((error.code.as_deref(), result), (Some("denied"), None));
    }

    #[test]
    fn output_that_grows_is_shown_once() {
        let mut call = ToolCall::new("c");
        let mut shown = Vec::new();
        for text in ["a", "ab", "ab", "other"] {
            call.learn(&json!({ "content": [{ "type": "content", "content": { "type": "text", "text": text } }] }));
            if let Some(AgentEvent::BlockDelta { delta, .. }) = call.output() {
                shown.push(delta);
            }
        }
        assert_eq!(shown, ["a", "b"], "the end carries what replaced it");
    }

    #[test]
    fn places_are_shown_where_the_input_does_not_name_them() {
        let arguments = |update: Value| {
            let mut call = ToolCall::new("c");
            call.learn(&update);
            match call.start() {
                Some(AgentEvent::BlockStarted(BlockStart::Tool { arguments, .. })) => arguments,
                other => panic!("{other:?}"),
            }
        };
        let places = json!([{ "path": "/p" }]);
        assert!(arguments(json!({ "locations": places })).contains("/p"));
        assert!(arguments(json!({ "locations": places, "rawInput": { "a": 1 } })).contains("/p"));
        assert_eq!(arguments(json!({ "locations": places, "rawInput": { "path": "/p" } })), "{\n  \"path\": \"/p\"\n}");
        assert_eq!(arguments(json!({ "rawInput": {} })), "");
    }
}
