//! Agent events that arrived while the store was slow: adjacent deltas of one block are merged before they are
//! numbered.

use crate::agent::AgentEvent;

/// The agent waits beyond this much text.
const MOST_BYTES: usize = 1024 * 1024;
/// The agent waits beyond this many events.
const MOST_EVENTS: usize = 1_024;

#[derive(Debug, Default)]
pub(super) struct Backlog {
    events: Vec<AgentEvent>,
    bytes: usize,
}

impl Backlog {
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    pub fn has_room(&self) -> bool {
        self.bytes < MOST_BYTES && self.events.len() < MOST_EVENTS
    }

    pub fn take(&mut self) -> Vec<AgentEvent> {
        self.bytes = 0;
        std::mem::take(&mut self.events)
    }

    pub fn extend(&mut self, events: impl Iterator<Item = AgentEvent>) {
        for event in events {
            if let AgentEvent::BlockDelta { key, delta } = &event {
                self.bytes += delta.len();
                if let Some(AgentEvent::BlockDelta { key: last, delta: text }) = self.events.last_mut()
                    && last == key
                {
                    text.push_str(delta);
                    continue;
                }
            }
            self.events.push(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{BlockKey, BlockKind};

    fn delta(id: &str, text: &str) -> AgentEvent {
        AgentEvent::BlockDelta { key: BlockKey::new(BlockKind::Message, id), delta: text.to_owned() }
    }

    #[test]
    fn only_adjacent_deltas_of_one_block_are_merged() {
        let mut backlog = Backlog::default();
        backlog
            .extend([delta("a", "1"), delta("a", "2"), delta("b", "3"), delta("a", "4"), AgentEvent::Idle].into_iter());
        let texts: Vec<String> = backlog
            .take()
            .into_iter()
            .map(|event| match event {
                AgentEvent::BlockDelta { key, delta } => format!("{}{delta}", key.id),
                _ => "idle".to_owned(),
            })
            .collect();
        assert_eq!(texts, ["a12", "b3", "a4", "idle"]);
        assert!(backlog.is_empty());
    }

    #[test]
    fn a_source_that_goes_on_has_to_wait_in_the_end() {
        let mut backlog = Backlog::default();
        backlog.extend(std::iter::once(delta("a", &"x".repeat(MOST_BYTES))));
        assert!(!backlog.has_room());
    }
}
