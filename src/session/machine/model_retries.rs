//! How often an agent asks its model again. The first time is worth a notice at once, because it may take long; of the
//! others only how many there were.

use crate::agent::AgentEvent;

#[derive(Clone, Debug, Default)]
pub(in crate::session) struct ModelRetries {
    message: String,
    count: u32,
}

impl ModelRetries {
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The agent asks again. Returns the notice to write.
    pub fn note(&mut self, message: String) -> Option<String> {
        self.count += 1;
        self.message.clone_from(&message);
        (self.count == 1).then_some(message)
    }

    /// The agent got an answer from its model, or gave up. Returns the notice to write.
    pub fn finish(&mut self) -> Option<String> {
        let Self { message, count } = std::mem::take(self);
        let message = message.trim_end().trim_end_matches("Retrying...").trim_end_matches("Retrying …").trim_end();
        (count > 1).then(|| format!("{message} Retried {count} times."))
    }

    /// Whether the agent goes on after it has asked its model again, or gives up.
    pub fn are_over_with(event: &AgentEvent) -> bool {
        matches!(
            event,
            AgentEvent::TurnStarted { .. }
                | AgentEvent::BlockStarted(_)
                | AgentEvent::BlockEnded(_)
                | AgentEvent::TurnFailed { .. }
                | AgentEvent::Idle
                | AgentEvent::Gone { .. }
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_said_at_once_and_the_others_are_counted() {
        let mut retries = ModelRetries::default();
        assert_eq!(retries.finish(), None);
        assert_eq!(retries.note("Failed. Retrying...".to_owned()).as_deref(), Some("Failed. Retrying..."));
        assert_eq!(retries.finish(), None, "it was said");
        for is_first in [true, false, false] {
            assert_eq!(retries.note("Failed. Retrying...".to_owned()).is_some(), is_first);
        }
        assert_eq!(retries.finish().as_deref(), Some("Failed. Retried 3 times."));
        assert!(retries.is_empty());
    }
}
