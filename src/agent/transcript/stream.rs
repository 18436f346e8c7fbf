//! What a stream of JSON lines comes to: the part that is the same for every agent.

use std::collections::{HashMap, HashSet};

use crate::agent::failure::Failure;
use crate::agent::{AgentEvent, BlockEnd, BlockStart};
use crate::model::Usage;

/// Calls and messages that are followed at once. Nobody has that many; a stream of rubbish may.
const FOLLOWED: usize = 4_096;
/// The longest text of a turn that is put together. Longer ones are in the log, in pieces.
const LONGEST_TEXT: usize = 32 * 1024 * 1024;

/// Reads one agent's stream: lines in, our events out. One reader for one turn.
pub trait StreamReader: Send {
    /// Reads one line; `false` when it is no event of the agent's, which is no reason to stop.
    fn read(&mut self, line: &str, events: &mut Vec<AgentEvent>) -> bool;

    /// Whether the agent has said how its turn ended; nothing that follows matters.
    fn is_over(&self) -> bool;

    /// The stream has ended. What is open and will never end is closed; the rest is what the turn came to. The end of the
    /// turn itself is told by whoever reads.
    fn finish(&mut self, events: &mut Vec<AgentEvent>) -> StreamEnd;
}

/// How the agent says that its turn ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Terminal {
    /// Not at all.
    #[default]
    Missing,
    /// Well.
    Good,
    /// With a failure.
    Bad,
}

/// What a turn came to, as far as its stream says it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StreamEnd {
    /// What the agent said after its last real tool call.
    pub text: String,
    /// What the turn cost. Figures that an agent counts over a session are as it said them.
    pub usage: Usage,
    /// The agent's own id of the session.
    pub session_id: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// The terminal event.
    pub terminal: Terminal,
    /// What the agent said went wrong.
    pub failure: Option<Failure>,
    /// The agent says that somebody ended the turn.
    pub aborted: bool,
    /// Tools that were called and never came to an end, by name.
    pub open_tools: Vec<String>,
}

/// Follows the events of a turn as a session does: the same final text, the same open calls.
#[derive(Debug, Default)]
pub(in crate::agent) struct Tally {
    pub text: String,
    /// Messages of sub-agents, which are no part of the answer.
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
            // The call was there, although nobody announced it.
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
