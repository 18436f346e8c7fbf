//! What an agent said while the store was slow: adjacent deltas of one block are merged before they are numbered.

use crate::agent::AgentEvent;

/// Text held back beyond which the agent waits.
const MOST_BYTES: usize = 1024 * 1024;
/// Events held back beyond which the agent waits.
const MOST_EVENTS: usize = 1_024;

#[derive(Debug, Default)]
pub(super) struct Held {
    events: Vec<AgentEvent>,
    bytes: usize,
}

impl Held {
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
        let mut held = Held::default();
        held.extend([delta("a", "1"), delta("a", "2"), delta("b", "3"), delta("a", "4"), AgentEvent::Idle].into_iter());
        let texts: Vec<String> = held
            .take()
            .into_iter()
            .map(|event| match event {
                AgentEvent::BlockDelta { key, delta } => format!("{}{delta}", key.id),
                _ => "idle".to_owned(),
            })
            .collect();
        assert_eq!(texts, ["a12", "b3", "a4", "idle"]);
        assert!(held.is_empty());
    }

    #[test]
    fn a_source_that_goes_on_has_to_wait_in_the_end() {
        let mut held = Held::default();
        held.extend(std::iter::once(delta("a", &"x".repeat(MOST_BYTES))));
        assert!(!held.has_room());
    }
}
