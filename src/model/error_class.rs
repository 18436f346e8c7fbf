//! What kind of failure a turn ended with, the same for all agents.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The kinds of failures there are. What follows from each stands in the table of the agents' failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorClass {
    /// Nobody is logged in, or a key is not taken.
    Auth,
    /// Too many requests for now, or the service is overloaded.
    RateLimit,
    /// What may be used is used up.
    Quota,
    /// The model does not exist or may not be used.
    ModelUnavailable,
    /// The conversation is longer than the model takes.
    ContextTooLong,
    /// A filter refused the prompt or the answer.
    ContentFilter,
    /// The service does not understand the request.
    InvalidRequest,
    /// Tools, or calls of them, contradict each other.
    ToolConflict,
    /// The service cannot be reached or has trouble of its own.
    Network,
    /// An answer broke off.
    StreamBroken,
    /// Something took too long.
    Timeout,
    /// The agent's process ended before its turn did.
    ProcessGone,
    /// Somebody ended the turn.
    Aborted,
    /// A setting, an option or the program itself is not what it must be.
    Configuration,
    /// The agent broke down.
    Crash,
    /// Nothing of the above.
    Unknown,
}

impl ErrorClass {
    /// All of them.
    pub const ALL: [Self; 16] = [
        Self::Auth,
        Self::RateLimit,
        Self::Quota,
        Self::ModelUnavailable,
        Self::ContextTooLong,
        Self::ContentFilter,
        Self::InvalidRequest,
        Self::ToolConflict,
        Self::Network,
        Self::StreamBroken,
        Self::Timeout,
        Self::ProcessGone,
        Self::Aborted,
        Self::Configuration,
        Self::Crash,
        Self::Unknown,
    ];

    /// The word used in the API and the log.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auth => "auth",
            Self::RateLimit => "rate-limit",
            Self::Quota => "quota",
            Self::ModelUnavailable => "model-unavailable",
            Self::ContextTooLong => "context-too-long",
            Self::ContentFilter => "content-filter",
            Self::InvalidRequest => "invalid-request",
            Self::ToolConflict => "tool-conflict",
            Self::Network => "network",
            Self::StreamBroken => "stream-broken",
            Self::Timeout => "timeout",
            Self::ProcessGone => "process-gone",
            Self::Aborted => "aborted",
            Self::Configuration => "configuration",
            Self::Crash => "crash",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for ErrorClass {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_is_the_same_in_the_log_and_for_people() {
        for class in ErrorClass::ALL {
            assert_eq!(serde_json::to_string(&class).expect("JSON"), format!("\"{class}\""));
        }
    }
}
