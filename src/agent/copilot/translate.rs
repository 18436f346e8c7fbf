//! From Copilot's events to ours. What we do not know is kept raw; nothing here can break a turn.

use std::collections::{HashMap, HashSet, VecDeque};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::agent::{AgentEvent, BlockEnd, BlockStart};
use crate::model::{BlockKey, BlockKind, RequestBody, ToolError, ToolResult, Usage};

/// Events remembered to notice repetitions: under bursts the CLI sends the same deltas again.
const REMEMBERED: usize = 65_536;

/// Kinds that say nothing a person needs to see.
const QUIET: [&str; 21] = [
    "abort",
    "agent.interrupted",
    "assistant.idle",
    "assistant.message_start",
    "assistant.streaming_delta",
    "assistant.tool_call_delta",
    "external_tool.completed",
    "pending_messages.modified",
    "permission.completed",
    "sandbox.decision",
    "session.background_tasks_changed",
    "session.indexed_search",
    "session.managed_settings_resolved",
    "session.mcp_servers_loaded",
    "session.resume",
    "session.shutdown",
    "session.skills_loaded",
    "session.start",
    "session.tools_updated",
    "session.usage_info",
    "user.message",
];
const QUIET_FAMILIES: [&str; 3] = ["hook.", "model.", "user_input."];

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(default)]
    id: Option<&'a str>,
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Data {
    turn_id: Option<String>,
    message_id: Option<String>,
    reasoning_id: Option<String>,
    delta_content: Option<String>,
    content: Option<String>,
    tool_call_id: Option<String>,
    parent_tool_call_id: Option<String>,
    tool_name: Option<String>,
    arguments: Option<Value>,
    partial_output: Option<String>,
    success: Option<bool>,
    result: Option<Value>,
    error: Option<Value>,
    message: Option<String>,
    title: Option<String>,
    request_id: Option<String>,
    permission_request: Option<Value>,
    input_tokens: Option<f64>,
    output_tokens: Option<f64>,
    cache_read_tokens: Option<f64>,
    cache_write_tokens: Option<f64>,
    duration: Option<f64>,
    new_model: Option<String>,
}

/// What is known of one Copilot session while its events are read.
#[derive(Debug, Default)]
pub(super) struct Translator {
    seen: HashSet<String>,
    seen_in_order: VecDeque<String>,
    /// Messages that have begun and not ended, with their text so far: a retried stream leaves them behind.
    messages: HashMap<String, String>,
    /// Output of running tools: the program sends all of it each time, we send what is new.
    outputs: HashMap<String, usize>,
}

impl Translator {
    /// Our events for one of Copilot's.
    pub fn translate(&mut self, raw: Box<RawValue>) -> Vec<AgentEvent> {
        let Ok(event) = serde_json::from_str::<Event<'_>>(raw.get()) else {
            return vec![unknown("unreadable", raw)];
        };
        if event.id.is_some_and(|id| !self.is_new(id)) {
            return Vec::new();
        }
        let kind = event.kind.to_owned();
        if QUIET.contains(&kind.as_str()) || QUIET_FAMILIES.iter().any(|family| kind.starts_with(family)) {
            return Vec::new();
        }
        let data = event.data.map_or("{}", RawValue::get);
        match serde_json::from_str::<Data>(data).ok().and_then(|data| self.known(&kind, data)) {
            Some(events) => events,
            None => vec![unknown(&kind, raw)],
        }
    }

    fn is_new(&mut self, id: &str) -> bool {
        if !self.seen.insert(id.to_owned()) {
            return false;
        }
        self.seen_in_order.push_back(id.to_owned());
        let too_many = self.seen_in_order.len() > REMEMBERED;
        if let Some(oldest) = self.seen_in_order.pop_front_if(|_| too_many) {
            self.seen.remove(&oldest);
        }
        true
    }

    /// `None` for a kind, or a shape of it, that we do not know.
    fn known(&mut self, kind: &str, data: Data) -> Option<Vec<AgentEvent>> {
        let one = |event| Some(vec![event]);
        match kind {
            "assistant.turn_start" => one(AgentEvent::TurnStarted { turn_id: data.turn_id? }),
            "assistant.turn_end" => one(AgentEvent::TurnEnded { turn_id: data.turn_id? }),
            "session.idle" => {
                self.messages.clear();
                self.outputs.clear();
                one(AgentEvent::Idle)
            }
            "assistant.message_delta" => {
                let (id, delta) = (data.message_id?, data.delta_content?);
                self.messages.entry(id.clone()).or_default().push_str(&delta);
                one(AgentEvent::BlockDelta { key: BlockKey::new(BlockKind::Message, id), delta })
            }
            "assistant.message" => {
                let (id, content) = (data.message_id?, data.content.unwrap_or_default());
                let begun = self.messages.remove(&id).is_some();
                // A message that only asks for tools has nothing to show.
                let shown = begun || !content.is_empty();
                Some(if shown { vec![AgentEvent::BlockEnded(BlockEnd::Message { id, content })] } else { Vec::new() })
            }
            "assistant.reasoning_delta" => {
                let key = BlockKey::new(BlockKind::Reasoning, data.reasoning_id?);
                one(AgentEvent::BlockDelta { key, delta: data.delta_content? })
            }
            "assistant.reasoning" => one(AgentEvent::BlockEnded(BlockEnd::Reasoning {
                id: data.reasoning_id?,
                content: data.content.unwrap_or_default(),
            })),
            "tool.execution_start" => one(AgentEvent::BlockStarted(BlockStart::Tool {
                id: data.tool_call_id?,
                parent: data.parent_tool_call_id,
                name: data.tool_name.unwrap_or_else(|| "tool".to_owned()),
                arguments: data.arguments.map(|arguments| format!("{arguments:#}")).unwrap_or_default(),
            })),
            "tool.execution_partial_result" => Some(self.partial_output(data.tool_call_id?, &data.partial_output?)),
            "tool.execution_complete" => {
                let id = data.tool_call_id?;
                self.outputs.remove(&id);
                let result = data.result.as_ref().map(tool_result);
                let failed = data.success == Some(false);
                let error = failed.then(|| tool_error(data.error.as_ref()));
                one(AgentEvent::BlockEnded(BlockEnd::Tool { id, result, error }))
            }
            "permission.requested" => one(AgentEvent::RequestMade {
                agent_request_id: data.request_id?,
                body: permission(&data.permission_request?),
            }),
            "assistant.usage" => one(AgentEvent::UsageReported(Usage {
                input_tokens: whole(data.input_tokens),
                output_tokens: whole(data.output_tokens),
                cache_read: whole(data.cache_read_tokens),
                cache_creation: whole(data.cache_write_tokens),
                duration_ms: whole(data.duration),
                num_turns: Some(1),
                ..Usage::default()
            })),
            "session.title_changed" => one(AgentEvent::TitleChanged(data.title?)),
            "session.error" => one(AgentEvent::TurnFailed { message: data.message? }),
            "session.warning" => one(AgentEvent::Notice { kind: "warning".to_owned(), message: data.message? }),
            "session.info" => one(AgentEvent::Notice { kind: "info".to_owned(), message: data.message? }),
            "session.model_change" => one(AgentEvent::Notice {
                kind: "model".to_owned(),
                message: format!("The model is now {}.", data.new_model?),
            }),
            "assistant.turn_retry" => Some(self.retry()),
            _ => None,
        }
    }

    /// The stream broke and is tried again under a new id: what was begun is closed with what it said.
    fn retry(&mut self) -> Vec<AgentEvent> {
        let mut events: Vec<AgentEvent> = self
            .messages
            .drain()
            .map(|(id, content)| AgentEvent::BlockEnded(BlockEnd::Message { id, content }))
            .collect();
        events.push(AgentEvent::Notice {
            kind: "retrying".to_owned(),
            message: "The model's answer broke off; Copilot tries again.".to_owned(),
        });
        events
    }

    fn partial_output(&mut self, id: String, output: &str) -> Vec<AgentEvent> {
        let sent = self.outputs.entry(id.clone()).or_default();
        let new = output.get(*sent..).unwrap_or(output).to_owned();
        *sent = output.len();
        let key = BlockKey::new(BlockKind::Tool, id);
        if new.is_empty() { Vec::new() } else { vec![AgentEvent::BlockDelta { key, delta: new }] }
    }
}

fn unknown(kind: &str, raw: Box<RawValue>) -> AgentEvent {
    AgentEvent::Unknown { kind: kind.to_owned(), raw }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts, which JSON may write as 1.0")]
fn whole(figure: Option<f64>) -> Option<u64> {
    figure.filter(|figure| *figure >= 0.0).map(|figure| figure as u64)
}

fn text(value: &Value, name: &str) -> Option<String> {
    value[name].as_str().map(str::to_owned)
}

fn tool_result(result: &Value) -> ToolResult {
    let content = text(result, "content").unwrap_or_default();
    let detailed_content = text(result, "detailedContent").filter(|detailed| *detailed != content);
    ToolResult { content, detailed_content, ..ToolResult::default() }
}

fn tool_error(error: Option<&Value>) -> ToolError {
    let message = error.and_then(|error| text(error, "message")).unwrap_or_else(|| "the tool failed".to_owned());
    // Two words of Copilot's for one of ours.
    let code = error
        .and_then(|error| text(error, "code"))
        .map(|code| if code == "rejected" { "denied".to_owned() } else { code });
    ToolError { message, code }
}

/// A permission request in one line and in full. Its fields differ by kind; what names the action comes first.
fn permission(request: &Value) -> RequestBody {
    let kind = text(request, "kind").unwrap_or_else(|| "unknown".to_owned());
    let detail = ["fullCommandText", "diff", "url", "fileName", "path", "toolName"]
        .iter()
        .find_map(|name| text(request, name))
        .unwrap_or_else(|| format!("{request:#}"));
    let subject = ["fileName", "path", "url", "toolName"].iter().find_map(|name| text(request, name));
    let title =
        text(request, "intention").or(subject).unwrap_or_else(|| detail.lines().next().unwrap_or_default().to_owned());
    let tool = match text(request, "toolName") {
        Some(name) if kind == "mcp" || kind == "custom-tool" => name,
        _ => kind.clone(),
    };
    RequestBody::Permission {
        title: format!("Copilot wants to use {kind}: {title}"),
        options: ["allow-once", "allow-always", "deny"].map(str::to_owned).to_vec(),
        tool_call_id: text(request, "toolCallId"),
        tool,
        kind,
        detail,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Events of the real CLI, as it sent them.
    const RECORDED: &str = include_str!("../../../tests/transcripts/sdk/client-events.jsonl");

    fn recorded() -> Vec<Box<RawValue>> {
        #[derive(Deserialize)]
        struct Line {
            k: String,
            e: Option<Box<RawValue>>,
        }
        RECORDED
            .lines()
            .filter_map(|line| serde_json::from_str::<Line>(line).ok())
            .filter(|line| line.k == "EV")
            .filter_map(|line| line.e)
            .collect()
    }

    fn event(json: &Value) -> Box<RawValue> {
        RawValue::from_string(json.to_string()).expect("JSON")
    }

    #[test]
    fn a_recorded_session_is_understood_and_what_is_begun_is_ended() {
        let mut translator = Translator::default();
        let (mut open, mut texts, mut idles) = (HashSet::new(), Vec::new(), 0);
        for raw in recorded() {
            for event in translator.translate(raw) {
                match event {
                    AgentEvent::Unknown { kind, .. } => {
                        assert!(matches!(kind.as_str(), "external_tool.requested"), "{kind} is not understood");
                    }
                    AgentEvent::BlockStarted(BlockStart::Tool { id, .. }) => {
                        open.insert(BlockKey::new(BlockKind::Tool, id));
                    }
                    AgentEvent::BlockDelta { key, .. } => {
                        open.insert(key);
                    }
                    AgentEvent::BlockEnded(BlockEnd::Message { id, content }) => {
                        open.remove(&BlockKey::new(BlockKind::Message, id));
                        texts.push(content);
                    }
                    AgentEvent::BlockEnded(BlockEnd::Reasoning { id, .. }) => {
                        open.remove(&BlockKey::new(BlockKind::Reasoning, id));
                    }
                    AgentEvent::BlockEnded(BlockEnd::Tool { id, .. }) => {
                        open.remove(&BlockKey::new(BlockKind::Tool, id));
                    }
                    AgentEvent::Idle => idles += 1,
                    _ => {}
                }
            }
        }
        assert!(idles >= 9, "{idles}");
        assert!(
            texts.iter().any(|text| text == "Hello from the fake model. This is a plain streamed reply."),
            "{texts:?}"
        );
        // One turn of the recording was aborted in mid-message and one session destroyed in mid-turn.
        assert!(open.len() <= 2, "{open:?}");
    }

    #[test]
    fn an_event_that_comes_again_says_nothing_new() {
        let delta = |id: &str| {
            event(&serde_json::json!({
                "type": "assistant.message_delta", "id": id, "data": { "messageId": "m", "deltaContent": "x" },
            }))
        };
        let mut translator = Translator::default();
        assert_eq!(translator.translate(delta("1")).len(), 1);
        assert_eq!(translator.translate(delta("2")).len(), 1);
        assert_eq!(translator.translate(delta("1")).len(), 0);
    }

    #[test]
    fn what_is_not_known_is_kept_and_rubbish_breaks_nothing() {
        let mut translator = Translator::default();
        for json in [
            serde_json::json!({ "type": "session.something_new", "data": { "a": 1 } }),
            serde_json::json!({ "type": "assistant.message_delta", "data": { "messageId": 7 } }),
            serde_json::json!({ "type": "tool.execution_start" }),
            serde_json::json!([1, 2]),
            serde_json::json!("text"),
        ] {
            let events = translator.translate(event(&json));
            assert!(matches!(events[..], [AgentEvent::Unknown { .. }]), "{json}: {events:?}");
        }
    }

    #[test]
    fn a_retried_stream_closes_what_it_left_behind() {
        let mut translator = Translator::default();
        translator.translate(event(&serde_json::json!({
            "type": "assistant.message_delta", "data": { "messageId": "old", "deltaContent": "half" },
        })));
        let events = translator.translate(event(&serde_json::json!({ "type": "assistant.turn_retry", "data": {} })));
        let closed = AgentEvent::BlockEnded(BlockEnd::Message { id: "old".to_owned(), content: "half".to_owned() });
        assert_eq!(format!("{:?}", events[0]), format!("{closed:?}"));
        assert!(matches!(&events[1], AgentEvent::Notice { kind, .. } if kind == "retrying"));
    }

    #[test]
    fn a_permission_shows_exactly_what_would_run() {
        let RequestBody::Permission { kind, tool, detail, title, tool_call_id, .. } = permission(&serde_json::json!({
            "kind": "shell", "toolCallId": "c", "fullCommandText": "rm -rf x", "intention": "Tidy up",
        })) else {
            panic!("a permission")
        };
        assert_eq!((kind.as_str(), tool.as_str(), detail.as_str()), ("shell", "shell", "rm -rf x"));
        assert_eq!((title.as_str(), tool_call_id.as_deref()), ("Copilot wants to use shell: Tidy up", Some("c")));
    }
}
