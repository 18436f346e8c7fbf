//! Callers that wait for the end of a prompt's turn.

use std::collections::HashMap;

use tokio::sync::oneshot;

use crate::model::PromptId;

#[derive(Default)]
pub(super) struct EndedPrompts {
    awaited: HashMap<PromptId, Vec<oneshot::Sender<()>>>,
    /// Turns that are over, until their end has been handed to the store: callers read the outcome from there.
    over: Vec<PromptId>,
}

impl EndedPrompts {
    pub fn wait_for(&mut self, prompt: PromptId) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        self.awaited.entry(prompt).or_default().push(sender);
        receiver
    }

    pub fn add(&mut self, prompt: PromptId) {
        self.over.push(prompt);
    }

    /// Whether a turn has ended since the last announcement.
    pub fn is_turn_over(&self) -> bool {
        !self.over.is_empty()
    }

    pub fn announce(&mut self) {
        for prompt in self.over.drain(..) {
            for waiting in self.awaited.remove(&prompt).into_iter().flatten() {
                // The caller may have hung up.
                let _ = waiting.send(());
            }
        }
    }
}
