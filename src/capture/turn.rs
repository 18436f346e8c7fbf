//! One request that is being answered.

use std::sync::Arc;

use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

use super::captures::Shared;
use super::compliance::Demands;
use super::fingerprint::{self, Fingerprint};
use super::{CaptureError, Message, Mode, Origin, Piece, Recording, Request, ToolCall};
use crate::model::Usage;

/// One request that is being answered.
pub(super) struct Turn {
    pub request: Arc<Request>,
    /// The agent's name of the model.
    pub model: String,
    pub token: String,
    pub mode: Mode,
    pub input: Input,
    pub demands: Demands,
    pub recording: Recording,
    pub deadline: Instant,
    pub begun: std::time::Instant,
    /// One of the places for answers at a time.
    pub place: Option<OwnedSemaphorePermit>,
}

/// What the agent's session is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Input {
    /// The whole conversation, because the session is new.
    Conversation,
    /// What follows the model's last message.
    Tail,
}

impl Turn {
    /// There will be no answer.
    pub fn fail(&mut self, shared: &Shared, outcome: &'static str, error: CaptureError, usage: Option<Usage>) {
        let message = error.message.clone();
        self.recording.push(Piece::Failed(error));
        self.place = None;
        shared.note(self, outcome, Some(message), usage);
    }

    /// The answer is complete: it is logged, and its place is free.
    pub fn end(&mut self, shared: &Shared, outcome: &'static str, usage: Option<Usage>) {
        self.place = None;
        shared.note(self, outcome, None, usage);
    }

    /// No session knows the conversation: a new one is told all of it.
    pub fn start_afresh(&mut self) {
        self.recording.set_origin(Origin::Fresh);
        self.input = Input::Conversation;
    }

    /// The messages after the model's last one.
    pub fn tail(&self) -> &[Message] {
        after_last_answer(&self.request.messages)
    }

    /// The conversation with the answer at its end.
    pub fn continued(&self, text: &str, calls: &[ToolCall]) -> Fingerprint {
        let mut messages = self.request.messages.clone();
        messages.push(Message::Assistant { text: text.to_owned(), calls: calls.to_vec() });
        fingerprint::conversation(&self.request, &self.model, &messages)
    }
}

/// The messages after the model's last one.
pub(super) fn after_last_answer(messages: &[Message]) -> &[Message] {
    let last = messages.iter().rposition(|message| matches!(message, Message::Assistant { .. }));
    &messages[last.map_or(0, |last| last + 1)..]
}
