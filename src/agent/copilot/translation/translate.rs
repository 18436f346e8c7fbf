//! Translates Copilot's events into ours. Unknown events are kept raw; nothing here can break a turn.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde::Deserialize;
use serde_json::Value;

use super::event::{Event, Source};
use super::event_kinds::{EventUse, event_use};
use super::model_retry::ModelRetry;
use super::questions::Question;
use super::seen::Seen;
use super::{notices, permission, tool_results};
use crate::agent::copilot::TITLE;
use crate::agent::failure::{Failure, classify};
use crate::agent::{AgentEvent, BlockEnd, BlockStart};
use crate::model::{BlockKey, BlockKind, ContextUsage, ErrorClass, RequestBody, Usage};

/// The most blocks and calls tracked at once. Real streams have far fewer; this bounds memory for garbage input.
const FOLLOWED: usize = 4_096;

const MESSAGE_DELTA: &str = "assistant.message_delta";
const REASONING_DELTA: &str = "assistant.reasoning_delta";

/// Kinds that do not concern the session if they come from a sub-agent.
const QUIET_OF_SUB_AGENTS: [&str; 9] = [
    "assistant.idle",
    "assistant.turn_start",
    "assistant.turn_end",
    "model.call_failure",
    "session.idle",
    "session.mode_changed",
    "session.model_change",
    "session.title_changed",
    "session.usage_info",
];

/// Kinds after which the program may have other commands.
const CHANGE_COMMANDS: [&str; 2] = ["commands.changed", "session.skills_loaded"];

/// The data of a delta. Deltas are nearly all of a stream, so only these fields are parsed.
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
    summary: Option<String>,
    reason: Option<String>,
    status_code: Option<f64>,
    retry_attempt: Option<f64>,
    info_type: Option<String>,
    title: Option<String>,
    request_id: Option<String>,
    permission_request: Option<Value>,
    input_tokens: Option<f64>,
    output_tokens: Option<f64>,
    cache_read_tokens: Option<f64>,
    cache_write_tokens: Option<f64>,
    cost: Option<f64>,
    copilot_usage: Option<Value>,
    is_byok: Option<bool>,
    model: Option<Value>,
    duration: Option<f64>,
    current_tokens: Option<f64>,
    token_limit: Option<f64>,
    mode: Option<String>,
    new_mode: Option<String>,
}

/// The translation of a Copilot event.
#[derive(Debug)]
pub(in crate::agent::copilot) enum Translated {
    /// One of ours.
    Event(AgentEvent),
    /// A question that is answered by a call.
    Asked { id: String, question: Question, body: RequestBody },
    /// The background tasks have changed; the program must be queried for them.
    TasksChanged,
    /// The commands may have changed; the program must be queried for them.
    CommandsChanged,
}

impl From<AgentEvent> for Translated {
    fn from(event: AgentEvent) -> Self {
        Self::Event(event)
    }
}

/// The state of one Copilot session while its events are read.
#[derive(Debug, Default)]
pub(in crate::agent) struct Translator {
    seen: Seen,
    /// `interactive`, `plan` or `autopilot`.
    mode: String,
    /// The end of the turn was reported, so the session's own idle event, which may come much later, is ignored.
    is_idle: bool,
    /// Messages and reasoning in progress, and whether they belong to a sub-agent. A retried stream leaves them
    /// unfinished.
    begun: HashMap<BlockKey, bool>,
    /// Output of running tools: the program sends the complete output each time, we send the difference.
    outputs: HashMap<String, usize>,
    /// Why the program does not accept its task as complete, as far as it knows.
    task_failure: Option<Failure>,
    model_retry: ModelRetry,
    /// Calls of this turn that have ended. Later output of a background command is ignored.
    ended_tools: HashSet<String>,
}

impl Translator {
    /// A translator for a session in that mode.
    pub fn in_mode(mode: String) -> Self {
        Self { mode, ..Self::default() }
    }

    /// Translates one of Copilot's events.
    pub(in crate::agent::copilot) fn translate(&mut self, event: &Event<'_>, into: &mut Vec<Translated>) {
        if !self.says_nothing_new(event) && !self.delta(event, into) {
            self.whole_event(event, into);
        }
    }

    /// Like [`Self::translate`], for JSON that may not be an event.
    pub(in crate::agent::copilot) fn translate_text(&mut self, text: &str, into: &mut Vec<Translated>) {
        match Event::read(text) {
            Some(event) => self.translate(&event, into),
            None => into.push(unknown("unreadable", Source::Event(text))),
        }
    }

    /// Like [`Self::translate`], for a line of a stream without replies: requests are ignored. Returns `false` if the
    /// line is not an event.
    pub fn read(&mut self, line: &str, events: &mut Vec<AgentEvent>) -> bool {
        let Some(event) = Event::read(line) else { return false };
        if self.says_nothing_new(&event) || self.delta(&event, events) {
            return true;
        }
        let mut translated = Vec::new();
        self.whole_event(&event, &mut translated);
        let ours = |translated| if let Translated::Event(event) = translated { Some(event) } else { None };
        events.extend(translated.into_iter().filter_map(ours));
        true
    }

    /// Whether the event is of a hidden kind or a duplicate. Checked in this order, because every second event of a
    /// burst is of a hidden kind and need not be remembered.
    fn says_nothing_new(&mut self, event: &Event<'_>) -> bool {
        is_quiet(&event.kind, event.is_sub_agents) || event.id.is_some_and(|id| !self.seen.is_new(id))
    }

    /// The fast path for deltas. Returns `false` for any other event.
    fn delta<E: From<AgentEvent>>(&mut self, event: &Event<'_>, into: &mut Vec<E>) -> bool {
        let kind = match event.kind.as_ref() {
            MESSAGE_DELTA => BlockKind::Message,
            REASONING_DELTA => BlockKind::Reasoning,
            _ => return false,
        };
        let Some(data) = event.data.and_then(|data| serde_json::from_str::<DeltaData<'_>>(data).ok()) else {
            return false;
        };
        let key = BlockKey::new(kind, data.message_id);
        self.begin(&key, data.parent_tool_call_id, event.is_sub_agents, into);
        into.push(AgentEvent::BlockDelta { key, delta: data.delta_content }.into());
        true
    }

    fn whole_event(&mut self, event: &Event<'_>, into: &mut Vec<Translated>) {
        let kind = event.kind.as_ref();
        if kind == "session.background_tasks_changed" {
            into.push(Translated::TasksChanged);
            return;
        }
        if CHANGE_COMMANDS.contains(&kind) {
            into.push(Translated::CommandsChanged);
            return;
        }
        let data = event.data.unwrap_or("{}");
        let known =
            serde_json::from_str::<Data>(data).ok().and_then(|data| self.known(kind, data, event.is_sub_agents));
        if let Some(events) = known {
            into.extend(events.into_iter().map(Translated::from));
            return;
        }
        let value: Value = serde_json::from_str(data).unwrap_or_default();
        if let Some((question, body)) = Question::from_event(kind, &value)
            && let Some(id) = value["requestId"].as_str()
        {
            into.push(Translated::Asked { id: id.to_owned(), question, body });
            return;
        }
        match notices::notices(kind, &value) {
            Some(notices) => into.extend(notices.into_iter().map(Translated::from)),
            None => into.push(unknown(kind, event.source)),
        }
    }

    /// Ends unfinished blocks at the end of a stream.
    pub fn left_open(&mut self) -> Vec<BlockKey> {
        let mut open: Vec<BlockKey> = self.begun.drain().map(|(key, _)| key).collect();
        open.sort();
        open
    }

    /// Returns `None` for an unknown kind or shape.
    fn known(&mut self, kind: &str, data: Data, is_sub_agents: bool) -> Option<Vec<AgentEvent>> {
        let one = |event| Some(vec![event]);
        match kind {
            "assistant.turn_start" => {
                self.is_idle = false;
                self.model_retry = ModelRetry::default();
                self.ended_tools.clear();
                one(AgentEvent::TurnStarted { turn_id: data.turn_id?.into() })
            }
            "assistant.turn_end" => one(AgentEvent::TurnEnded { turn_id: data.turn_id?.into() }),
            // The session is idle only when no background command is running; the turn is over when the agent itself is
            // idle. In autopilot mode the agent is idle after each step and then continues.
            "assistant.idle" if self.mode == "autopilot" => Some(Vec::new()),
            "assistant.idle" => Some(self.idle()),
            "session.idle" => {
                self.mode = data.mode.unwrap_or_default();
                Some(self.idle())
            }
            "session.mode_changed" => {
                self.mode.clone_from(data.new_mode.as_ref()?);
                // The notice is created with the other notices.
                None
            }
            "user.message" => Some(match data.source {
                // The session already knows the user's prompts, but not those that the program sends itself.
                Some(source) if !is_sub_agents && source != "user" => {
                    vec![AgentEvent::PromptGenerated(data.content.unwrap_or_default())]
                }
                _ => Vec::new(),
            }),
            "assistant.message" => {
                let (id, content) = (data.message_id?, data.content.unwrap_or_default());
                let key = BlockKey::new(BlockKind::Message, &id);
                // A message with only tool requests has nothing to show.
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
                // Some models provide only encrypted reasoning.
                if content.is_empty() && !self.begun.contains_key(&key) {
                    return Some(Vec::new());
                }
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
            // Answered by us, or cancelled: the session knows which.
            "permission.completed" | "elicitation.completed" | "session_limits_exhausted.completed" => {
                one(AgentEvent::RequestWithdrawn { agent_request_id: data.request_id? })
            }
            "assistant.usage" => one(AgentEvent::UsageReported(usage(&data))),
            "session.usage_info" => one(AgentEvent::ContextUsed(ContextUsage {
                current_tokens: whole(data.current_tokens)?,
                token_limit: whole(data.token_limit)?,
            })),
            "session.task_complete" if !is_sub_agents => {
                self.task_failure = (data.success == Some(false)).then(|| task_failure(&data));
                // The notice is created with the other notices.
                None
            }
            "session.title_changed" => one(AgentEvent::TitleChanged(data.title?)),
            "session.error" => one(AgentEvent::TurnFailed { failure: failure(&data)? }),
            "assistant.turn_retry" | "model.call_failure" | "session.info" => {
                self.about_model_calls(kind, data, is_sub_agents)
            }
            _ => None,
        }
    }

    /// Calls of the model that fail and are repeated. Returns `None` for information about anything else.
    fn about_model_calls(&mut self, kind: &str, data: Data, is_sub_agents: bool) -> Option<Vec<AgentEvent>> {
        match (kind, data.info_type.as_deref()) {
            ("assistant.turn_retry", _) => {
                let mut events = self.retry(is_sub_agents);
                if !is_sub_agents {
                    events.extend(self.model_retry.again(data.reason.as_deref()));
                }
                Some(events)
            }
            ("model.call_failure", _) => {
                let earlier_attempts = whole(data.retry_attempt).unwrap_or(0);
                Some(self.model_retry.failed(status(&data), earlier_attempts).into_iter().collect())
            }
            (_, Some("model_retry")) => Some(vec![self.model_retry.notice(&data.message?)]),
            // The tool that made the file says so too.
            (_, Some("file_created")) => Some(Vec::new()),
            _ => None,
        }
    }

    /// A complete message of the history, with its reasoning.
    pub(in crate::agent::copilot) fn recorded_reasoning(event: &str) -> Option<(String, String)> {
        let event = Event::read(event)?;
        let data: Data = serde_json::from_str(event.data?).ok()?;
        let text = data.reasoning_text.filter(|text| !text.is_empty() && event.kind == "assistant.message")?;
        Some((data.message_id?, text))
    }

    /// Reports the start of a sub-agent's block, which names its call; the session adds all other starts itself.
    fn begin<E: From<AgentEvent>>(
        &mut self,
        key: &BlockKey,
        parent: Option<String>,
        is_sub_agents: bool,
        into: &mut Vec<E>,
    ) {
        if self.begun.contains_key(key) {
            return;
        }
        if self.begun.len() >= FOLLOWED {
            into.extend(self.left_open().into_iter().map(|key| AgentEvent::BlockDiscarded(key).into()));
        }
        self.begun.insert(key.clone(), is_sub_agents);
        if parent.is_some() {
            let id = key.id.clone();
            let start = match key.kind {
                BlockKind::Reasoning => BlockStart::Reasoning { id, parent },
                _ => BlockStart::Message { id, parent },
            };
            into.push(AgentEvent::BlockStarted(start).into());
        }
    }

    /// Reports the end of the turn, once.
    fn idle(&mut self) -> Vec<AgentEvent> {
        self.begun.clear();
        self.outputs.clear();
        if std::mem::replace(&mut self.is_idle, true) {
            return Vec::new();
        }
        self.seen.age();
        let failure = self.take_task_failure().map(|failure| AgentEvent::TurnFailed { failure });
        failure.into_iter().chain([AgentEvent::Idle]).collect()
    }

    /// Why the turn failed, if the last thing that the program said about its task is that it is not complete.
    pub fn take_task_failure(&mut self) -> Option<Failure> {
        self.task_failure.take()
    }

    /// The stream broke and is retried with a new id: discards unfinished blocks. Another event reports the reason.
    fn retry(&mut self, of_sub_agent: bool) -> Vec<AgentEvent> {
        let given_up = self.begun.extract_if(|_, is_sub_agents| *is_sub_agents == of_sub_agent);
        let mut keys: Vec<BlockKey> = given_up.map(|(key, _)| key).collect();
        // In a deterministic order.
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

fn status(data: &Data) -> Option<u16> {
    whole(data.status_code).and_then(|status| u16::try_from(status).ok())
}

/// Why a turn failed. The program's own error type decides if the message does not.
fn failure(data: &Data) -> Option<Failure> {
    let message = data.message.as_deref()?;
    let failure = classify(TITLE, message, status(data));
    let class = match data.error_type.as_deref() {
        Some("authentication" | "authorization") => ErrorClass::Auth,
        Some("quota") => ErrorClass::Quota,
        Some("rate_limit") => ErrorClass::RateLimit,
        Some("context_limit") => ErrorClass::ContextTooLong,
        _ => return Some(failure),
    };
    Some(if failure.class == ErrorClass::Unknown { Failure::of_class(class, TITLE, message) } else { failure })
}

fn task_failure(data: &Data) -> Failure {
    let said = [&data.summary, &data.reason].into_iter().flatten().find(|text| !text.trim().is_empty());
    let said = said.map(|text| format!(": {text}")).unwrap_or_default();
    Failure::with_message(ErrorClass::Unknown, &format!("{TITLE} could not complete its task{said}"))
}

/// The usage of a model call.
fn usage(data: &Data) -> Usage {
    Usage {
        input_tokens: whole(data.input_tokens),
        output_tokens: whole(data.output_tokens),
        cache_read: whole(data.cache_read_tokens),
        cache_creation: whole(data.cache_write_tokens),
        duration_ms: whole(data.duration),
        num_turns: Some(1),
        // The user's own model does not count against GitHub's quota, whatever the event reports.
        premium_requests: data.cost.filter(|_| data.is_byok != Some(true)),
        // A call without this figure was not billed in credits, or nobody says how many.
        credits: data.copilot_usage.as_ref().and_then(|billed| billed["totalNanoAiu"].as_f64()).map(|nano| nano / 1e9),
        model: data.model.as_ref().and_then(Value::as_str).map(str::to_owned),
        ..Usage::default()
    }
}

fn unknown(kind: &str, source: Source<'_>) -> Translated {
    AgentEvent::Unknown { kind: kind.to_owned(), raw: source.raw() }.into()
}

fn is_quiet(kind: &str, is_sub_agents: bool) -> bool {
    // Called for every delta, so that case comes first.
    if matches!(kind, MESSAGE_DELTA | REASONING_DELTA) {
        return false;
    }
    event_use(kind) == EventUse::Ignored || (is_sub_agents && QUIET_OF_SUB_AGENTS.contains(&kind))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts, which JSON may write as 1.0")]
fn whole(figure: Option<f64>) -> Option<u64> {
    figure.filter(|figure| *figure >= 0.0).map(|figure| figure as u64)
}

#[cfg(test)]
mod tests;
