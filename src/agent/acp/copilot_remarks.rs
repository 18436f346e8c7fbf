//! What Copilot says of itself in the middle of what its model says.
//!
//! Over ACP a model's error is no error: it is a piece of a message that begins with `Error: `, and the turn ends as if
//! all were well; a retry is announced by one that begins with `Info: `. A model may write such words too, so they are
//! believed only where nothing else is possible: the agent is Copilot, the piece is one whole sentence of its own, and
//! for an error nothing follows it and the model has said nothing new, or the sentence is one that is known.

/// Beginnings of errors that are Copilot's own words.
const ERRORS: [&str; 3] = [
    "Error: Failed to get response from the AI model",
    "Error: Authentication failed with provider",
    "Error: Not authenticated",
];

/// What a piece of a message is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Remark {
    /// The model's.
    Text,
    /// The model's answer broke off and begins anew.
    Retry,
    /// Perhaps an error: what follows will tell.
    Held,
    /// It was none, because something follows; this was held back.
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

    pub fn hear(&mut self, text: &str) -> Remark {
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

    /// What is held back.
    pub fn take(&mut self) -> Option<String> {
        self.held.take()
    }

    /// Whether a piece that stood at the end of a turn is an error.
    pub fn is_error(text: &str, model_said_nothing_new: bool) -> bool {
        model_said_nothing_new || ERRORS.iter().any(|beginning| text.starts_with(beginning))
    }
}
