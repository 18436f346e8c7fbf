//! Recordings of agents whose process serves many turns, so that no exit status tells how a turn ended.

use serde_json::Value;

use super::stream::{StreamEnd, StreamReader, Tally, Terminal};
use crate::agent::AgentEvent;
use crate::agent::failure::Failure;
use crate::model::{ErrorClass, Usage};

/// The content of one recorded line.
#[derive(Debug, Default)]
pub(in crate::agent) struct Recorded {
    /// The events it translates to.
    pub events: Vec<AgentEvent>,
    pub session_id: Option<String>,
    pub model: Option<String>,
    /// The turn was aborted.
    pub aborted: bool,
}

/// Reads one line of a recording; `None` if the line is not part of one.
pub(in crate::agent) type ReadLine = Box<dyn FnMut(Value) -> Option<Recorded> + Send>;

/// Reads a recording of several turns. Its result is the result of the last turn.
pub struct EventReader {
    read_line: ReadLine,
    tally: Tally,
    /// The last turn is over.
    is_idle: bool,
    end: StreamEnd,
}

impl EventReader {
    pub(in crate::agent) fn new(read_line: ReadLine) -> Self {
        Self { read_line, tally: Tally::default(), is_idle: false, end: StreamEnd::default() }
    }

    fn note(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::Idle => {
                self.is_idle = true;
                self.end.terminal = Terminal::Good;
            }
            AgentEvent::TurnFailed { failure } => self.end.failure = Some(failure.clone()),
            AgentEvent::UsageReported(usage) => self.end.usage.add(usage),
            AgentEvent::TurnStarted { .. } if std::mem::take(&mut self.is_idle) => self.begin(),
            AgentEvent::Gone { reason } => {
                self.end.failure = Some(Failure::with_message(ErrorClass::ProcessGone, reason));
            }
            _ => {}
        }
        self.tally.note(event);
    }

    /// Starts another turn and drops the results of the earlier ones.
    fn begin(&mut self) {
        self.tally = Tally::default();
        let StreamEnd { session_id, model, .. } = std::mem::take(&mut self.end);
        self.end = StreamEnd { session_id, model, usage: Usage::default(), ..StreamEnd::default() };
    }
}

impl StreamReader for EventReader {
    fn read(&mut self, line: &str, events: &mut Vec<AgentEvent>) -> bool {
        let Ok(value) = serde_json::from_str::<Value>(line) else { return false };
        let Some(recorded) = (self.read_line)(value) else { return false };
        self.end.session_id = recorded.session_id.or(self.end.session_id.take());
        self.end.model = recorded.model.or(self.end.model.take());
        self.end.aborted |= recorded.aborted;
        for event in recorded.events {
            self.note(&event);
            events.push(event);
        }
        true
    }

    fn is_over(&self) -> bool {
        false
    }

    fn finish(&mut self, _events: &mut Vec<AgentEvent>) -> StreamEnd {
        let mut end = std::mem::take(&mut self.end);
        end.text = std::mem::take(&mut self.tally.text);
        end.open_tools = self.tally.open_tools();
        end
    }
}

/// The message in a recorded line, which is either bare or wrapped with its time and direction; `None` for messages
/// that we sent.
pub(in crate::agent) fn message(mut line: Value) -> Option<Value> {
    if line["dir"] == "->" {
        return None;
    }
    match line.get_mut("msg").map(Value::take) {
        Some(message) => Some(message),
        None => Some(line),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::agent::BlockEnd;

    fn reader() -> EventReader {
        EventReader::new(Box::new(|line| {
            let said = || BlockEnd::Message {
                id: "m".to_owned(),
                content: line["text"].as_str().unwrap_or_default().to_owned(),
            };
            let event = match line["what"].as_str()? {
                "begin" => AgentEvent::TurnStarted { turn_id: "".into() },
                "say" => AgentEvent::BlockEnded(said()),
                "fail" => AgentEvent::TurnFailed { failure: Failure::with_message(ErrorClass::Quota, "no") },
                _ => AgentEvent::Idle,
            };
            Some(Recorded { events: vec![event], aborted: line["cut"] == true, ..Recorded::default() })
        }))
    }

    #[test]
    fn a_recording_comes_to_what_its_last_turn_came_to() {
        let (mut reader, mut events) = (reader(), Vec::new());
        let lines = ["begin", "fail", "idle", "begin", "say", "begin", "say", "idle"];
        for (number, what) in lines.iter().enumerate() {
            assert!(reader.read(&json!({ "what": what, "text": number.to_string() }).to_string(), &mut events));
        }
        assert!(!reader.read("rubbish", &mut events));
        let end = reader.finish(&mut events);
        assert_eq!((end.text.as_str(), end.terminal, end.failure), ("4\n\n6", Terminal::Good, None));
    }

    #[test]
    fn messages_are_found_bare_and_wrapped_and_ours_are_left_out() {
        assert_eq!(message(json!({ "a": 1 })), Some(json!({ "a": 1 })));
        assert_eq!(message(json!({ "dir": "<-", "msg": { "a": 1 } })), Some(json!({ "a": 1 })));
        assert_eq!(message(json!({ "dir": "->", "msg": { "a": 1 } })), None);
    }
}
