//! Copilot's own remarks within the text of its model.
//!
//! Over ACP, Copilot reports a model error as a message chunk that starts with `Error: `, and the turn ends as if it
//! had succeeded. It announces a retry with a chunk that starts with `Info: `. A model may write such text too, so a
//! chunk counts as a remark only if the agent is Copilot and the chunk is a complete sentence by itself. An error must
//! also be the last chunk of a turn in which the model wrote nothing new, or be a known sentence.

/// The known starts of Copilot's own error messages.
const ERRORS: [&str; 3] = [
    "Error: Failed to get response from the AI model",
    "Error: Authentication failed with provider",
    "Error: Not authenticated",
];

/// The meaning of a message chunk.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Remark {
    /// Text of the model.
    Text,
    /// The model's answer was cut off and restarts.
    Retry,
    /// Possibly an error, depending on what follows.
    Held,
    /// It was not an error, because more text follows; returns the text that was held back.
    HeldBefore(String),
}

#[derive(Debug)]
pub(super) struct CopilotRemarks {
    is_copilot: bool,
    held: Option<String>,
}

impl CopilotRemarks {
    pub fn new(is_copilot: bool) -> Self {
        Self { is_copilot, held: None }
    }

    pub fn receive(&mut self, text: &str) -> Remark {
        if let Some(held) = self.held.take() {
            return Remark::HeldBefore(held);
        }
        if !self.is_copilot {
            return Remark::Text;
        }
        if text.starts_with("Info: ") && text.ends_with(" Retrying...") && text.lines().count() == 1 {
            return Remark::Retry;
        }
        if text.starts_with("Error: ") {
            self.held = Some(text.to_owned());
            return Remark::Held;
        }
        Remark::Text
    }

    /// The text that is held back.
    pub fn take(&mut self) -> Option<String> {
        self.held.take()
    }

    /// Whether the last chunk of a turn is an error.
    pub fn is_error(text: &str, model_said_nothing_new: bool) -> bool {
        model_said_nothing_new || ERRORS.iter().any(|beginning| text.starts_with(beginning))
    }
}
