//! Translates an ACP session's updates into events. Unknown updates are kept raw; nothing here can break a turn.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use serde_json::value::RawValue;

use super::copilot_remarks::{CopilotRemarks, Remark};
use super::offers::Offers;
use super::tool_calls::{Stage, ToolCall};
use crate::agent::failure::{Failure, classify};
use crate::agent::{AgentEvent, BlockEnd};
use crate::model::{BlockKey, BlockKind, ContextUsage, ErrorClass, NoticeKind, SlashCommand, Usage};

/// A message or a thought in progress.
#[derive(Debug)]
struct Speech {
    kind: BlockKind,
    id: String,
    /// The agent's own id, if it has one.
    own_id: Option<String>,
    text: String,
}

/// The state of one session while its updates are read.
pub(super) struct Translator {
    /// The prefix of generated ids, which keeps them distinct from those of earlier connections.
    prefix: String,
    made_up: u64,
    speech: Option<Speech>,
    calls: HashMap<String, ToolCall>,
    /// In order of arrival.
    unstarted: Vec<String>,
    /// Calls of this turn that have ended; later updates for them are ignored.
    ended_calls: HashSet<String>,
    copilot_remarks: CopilotRemarks,
    pub offers: Offers,
    plan: String,
    commands: String,
    mode: Option<String>,
    /// Whether the agent counts tokens over the whole session. The protocol says so; in our measurements, Copilot
    /// complies and opencode counts per turn.
    counts_on: bool,
    /// The session totals that the agent reported so far; events carry the difference.
    used: Usage,
    cost: Option<f64>,
}

/// How a turn ended, as the agent reported it.
pub(super) struct TurnEnd<'a> {
    pub stop_reason: &'a str,
    pub usage: &'a Value,
}

impl Translator {
    pub fn new(is_copilot: bool, offers: Offers) -> Self {
        Self::with_prefix(uuid::Uuid::new_v4().simple().to_string()[..8].to_owned(), is_copilot, offers)
    }

    /// Like [`Self::new`], with an id prefix that the caller chooses.
    pub fn with_prefix(prefix: String, is_copilot: bool, offers: Offers) -> Self {
        Self {
            prefix,
            made_up: 0,
            speech: None,
            calls: HashMap::new(),
            unstarted: Vec::new(),
            ended_calls: HashSet::new(),
            copilot_remarks: CopilotRemarks::new(is_copilot),
            offers,
            plan: String::new(),
            commands: String::new(),
            mode: None,
            counts_on: is_copilot,
            used: Usage::default(),
            cost: None,
        }
    }

    /// Translates an update.
    pub fn translate(&mut self, raw: Box<RawValue>) -> Vec<AgentEvent> {
        let update: Value = serde_json::from_str(raw.get()).unwrap_or_default();
        let kind = update["sessionUpdate"].as_str().unwrap_or("unreadable");
        match self.known(kind, &update) {
            Some(events) => events,
            None => vec![AgentEvent::Unknown { kind: kind.to_owned(), raw }],
        }
    }

    /// Returns `None` for an unknown kind or shape.
    fn known(&mut self, kind: &str, update: &Value) -> Option<Vec<AgentEvent>> {
        match kind {
            "agent_message_chunk" => {
                let text = said(&update["content"])?;
                let own_id = update["messageId"].as_str();
                let remark = self.copilot_remarks.receive(&text);
                Some(self.message(remark, text, own_id))
            }
            "agent_thought_chunk" => {
                let text = said(&update["content"])?;
                let mut events = self.release();
                events.extend(self.speak(BlockKind::Reasoning, &text, update["messageId"].as_str()));
                Some(events)
            }
            // The session already knows the prompt.
            "user_message_chunk" => Some(Vec::new()),
            "tool_call" | "tool_call_update" => Some(self.tool(update["toolCallId"].as_str()?, update)),
            "plan" => Some(self.plan(update["entries"].as_array()?)),
            "available_commands_update" => Some(self.commands(update["availableCommands"].as_array()?)),
            "current_mode_update" => {
                let mode = self.offers.mode_name(update["currentModeId"].as_str()?);
                let is_new = self.mode.replace(mode.clone()).as_ref() != Some(&mode);
                Some(notice_if(is_new, NoticeKind::Mode, || format!("The mode is now {mode}.")))
            }
            "config_option_update" => {
                let before = self.offers.current("model").map(str::to_owned);
                self.offers.learn_options(&update["configOptions"]);
                let now = self.offers.current("model").map(str::to_owned);
                let is_new = before.is_some() && now.is_some() && before != now;
                Some(notice_if(is_new, NoticeKind::Model, || format!("The model is now {}.", now.unwrap_or_default())))
            }
            "session_info_update" => {
                let title = update["title"].as_str().filter(|title| !title.is_empty());
                Some(title.map(|title| AgentEvent::TitleChanged(title.to_owned())).into_iter().collect())
            }
            "usage_update" => {
                if update["cost"]["currency"] == "USD" {
                    self.cost = update["cost"]["amount"].as_f64().or(self.cost);
                }
                let (current_tokens, token_limit) = (update["used"].as_u64()?, update["size"].as_u64()?);
                Some(vec![AgentEvent::ContextUsed(ContextUsage { current_tokens, token_limit })])
            }
            _ => None,
        }
    }

    fn message(&mut self, remark: Remark, text: String, own_id: Option<&str>) -> Vec<AgentEvent> {
        match remark {
            Remark::Text => self.speak(BlockKind::Message, &text, own_id),
            // The answer was cut off and restarts from its beginning.
            Remark::Retry => {
                let mut events = self.release();
                events.extend(self.discard_speech());
                events.push(AgentEvent::Notice { kind: NoticeKind::Retrying, message: plain(&text, "Info: ") });
                events
            }
            Remark::Held => Vec::new(),
            Remark::HeldBefore(held) => {
                let mut events = self.speak(BlockKind::Message, &held, None);
                let remark = self.copilot_remarks.receive(&text);
                events.extend(self.message(remark, text, own_id));
                events
            }
        }
    }

    /// Emits the text that was held back, because something else follows.
    fn release(&mut self) -> Vec<AgentEvent> {
        match self.copilot_remarks.take() {
            Some(held) => self.speak(BlockKind::Message, &held, None),
            None => Vec::new(),
        }
    }

    fn speak(&mut self, kind: BlockKind, text: &str, own_id: Option<&str>) -> Vec<AgentEvent> {
        let mut events = self.start_calls();
        let goes_on = self
            .speech
            .as_ref()
            .is_some_and(|speech| speech.kind == kind && (own_id.is_none() || speech.own_id.as_deref() == own_id));
        if !goes_on {
            events.extend(self.end_speech());
            self.made_up += 1;
            // An agent may use one id for a thought and a message, and for text before and after a tool call.
            let id = format!("{}-{}", self.prefix, self.made_up);
            self.speech = Some(Speech { kind, id, own_id: own_id.map(str::to_owned), text: String::new() });
        }
        if let Some(speech) = &mut self.speech {
            speech.text.push_str(text);
            let key = BlockKey::new(kind, speech.id.clone());
            events.push(AgentEvent::BlockDelta { key, delta: text.to_owned() });
        }
        events
    }

    /// Ends the block in progress.
    fn end_speech(&mut self) -> Option<AgentEvent> {
        let Speech { kind, id, text: content, .. } = self.speech.take()?;
        Some(AgentEvent::BlockEnded(match kind {
            BlockKind::Reasoning => BlockEnd::Reasoning { id, content },
            _ => BlockEnd::Message { id, content },
        }))
    }

    /// Gives up the block in progress: its stream broke.
    fn discard_speech(&mut self) -> Option<AgentEvent> {
        let Speech { kind, id, .. } = self.speech.take()?;
        Some(AgentEvent::BlockDiscarded(BlockKey::new(kind, id)))
    }

    fn tool(&mut self, id: &str, update: &Value) -> Vec<AgentEvent> {
        if self.ended_calls.contains(id) {
            return Vec::new();
        }
        let mut events = self.release();
        events.extend(self.end_speech());
        if !self.calls.contains_key(id) {
            // Earlier calls must start first.
            events.extend(self.start_calls());
            self.calls.insert(id.to_owned(), ToolCall::new(id));
            self.unstarted.push(id.to_owned());
        }
        let Some(call) = self.calls.get_mut(id) else { return events };
        let is_first = update["sessionUpdate"] == "tool_call";
        call.learn(update);
        let stage = call.stage();
        if is_first && stage == Stage::Pending {
            // Some agents announce a call first and send its input with the next update.
            return events;
        }
        events.extend(self.start_calls());
        let Some(call) = self.calls.get_mut(id) else { return events };
        events.extend(call.output());
        if stage == Stage::Ended
            && let Some(call) = self.calls.remove(id)
        {
            self.ended_calls.insert(id.to_owned());
            events.extend(call.end());
        }
        events
    }

    /// Whether a call is known whose start has not been reported.
    pub fn holds_calls(&self) -> bool {
        !self.unstarted.is_empty()
    }

    /// Reports the start of known calls.
    pub fn start_calls(&mut self) -> Vec<AgentEvent> {
        let waiting = std::mem::take(&mut self.unstarted);
        waiting.iter().filter_map(|id| self.calls.get_mut(id)?.start()).collect()
    }

    fn plan(&mut self, entries: &[Value]) -> Vec<AgentEvent> {
        let line = |entry: &Value| {
            let mark = match entry["status"].as_str() {
                Some("completed") => "[x]",
                Some("in_progress") => "[>]",
                _ => "[ ]",
            };
            format!("- {mark} {}", entry["content"].as_str().unwrap_or_default())
        };
        let plan = entries.iter().map(line).collect::<Vec<_>>().join("\n");
        let is_new = !plan.is_empty() && plan != self.plan;
        self.plan.clone_from(&plan);
        notice_if(is_new, NoticeKind::Plan, || plan)
    }

    fn commands(&mut self, commands: &[Value]) -> Vec<AgentEvent> {
        let name = |command: &Value| command["name"].as_str().map(|name| format!("/{}", name.trim_start_matches('/')));
        let names = commands.iter().filter_map(name).collect::<Vec<_>>().join(", ");
        let is_new = !names.is_empty() && names != self.commands;
        self.commands.clone_from(&names);
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let listed = commands.iter().filter_map(|command| {
            let (description, hint) = (text(&command["description"]), text(&command["input"]["hint"]));
            Some(SlashCommand { name: text(&command["name"])?, description, hint })
        });
        let mut events = vec![AgentEvent::CommandsListed(listed.collect())];
        events.extend(notice_if(is_new, NoticeKind::Commands, || format!("Available commands: {names}.")));
        events
    }

    /// Ends a turn: closes open blocks, and reports failures and usage.
    pub fn end_turn(&mut self, end: &TurnEnd<'_>) -> Vec<AgentEvent> {
        let used = self.newly_used(end.usage);
        let said_nothing_new = used.as_ref().is_none_or(|used| used.output_tokens.unwrap_or_default() == 0);
        let mut events = Vec::new();
        if let Some(held) = self.copilot_remarks.take() {
            if end.stop_reason == "end_turn" && CopilotRemarks::is_error(&held, said_nothing_new) {
                // What came before the error is the text of the stream that broke.
                events.extend(self.discard_speech());
                events.push(AgentEvent::TurnFailed { failure: classify("Copilot", &plain(&held, "Error: "), None) });
            } else {
                events.extend(self.speak(BlockKind::Message, &held, None));
            }
        }
        events.extend(self.start_calls());
        events.extend(self.end_speech());
        events.extend(used.map(AgentEvent::UsageReported));
        let problem = match end.stop_reason {
            "refusal" => Some((ErrorClass::ContentFilter, "The agent refused to continue.")),
            "max_tokens" => {
                Some((ErrorClass::ContextTooLong, "The answer was cut off: it reached the model's output limit."))
            }
            "max_turn_requests" => {
                Some((ErrorClass::Quota, "The agent stopped: it reached its limit of model requests per turn."))
            }
            _ => None,
        };
        events.extend(problem.map(|(class, problem)| {
            let failure = Failure::with_message(class, problem);
            AgentEvent::TurnFailed { failure }
        }));
        self.forget_turn();
        events
    }

    /// Abandons a turn that will not end by itself; the session closes what is open.
    pub fn forget_turn(&mut self) {
        self.speech = None;
        self.calls.clear();
        self.unstarted.clear();
        self.ended_calls.clear();
        self.copilot_remarks.take();
    }

    /// The usage since the last call. All agents count the cost over the session.
    fn newly_used(&mut self, usage: &Value) -> Option<Usage> {
        if !usage.is_object() && self.cost == self.used.cost_usd {
            return None;
        }
        let figure = |name: &str| usage[name].as_u64();
        let total = Usage {
            cost_usd: self.cost,
            input_tokens: figure("inputTokens"),
            output_tokens: figure("outputTokens"),
            cache_read: figure("cachedReadTokens"),
            cache_creation: figure("cachedWriteTokens"),
            ..Usage::default()
        };
        let before = std::mem::replace(&mut self.used, total.clone());
        let more = |now: Option<u64>, before: Option<u64>| {
            let before = before.filter(|_| self.counts_on).unwrap_or_default();
            now.map(|now| now.saturating_sub(before))
        };
        Some(Usage {
            cost_usd: total.cost_usd.map(|cost| (cost - before.cost_usd.unwrap_or_default()).max(0.0)),
            input_tokens: more(total.input_tokens, before.input_tokens),
            output_tokens: more(total.output_tokens, before.output_tokens),
            cache_read: more(total.cache_read, before.cache_read),
            cache_creation: more(total.cache_creation, before.cache_creation),
            ..Usage::default()
        })
    }
}

/// The text of a content block; other content is named.
pub(super) fn said(content: &Value) -> Option<String> {
    match content["type"].as_str()? {
        "text" => content["text"].as_str().map(str::to_owned),
        "resource_link" => {
            let (name, uri) = (content["name"].as_str().unwrap_or_default(), content["uri"].as_str()?);
            Some(format!("[{name}]({uri})"))
        }
        "resource" => content["resource"]["text"].as_str().or(content["resource"]["uri"].as_str()).map(str::to_owned),
        other => Some(format!("[{other}]")),
    }
}

fn plain(text: &str, prefix: &str) -> String {
    text.strip_prefix(prefix).unwrap_or(text).to_owned()
}

fn notice_if(is_new: bool, kind: NoticeKind, message: impl FnOnce() -> String) -> Vec<AgentEvent> {
    if is_new { vec![AgentEvent::Notice { kind, message: message() }] } else { Vec::new() }
}

#[cfg(test)]
mod tests;
