//! The history that an agent replays while it resumes a session.

use serde_json::Value;
use serde_json::value::RawValue;

use super::offers::Offers;
use super::translate::{Translator, TurnEnd, said};
use crate::agent::{AgentEvent, Past, Restored};

/// Kinds of updates that belong to the conversation.
const CONVERSATION: [&str; 6] =
    ["user_message_chunk", "agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan"];

/// Whether an update belongs to the conversation rather than the session's settings.
pub(super) fn is_conversation(update: &RawValue) -> bool {
    kind(&read(update)).is_some_and(|kind| CONVERSATION.contains(&kind))
}

fn read(update: &RawValue) -> Value {
    serde_json::from_str(update.get()).unwrap_or_default()
}

fn kind(update: &Value) -> Option<&str> {
    update["sessionUpdate"].as_str()
}

/// Tracks a replay without storing it.
#[derive(Debug, Default)]
pub(super) struct Replay {
    is_asked: bool,
    open_calls: Vec<String>,
}

impl Replay {
    pub fn receive(&mut self, update: &RawValue) {
        let update = read(update);
        let call = || update["toolCallId"].as_str().unwrap_or_default().to_owned();
        match kind(&update) {
            Some("user_message_chunk") => {
                self.is_asked = true;
                self.open_calls.clear();
            }
            Some("agent_message_chunk") => self.is_asked = false,
            Some("tool_call") if !is_ended(&update) => self.open_calls.push(call()),
            Some("tool_call_update") if is_ended(&update) => self.open_calls.retain(|open| *open != call()),
            _ => {}
        }
    }

    /// Whether the last recorded turn is complete: an answer and no unfinished tool call.
    pub fn restored(&self) -> Restored {
        if self.is_asked || !self.open_calls.is_empty() { Restored::Incomplete } else { Restored::Whole }
    }
}

fn is_ended(update: &Value) -> bool {
    matches!(update["status"].as_str(), Some("completed" | "failed"))
}

/// Converts a replay into history, for a session that is imported.
pub(super) struct Historian {
    translator: Translator,
    past: Vec<Past>,
    prompt: Option<String>,
    is_in_turn: bool,
}

impl Historian {
    pub fn new(is_copilot: bool) -> Self {
        let translator = Translator::new(is_copilot, Offers::default());
        Self { translator, past: Vec::new(), prompt: None, is_in_turn: false }
    }

    pub fn receive(&mut self, update: Box<RawValue>) {
        if !is_conversation(&update) {
            return;
        }
        let value = read(&update);
        if kind(&value) == Some("user_message_chunk") {
            self.prompt.get_or_insert_default().push_str(&said(&value["content"]).unwrap_or_default());
            return;
        }
        self.begin();
        // Text before the first prompt belongs to no turn.
        if self.is_in_turn {
            self.past.extend(self.translator.translate(update).into_iter().map(Past::Event));
        }
    }

    /// A prompt is complete when something else follows.
    fn begin(&mut self) {
        if let Some(prompt) = self.prompt.take() {
            self.end_turn();
            self.past.push(Past::Prompt(prompt));
            self.is_in_turn = true;
        }
    }

    fn end_turn(&mut self) {
        if std::mem::take(&mut self.is_in_turn) {
            let end = TurnEnd { stop_reason: "end_turn", usage: &Value::Null };
            self.past.extend(self.translator.end_turn(&end).into_iter().map(Past::Event));
            self.past.push(Past::Event(AgentEvent::Idle));
        }
    }

    pub fn finish(mut self) -> Vec<Past> {
        self.begin();
        self.end_turn();
        self.past
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::BlockEnd;

    /// The replay of a session whose last turn was killed.
    fn recorded() -> Vec<Box<RawValue>> {
        let transcript = include_str!("../../../tests/transcripts/acp/copilot-load.ndjson");
        let lines = transcript.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        let until_answer = lines.take_while(|line| line["msg"]["id"] != 4 || line["dir"] == "->");
        until_answer
            .filter(|line| line["msg"]["method"] == "session/update")
            .map(|line| RawValue::from_string(line["msg"]["params"]["update"].to_string()).expect("JSON"))
            .collect()
    }

    #[test]
    fn a_turn_that_was_killed_has_no_clean_end_and_the_ones_before_do() {
        let (mut replay, mut ends) = (Replay::default(), Vec::new());
        for update in recorded().into_iter().filter(|update| is_conversation(update)) {
            replay.receive(&update);
            ends.push(replay.restored());
        }
        assert_eq!(ends.last(), Some(&Restored::Incomplete));
        assert_eq!(ends[1], Restored::Whole, "the first answer");
        assert_eq!(Replay::default().restored(), Restored::Whole, "nothing was cut");
    }

    #[test]
    fn the_past_is_prompts_with_what_came_of_them() {
        let mut historian = Historian::new(true);
        for update in recorded() {
            historian.receive(update);
        }
        let past = historian.finish();
        let prompts: Vec<&str> = past
            .iter()
            .filter_map(|piece| if let Past::Prompt(text) = piece { Some(text.as_str()) } else { None })
            .collect();
        assert_eq!(prompts, ["@@echo before-kill", "@@bash echo tool-before-kill", "@@slow 100"]);
        let idles = past.iter().filter(|piece| matches!(piece, Past::Event(AgentEvent::Idle))).count();
        assert_eq!(idles, 3, "every turn ends");
        let tools =
            past.iter().filter(|piece| matches!(piece, Past::Event(AgentEvent::BlockEnded(BlockEnd::Tool { .. }))));
        assert_eq!(tools.count(), 1);
    }
}
