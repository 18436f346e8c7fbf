//! Turns a model's blocks into the pieces of an answer.

use std::collections::HashMap;

use super::{Piece, Recording, StopReason};

/// Writes one answer.
pub(super) struct Recorder {
    recording: Recording,
    /// Text is checked, or may still be discarded, before the caller sees it.
    withholds: bool,
    /// The text that was released or is withheld.
    said: String,
    /// How many bytes of `said` each message has.
    messages: HashMap<String, usize>,
    reasoned: HashMap<String, usize>,
    released: usize,
    stop: StopReason,
}

impl Recorder {
    pub fn new(recording: &Recording, withholds: bool) -> Self {
        Self {
            recording: recording.clone(),
            withholds,
            said: String::new(),
            messages: HashMap::new(),
            reasoned: HashMap::new(),
            released: 0,
            stop: StopReason::Stop,
        }
    }

    /// The text so far.
    pub fn said(&self) -> &str {
        &self.said
    }

    pub fn text(&mut self, message: &str, delta: String) {
        if delta.is_empty() {
            return;
        }
        if !self.messages.contains_key(message) && !self.said.is_empty() {
            self.add("\n\n".to_owned());
        }
        *self.messages.entry(message.to_owned()).or_default() += delta.len();
        self.add(delta);
    }

    fn add(&mut self, text: String) {
        self.said.push_str(&text);
        if !self.withholds {
            self.released = self.said.len();
            self.recording.push(Piece::Text(text));
        }
    }

    /// The complete text of a message: what was missing in its deltas is added.
    pub fn whole_text(&mut self, message: &str, content: &str) {
        let have = self.messages.get(message).copied().unwrap_or(0);
        if let Some(rest) = content.get(have..)
            && self.said.ends_with(&content[..have])
        {
            self.text(message, rest.to_owned());
        }
    }

    pub fn reasoning(&mut self, block: &str, delta: String) {
        *self.reasoned.entry(block.to_owned()).or_default() += delta.len();
        if !delta.is_empty() {
            self.recording.push(Piece::Reasoning(delta));
        }
    }

    pub fn whole_reasoning(&mut self, block: &str, content: &str) {
        let have = self.reasoned.get(block).copied().unwrap_or(0);
        if let Some(rest) = content.get(have..) {
            self.reasoning(block, rest.to_owned());
        }
    }

    /// The model starts a message again. `false` if the caller has already seen some of it.
    pub fn discard(&mut self, message: &str) -> bool {
        let Some(length) = self.messages.remove(message) else { return true };
        let start = self.said.len().saturating_sub(length);
        if self.released > start {
            return length == 0;
        }
        self.said.truncate(start);
        true
    }

    /// The answer was not good enough: what is withheld is dropped.
    pub fn start_again(&mut self) {
        self.said.truncate(self.released);
        self.messages.clear();
    }

    /// Puts the checked text in the place of what is withheld.
    pub fn replace_withheld(&mut self, text: &str) {
        if self.withholds {
            self.said.truncate(self.released);
            self.said.push_str(text);
        }
    }

    /// The caller gets what is withheld.
    pub fn release(&mut self) {
        if self.released < self.said.len() {
            self.recording.push(Piece::Text(self.said[self.released..].to_owned()));
            self.released = self.said.len();
        }
    }

    /// A call of the model ended.
    pub fn stopped(&mut self, reason: &str) {
        self.stop = match reason {
            "length" => StopReason::Length,
            "content_filter" => StopReason::ContentFilter,
            _ => StopReason::Stop,
        };
    }

    /// Why the model stopped.
    pub fn stop(&self) -> StopReason {
        self.stop
    }
}
