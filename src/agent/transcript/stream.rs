//! The result of a stream of JSON lines: the part that all agents share.

use std::collections::{HashMap, HashSet};

use crate::agent::failure::Failure;
use crate::agent::{AgentEvent, BlockEnd, BlockStart};
use crate::model::Usage;

/// The most calls and messages tracked at once. Real streams have far fewer; this bounds memory for garbage input.
const FOLLOWED: usize = 4_096;
/// The longest answer that is assembled. The log has longer ones, in pieces.
const LONGEST_TEXT: usize = 32 * 1024 * 1024;

/// Translates the lines of an agent's stream into events. Each turn has its own reader.
pub trait StreamReader: Send {
    /// Reads one line; returns `false` if it is not an event, which does not stop the reader.
    fn read(&mut self, line: &str, events: &mut Vec<AgentEvent>) -> bool;

    /// Whether the agent has reported the end of its turn, after which everything is ignored.
    fn is_over(&self) -> bool;

    /// Ends the stream: closes what is still open and returns the result of the turn. The caller reports the end of the
    /// turn itself.
    fn finish(&mut self, events: &mut Vec<AgentEvent>) -> StreamEnd;
}

/// How the agent reported the end of its turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Terminal {
    /// It did not.
    #[default]
    Missing,
    /// As a success.
    Good,
    /// As a failure.
    Bad,
}

/// The result of a turn, as far as its stream reports it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StreamEnd {
    /// The text after the last real tool call.
    pub text: String,
    /// The usage of the turn. Figures that an agent counts over a session are as reported.
    pub usage: Usage,
    /// The agent's id of the session.
    pub session_id: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// The terminal event.
    pub terminal: Terminal,
    /// The failure that the agent reported.
    pub failure: Option<Failure>,
    /// The agent reported that the turn was aborted.
    pub aborted: bool,
    /// The names of tools whose calls never finished.
    pub open_tools: Vec<String>,
}

/// Tracks the events of a turn as a session does, with the same final text and the same open calls.
#[derive(Debug, Default)]
pub(in crate::agent) struct Tally {
    pub text: String,
    /// Messages of sub-agents, which are not part of the answer.
    asides: HashSet<String>,
    open_tools: HashMap<String, String>,
}

impl Tally {
    pub fn note(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::BlockStarted(BlockStart::Message { id, parent: Some(_) }) if self.asides.len() < FOLLOWED => {
                self.asides.insert(id.clone());
            }
            AgentEvent::BlockStarted(BlockStart::Tool { id, name, .. }) => {
                self.text.clear();
                if self.open_tools.len() < FOLLOWED {
                    self.open_tools.insert(id.clone(), name.clone());
                }
            }
            // The call took place although its start was never reported.
            AgentEvent::BlockEnded(BlockEnd::Tool { id, .. }) if self.open_tools.remove(id).is_none() => {
                self.text.clear();
            }
            AgentEvent::BlockEnded(BlockEnd::Message { id, content }) if !self.asides.contains(id) => {
                if !self.text.is_empty() && !content.is_empty() {
                    self.text.push_str("\n\n");
                }
                let room = LONGEST_TEXT.saturating_sub(self.text.len());
                self.text.push_str(&content[..content.floor_char_boundary(room)]);
            }
            _ => {}
        }
    }

    pub fn open_tools(&self) -> Vec<String> {
        let mut names: Vec<String> = self.open_tools.values().cloned().collect();
        names.sort();
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(id: &str, content: &str) -> AgentEvent {
        AgentEvent::BlockEnded(BlockEnd::Message { id: id.to_owned(), content: content.to_owned() })
    }

    fn tool(id: &str) -> AgentEvent {
        let (id, name) = (id.to_owned(), "bash".to_owned());
        AgentEvent::BlockStarted(BlockStart::Tool { id, parent: None, name, arguments: String::new() })
    }

    fn ended(id: &str) -> AgentEvent {
        AgentEvent::BlockEnded(BlockEnd::Tool { id: id.to_owned(), result: None, error: None })
    }

    #[test]
    fn the_final_text_is_what_comes_after_the_last_tool() {
        let mut tally = Tally::default();
        for event in [said("1", "first"), tool("t"), said("2", "a"), ended("t"), said("3", ""), said("4", "b")] {
            tally.note(&event);
        }
        assert_eq!(tally.text, "a\n\nb");
        assert!(tally.open_tools().is_empty());
        tally.note(&ended("never announced"));
        assert_eq!(tally.text, "");
        tally.note(&tool("open"));
        assert_eq!(tally.open_tools(), ["bash"]);
    }

    #[test]
    fn what_sub_agents_say_is_no_part_of_it() {
        let mut tally = Tally::default();
        let parent = Some("call".to_owned());
        tally.note(&AgentEvent::BlockStarted(BlockStart::Message { id: "aside".to_owned(), parent }));
        tally.note(&said("aside", "hidden"));
        tally.note(&said("mine", "shown"));
        assert_eq!(tally.text, "shown");
    }

    #[test]
    fn rubbish_cannot_make_it_grow_without_end() {
        let mut tally = Tally::default();
        for number in 0..3 * FOLLOWED {
            tally.note(&tool(&number.to_string()));
            let (id, parent) = (number.to_string(), Some(String::new()));
            tally.note(&AgentEvent::BlockStarted(BlockStart::Message { id, parent }));
        }
        assert_eq!((tally.open_tools.len(), tally.asides.len()), (FOLLOWED, FOLLOWED));
    }
}
