//! Callers that wait for the end of a prompt's turn.

use std::collections::HashMap;

use tokio::sync::oneshot;

use crate::model::{PromptId, PromptOutcome};

#[derive(Default)]
pub(super) struct Outcomes {
    awaited: HashMap<PromptId, Vec<oneshot::Sender<PromptOutcome>>>,
    /// Turns that are over, until their end has been handed to the store: callers read the outcome from there.
    over: Vec<PromptOutcome>,
}

impl Outcomes {
    pub fn wait_for(&mut self, prompt: PromptId) -> oneshot::Receiver<PromptOutcome> {
        let (sender, receiver) = oneshot::channel();
        self.awaited.entry(prompt).or_default().push(sender);
        receiver
    }

    pub fn add(&mut self, outcome: PromptOutcome) {
        self.over.push(outcome);
    }

    /// Whether a turn has ended since the last announcement.
    pub fn is_turn_over(&self) -> bool {
        !self.over.is_empty()
    }

    pub fn announce(&mut self) {
        for outcome in self.over.drain(..) {
            for waiting in self.awaited.remove(&outcome.prompt_id).into_iter().flatten() {
                // The caller may have hung up.
                let _ = waiting.send(outcome.clone());
            }
        }
    }
}
