//! From Copilot's events to ours. What we do not know is kept raw; nothing here can break a turn.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::questions::Question;
use super::seen::Seen;
use super::{TITLE, notices, permission, tool_results};
use crate::agent::failure::{Failure, classify};
use crate::agent::{AgentEvent, BlockEnd, BlockStart};
use crate::model::{BlockKey, BlockKind, ContextUsage, ErrorClass, RequestBody, Usage};

/// Blocks and calls that are followed at once. Nobody has that many; a stream of rubbish may.
const FOLLOWED: usize = 4_096;

/// Kinds that say nothing a person needs to see: what they tell is told by others, or concerns the program alone.
const QUIET: [&str; 42] = [
    "abort",
    "agent.interrupted",
    "assistant.intent",
    "assistant.message_start",
    "assistant.streaming_delta",
    "assistant.tool_call_delta",
    "auto_mode_switch.completed",
    "auto_mode_switch.requested",
    "capabilities.changed",
    "commands.changed",
    "exit_plan_mode.completed",
    "exit_plan_mode.requested",
    "external_tool.completed",
    "pending_messages.modified",
    "sandbox.decision",
    "session.context_changed",
    "session.custom_agents_updated",
    "session.extensions_loaded",
    "session.indexed_search",
    "session.managed_settings_resolved",
    "session.mcp_server_tools_loaded",
    "session.mode_notice_delivered",
    "session.permissions_changed",
    "session.plan_changed",
    "session.quota_observation",
    "session.resume",
    "session.shutdown",
    "session.skills_loaded",
    "session.start",
    "session.todos_changed",
    "session.tools_updated",
    "session.usage_checkpoint",
    "session.usage_record",
    "session.workspace_file_changed",
    "skill.context_delivered",
    "skill.invoked",
    "subagent.configured",
    "subagent.deselected",
    "subagent.selected",
    "system.message",
    "tool.shell_output",
    "tool_search.activated",
];
const QUIET_FAMILIES: [&str; 3] = ["hook.", "model.", "user_input."];
/// Kinds that a sub-agent reports of itself and that are no news of the session.
const QUIET_OF_SUB_AGENTS: [&str; 8] = [
    "assistant.idle",
    "assistant.turn_start",
    "assistant.turn_end",
    "session.idle",
    "session.mode_changed",
    "session.model_change",
    "session.title_changed",
    "session.usage_info",
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    /// Which sub-agent it comes from.
    #[serde(borrow, default)]
    agent_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
}

/// The data of a delta, which is nearly all of a stream: read without touching anything else.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DeltaData<'a> {
    #[serde(borrow, alias = "reasoningId")]
    message_id: Cow<'a, str>,
    delta_content: String,
    #[serde(default)]
    parent_tool_call_id: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Data {
    turn_id: Option<String>,
    message_id: Option<String>,
    reasoning_id: Option<String>,
    content: Option<String>,
    reasoning_text: Option<String>,
    source: Option<String>,
    tool_call_id: Option<String>,
    parent_tool_call_id: Option<String>,
    tool_name: Option<String>,
    arguments: Option<Value>,
    partial_output: Option<String>,
    progress_message: Option<String>,
    success: Option<bool>,
    result: Option<Value>,
    error: Option<Value>,
    message: Option<String>,
    error_type: Option<String>,
    status_code: Option<f64>,
    title: Option<String>,
    request_id: Option<String>,
    permission_request: Option<Value>,
    input_tokens: Option<f64>,
    output_tokens: Option<f64>,
    cache_read_tokens: Option<f64>,
    cache_write_tokens: Option<f64>,
    cost: Option<f64>,
    is_byok: Option<bool>,
    model: Option<Value>,
    duration: Option<f64>,
    current_tokens: Option<f64>,
    token_limit: Option<f64>,
    mode: Option<String>,
    new_mode: Option<String>,
}

/// What one of Copilot's events means.
#[derive(Debug)]
pub(super) enum Translated {
    /// One of ours.
    Event(AgentEvent),
    /// A question that is answered by a call.
    Asked { id: String, question: Question, body: RequestBody },
    /// Work on the side has changed; the program must be asked how.
    TasksChanged,
}

impl From<AgentEvent> for Translated {
    fn from(event: AgentEvent) -> Self {
        Self::Event(event)
    }
}

/// What is known of one Copilot session while its events are read.
#[derive(Debug, Default)]
pub(in crate::agent) struct Translator {
    seen: Seen,
    /// `interactive`, `plan` or `autopilot`.
    mode: String,
    /// The end of the turn was told, and the session's own idle, which may come much later, says nothing new.
    is_idle: bool,
    /// Messages and reasoning that have begun and not ended, and whether they are a sub-agent's: a retried stream leaves
    /// them behind.
    begun: HashMap<BlockKey, bool>,
    /// Output of running tools: the program sends all of it each time, we send what is new.
    outputs: HashMap<String, usize>,
    /// Calls of this turn that have ended: what a command in the background says later belongs to no block.
    ended_tools: HashSet<String>,
}

impl Translator {
    /// For a session in that mode.
    pub fn in_mode(mode: String) -> Self {
        Self { mode, ..Self::default() }
    }

    /// What one of Copilot's events means to us.
    pub(super) fn translate(&mut self, raw: &RawValue) -> Vec<Translated> {
        let Ok(event) = serde_json::from_str::<Event<'_>>(raw.get()) else {
            return vec![unknown("unreadable", raw)];
        };
        if event.id.is_some_and(|id| !self.seen.is_new(id.get())) {
            return Vec::new();
        }
        let mut events = Vec::new();
        if self.quick(&event, &mut events) {
            return events.into_iter().map(Translated::from).collect();
        }
        self.whole_event(&event, raw)
    }

    /// As [`Self::translate`], of a line that nobody can answer: what is asked is left out. `false` for a line that is
    /// no event.
    pub fn read(&mut self, line: &str, events: &mut Vec<AgentEvent>) -> bool {
        let Ok(event) = serde_json::from_str::<Event<'_>>(line) else { return false };
        if event.id.is_some_and(|id| !self.seen.is_new(id.get())) || self.quick(&event, events) {
            return true;
        }
        let Ok(raw) = serde_json::from_str::<&RawValue>(line) else { return false };
        let ours = |translated| if let Translated::Event(event) = translated { Some(event) } else { None };
        events.extend(self.whole_event(&event, raw).into_iter().filter_map(ours));
        true
    }

    /// Deals with what a stream is full of: deltas, and kinds that say nothing. `false` for everything else.
    fn quick(&mut self, event: &Event<'_>, events: &mut Vec<AgentEvent>) -> bool {
        let kind = match event.kind.as_ref() {
            "assistant.message_delta" => BlockKind::Message,
            "assistant.reasoning_delta" => BlockKind::Reasoning,
            other => return is_quiet(other, event.agent_id.is_some()),
        };
        let Some(data) = event.data.and_then(|data| serde_json::from_str::<DeltaData<'_>>(data.get()).ok()) else {
            return false;
        };
        let key = BlockKey::new(kind, data.message_id);
        self.begin(&key, data.parent_tool_call_id, event.agent_id.is_some(), events);
        events.push(AgentEvent::BlockDelta { key, delta: data.delta_content });
        true
    }

    fn whole_event(&mut self, event: &Event<'_>, raw: &RawValue) -> Vec<Translated> {
        let (kind, is_sub_agents) = (event.kind.as_ref(), event.agent_id.is_some());
        if kind == "session.background_tasks_changed" {
            return vec![Translated::TasksChanged];
        }
        let data = event.data.map_or("{}", RawValue::get);
        let known = serde_json::from_str::<Data>(data).ok().and_then(|data| self.known(kind, data, is_sub_agents));
        if let Some(events) = known {
            return events.into_iter().map(Translated::from).collect();
        }
        let value: Value = serde_json::from_str(data).unwrap_or_default();
        if let Some((question, body)) = Question::from_event(kind, &value)
            && let Some(id) = value["requestId"].as_str()
        {
            return vec![Translated::Asked { id: id.to_owned(), question, body }];
        }
        match notices::notices(kind, &value) {
            Some(notices) => notices.into_iter().map(Translated::from).collect(),
            None => vec![unknown(kind, raw)],
        }
    }

    /// What was begun and never ended, when nothing follows any more.
    pub fn left_open(&mut self) -> Vec<BlockKey> {
        let mut open: Vec<BlockKey> = self.begun.drain().map(|(key, _)| key).collect();
        open.sort();
        open
    }

    /// `None` for a kind, or a shape of it, that is not known here.
    fn known(&mut self, kind: &str, data: Data, is_sub_agents: bool) -> Option<Vec<AgentEvent>> {
        let one = |event| Some(vec![event]);
        match kind {
            "assistant.turn_start" => {
                self.is_idle = false;
                self.ended_tools.clear();
                one(AgentEvent::TurnStarted { turn_id: data.turn_id?.into() })
            }
            "assistant.turn_end" => one(AgentEvent::TurnEnded { turn_id: data.turn_id?.into() }),
            // The session as a whole is idle only when no command runs in the background any more; the turn is over
            // when the agent itself is. On autopilot it is so after each step, and goes on.
            "assistant.idle" if self.mode == "autopilot" => Some(Vec::new()),
            "assistant.idle" => Some(self.idle()),
            "session.idle" => {
                self.mode = data.mode.unwrap_or_default();
                Some(self.idle())
            }
            "session.mode_changed" => {
                self.mode.clone_from(data.new_mode.as_ref()?);
                // The line for people is made where the other notices are.
                None
            }
            "user.message" => Some(match data.source {
                // What somebody typed is known already; what the program asks of itself is not.
                Some(source) if !is_sub_agents && source != "user" => {
                    vec![AgentEvent::PromptGenerated(data.content.unwrap_or_default())]
                }
                _ => Vec::new(),
            }),
            "assistant.message" => {
                let (id, content) = (data.message_id?, data.content.unwrap_or_default());
                let key = BlockKey::new(BlockKind::Message, &id);
                // A message that only asks for tools has nothing to show.
                if content.is_empty() && !self.begun.contains_key(&key) {
                    return Some(Vec::new());
                }
                let mut events = Vec::new();
                self.begin(&key, data.parent_tool_call_id, is_sub_agents, &mut events);
                self.begun.remove(&key);
                events.push(AgentEvent::BlockEnded(BlockEnd::Message { id, content }));
                Some(events)
            }
            "assistant.reasoning" => {
                let (id, content) = (data.reasoning_id?, data.content.unwrap_or_default());
                let key = BlockKey::new(BlockKind::Reasoning, &id);
                let mut events = Vec::new();
                self.begin(&key, data.parent_tool_call_id, is_sub_agents, &mut events);
                self.begun.remove(&key);
                events.push(AgentEvent::BlockEnded(BlockEnd::Reasoning { id, content }));
                Some(events)
            }
            "tool.execution_start" => one(AgentEvent::BlockStarted(BlockStart::Tool {
                id: data.tool_call_id?,
                parent: data.parent_tool_call_id,
                name: data.tool_name.unwrap_or_else(|| "tool".to_owned()),
                arguments: data.arguments.map(|arguments| format!("{arguments:#}")).unwrap_or_default(),
            })),
            "tool.execution_partial_result" => Some(self.partial_output(data.tool_call_id?, &data.partial_output?)),
            "tool.execution_progress" if self.ended_tools.contains(data.tool_call_id.as_ref()?) => Some(Vec::new()),
            "tool.execution_progress" => one(AgentEvent::BlockDelta {
                key: BlockKey::new(BlockKind::Tool, data.tool_call_id?),
                delta: format!("{}\n", data.progress_message?),
            }),
            "tool.execution_complete" => {
                let id = data.tool_call_id?;
                self.outputs.remove(&id);
                if self.ended_tools.len() < FOLLOWED {
                    self.ended_tools.insert(id.clone());
                }
                let mut events =
                    data.result.as_ref().map(|result| tool_results::images(&id, result)).unwrap_or_default();
                let result = data.result.as_ref().map(tool_results::result);
                let error = (data.success == Some(false)).then(|| tool_results::error(data.error.as_ref()));
                events.push(AgentEvent::BlockEnded(BlockEnd::Tool { id, result, error }));
                Some(events)
            }
            "permission.requested" => one(AgentEvent::RequestMade {
                agent_request_id: data.request_id?,
                body: permission::permission(&data.permission_request?),
            }),
            // Answered by us, or no longer wanted: the session knows which.
            "permission.completed" | "elicitation.completed" | "session_limits_exhausted.completed" => {
                one(AgentEvent::RequestWithdrawn { agent_request_id: data.request_id? })
            }
            "assistant.usage" => one(AgentEvent::UsageReported(usage(&data))),
            "session.usage_info" => one(AgentEvent::ContextUsed(ContextUsage {
                current_tokens: whole(data.current_tokens)?,
                token_limit: whole(data.token_limit)?,
            })),
            "session.title_changed" => one(AgentEvent::TitleChanged(data.title?)),
            "session.error" => one(AgentEvent::TurnFailed { failure: failure(&data)? }),
            "assistant.turn_retry" => Some(self.retry(is_sub_agents)),
            _ => None,
        }
    }

    /// A message of the history: whole, with the reasoning that led to it.
    pub(super) fn recorded_reasoning(raw: &RawValue) -> Option<(String, String)> {
        let event = serde_json::from_str::<Event<'_>>(raw.get()).ok()?;
        let data: Data = serde_json::from_str(event.data?.get()).ok()?;
        let text = data.reasoning_text.filter(|text| !text.is_empty() && event.kind == "assistant.message")?;
        Some((data.message_id?, text))
    }

    /// A sub-agent's block says whose it is when it begins; the session makes up all other beginnings itself.
    fn begin(&mut self, key: &BlockKey, parent: Option<String>, is_sub_agents: bool, events: &mut Vec<AgentEvent>) {
        if self.begun.contains_key(key) {
            return;
        }
        if self.begun.len() >= FOLLOWED {
            events.extend(self.left_open().into_iter().map(AgentEvent::BlockDiscarded));
        }
        self.begun.insert(key.clone(), is_sub_agents);
        if parent.is_some() {
            let id = key.id.clone();
            events.push(AgentEvent::BlockStarted(match key.kind {
                BlockKind::Reasoning => BlockStart::Reasoning { id, parent },
                _ => BlockStart::Message { id, parent },
            }));
        }
    }

    /// The turn is over, once.
    fn idle(&mut self) -> Vec<AgentEvent> {
        self.begun.clear();
        self.outputs.clear();
        if std::mem::replace(&mut self.is_idle, true) { Vec::new() } else { vec![AgentEvent::Idle] }
    }

    /// The stream broke and is tried again under a new id: what was begun is given up. The reason is told by another
    /// event.
    fn retry(&mut self, of_sub_agent: bool) -> Vec<AgentEvent> {
        let given_up = self.begun.extract_if(|_, is_sub_agents| *is_sub_agents == of_sub_agent);
        let mut keys: Vec<BlockKey> = given_up.map(|(key, _)| key).collect();
        // In the same order each time.
        keys.sort();
        keys.into_iter().map(AgentEvent::BlockDiscarded).collect()
    }

    fn partial_output(&mut self, id: String, output: &str) -> Vec<AgentEvent> {
        if self.ended_tools.contains(&id) {
            return Vec::new();
        }
        if self.outputs.len() >= FOLLOWED {
            self.outputs.clear();
        }
        let sent = self.outputs.entry(id.clone()).or_default();
        let new = output.get(*sent..).unwrap_or(output).to_owned();
        *sent = output.len();
        let key = BlockKey::new(BlockKind::Tool, id);
        if new.is_empty() { Vec::new() } else { vec![AgentEvent::BlockDelta { key, delta: new }] }
    }
}

/// Why a turn failed. The type is a word of the program's own, which says it where the message does not.
fn failure(data: &Data) -> Option<Failure> {
    let message = data.message.as_deref()?;
    let status = whole(data.status_code).and_then(|status| u16::try_from(status).ok());
    let failure = classify(TITLE, message, status);
    let class = match data.error_type.as_deref() {
        Some("authentication" | "authorization") => ErrorClass::Auth,
        Some("quota") => ErrorClass::Quota,
        Some("rate_limit") => ErrorClass::RateLimit,
        Some("context_limit") => ErrorClass::ContextTooLong,
        _ => return Some(failure),
    };
    Some(if failure.class == ErrorClass::Unknown { Failure::of_class(class, TITLE, message) } else { failure })
}

/// What a call of the model cost.
fn usage(data: &Data) -> Usage {
    Usage {
        input_tokens: whole(data.input_tokens),
        output_tokens: whole(data.output_tokens),
        cache_read: whole(data.cache_read_tokens),
        cache_creation: whole(data.cache_write_tokens),
        duration_ms: whole(data.duration),
        num_turns: Some(1),
        // A model of the user's own costs GitHub's quota nothing, whatever stands there.
        premium_requests: data.cost.filter(|_| data.is_byok != Some(true)),
        model: data.model.as_ref().and_then(Value::as_str).map(str::to_owned),
        ..Usage::default()
    }
}

fn unknown(kind: &str, raw: &RawValue) -> Translated {
    AgentEvent::Unknown { kind: kind.to_owned(), raw: raw.to_owned() }.into()
}

fn is_quiet(kind: &str, is_sub_agents: bool) -> bool {
    QUIET.contains(&kind)
        || QUIET_FAMILIES.iter().any(|family| kind.starts_with(family))
        || (is_sub_agents && QUIET_OF_SUB_AGENTS.contains(&kind))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts, which JSON may write as 1.0")]
fn whole(figure: Option<f64>) -> Option<u64> {
    figure.filter(|figure| *figure >= 0.0).map(|figure| figure as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Those of ours that an event becomes.
    fn ours(translated: Vec<Translated>) -> Vec<AgentEvent> {
        translated
            .into_iter()
            .filter_map(|translated| if let Translated::Event(event) = translated { Some(event) } else { None })
            .collect()
    }

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
            for event in ours(translator.translate(&raw)) {
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
        assert_eq!(translator.translate(&delta("1")).len(), 1);
        assert_eq!(translator.translate(&delta("2")).len(), 1);
        assert_eq!(translator.translate(&delta("1")).len(), 0);
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
            let events = ours(translator.translate(&event(&json)));
            assert!(matches!(events[..], [AgentEvent::Unknown { .. }]), "{json}: {events:?}");
        }
    }

    #[test]
    fn an_error_has_a_class_by_its_words_its_status_or_its_type() {
        for (data, class) in [
            (
                serde_json::json!({ "message": "400 The requested model is not supported.", "statusCode": 400 }),
                "model-unavailable",
            ),
            (serde_json::json!({ "message": "no", "statusCode": 429, "errorType": "query" }), "rate-limit"),
            (serde_json::json!({ "message": "no", "errorType": "quota" }), "quota"),
            (serde_json::json!({ "message": "no", "statusCode": 1e300 }), "unknown"),
        ] {
            let raw = event(&serde_json::json!({ "type": "session.error", "data": data }));
            let events = ours(Translator::default().translate(&raw));
            let [AgentEvent::TurnFailed { failure }] = &events[..] else { panic!("{events:?}") };
            assert_eq!(failure.class.as_str(), class, "{data}");
        }
    }

    #[test]
    fn a_retried_stream_closes_what_it_left_behind() {
        let mut translator = Translator::default();
        translator.translate(&event(&serde_json::json!({
            "type": "assistant.message_delta", "data": { "messageId": "old", "deltaContent": "half" },
        })));
        let retry = serde_json::json!({ "type": "assistant.turn_retry", "data": {} });
        let events = ours(translator.translate(&event(&retry)));
        assert!(matches!(&events[..], [AgentEvent::BlockDiscarded(key)] if key.id == "old"), "{events:?}");
    }

    #[test]
    fn a_sub_agent_speaks_within_its_tool_call_and_its_turns_are_not_the_sessions() {
        let mut translator = Translator::default();
        let said =
            |kind: &str, data: Value| event(&serde_json::json!({ "type": kind, "agentId": "sub", "data": data }));
        assert!(translator.translate(&said("assistant.turn_start", serde_json::json!({ "turnId": "0" }))).is_empty());
        let delta = serde_json::json!({ "messageId": "m", "deltaContent": "x", "parentToolCallId": "call" });
        let events = ours(translator.translate(&said("assistant.message_delta", delta.clone())));
        let start = BlockStart::Message { id: "m".to_owned(), parent: Some("call".to_owned()) };
        assert!(matches!(&events[0], AgentEvent::BlockStarted(begun) if *begun == start), "{events:?}");
        assert_eq!(ours(translator.translate(&said("assistant.message_delta", delta))).len(), 1, "it begins once");
        assert!(translator.translate(&said("session.idle", serde_json::json!({}))).is_empty());
        assert!(
            translator
                .translate(&said("user.message", serde_json::json!({ "content": "c", "source": "a" })))
                .is_empty()
        );
    }

    #[test]
    fn what_the_program_asks_of_itself_is_shown_and_what_a_person_typed_is_not_repeated() {
        let mut translator = Translator::default();
        let message = |source: Option<&str>| {
            let data = serde_json::json!({ "content": "go on", "source": source });
            event(&serde_json::json!({ "type": "user.message", "data": data }))
        };
        assert!(translator.translate(&message(None)).is_empty());
        let events = ours(translator.translate(&message(Some("autopilot"))));
        assert!(matches!(&events[..], [AgentEvent::PromptGenerated(prompt)] if prompt == "go on"), "{events:?}");
    }

    #[test]
    fn figures_of_memory_and_cost_are_kept_apart() {
        let mut translator = Translator::default();
        let info =
            serde_json::json!({ "type": "session.usage_info", "data": { "tokenLimit": 128_000, "currentTokens": 9 } });
        let expected = ContextUsage { current_tokens: 9, token_limit: 128_000 };
        let events = ours(translator.translate(&event(&info)));
        assert!(matches!(events[..], [AgentEvent::ContextUsed(usage)] if usage == expected), "{events:?}");
        for (byok, premium) in [(true, None), (false, Some(1.0))] {
            let usage = serde_json::json!({ "type": "assistant.usage", "data": { "cost": 1, "isByok": byok } });
            let events = ours(translator.translate(&event(&usage)));
            let [AgentEvent::UsageReported(usage)] = &events[..] else { panic!("{events:?}") };
            assert_eq!(usage.premium_requests, premium);
        }
    }

    #[test]
    fn a_turn_ends_with_the_agent_and_not_with_what_it_left_running() {
        let said = |kind: &str, data: Value| event(&serde_json::json!({ "type": kind, "data": data }));
        let idles = |translator: &mut Translator, kind: &str, data: Value| {
            ours(translator.translate(&said(kind, data)))
                .iter()
                .filter(|event| matches!(event, AgentEvent::Idle))
                .count()
        };
        let mut translator = Translator::in_mode("interactive".to_owned());
        assert_eq!(idles(&mut translator, "assistant.idle", serde_json::json!({})), 1);
        assert_eq!(
            idles(&mut translator, "session.idle", serde_json::json!({ "mode": "interactive" })),
            0,
            "told already"
        );
        translator.translate(&said("assistant.turn_start", serde_json::json!({ "turnId": "1" })));
        assert_eq!(idles(&mut translator, "session.idle", serde_json::json!({ "mode": "interactive" })), 1);
        translator.translate(&said("session.mode_changed", serde_json::json!({ "newMode": "autopilot" })));
        translator.translate(&said("assistant.turn_start", serde_json::json!({ "turnId": "2" })));
        assert_eq!(idles(&mut translator, "assistant.idle", serde_json::json!({})), 0, "it goes on by itself");
        assert_eq!(idles(&mut translator, "session.idle", serde_json::json!({ "mode": "autopilot" })), 1);
    }
}
