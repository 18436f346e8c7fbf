//! Why a request was refused or failed, in terms that every dialect translates to its own.

use std::time::Duration;

/// The class of an error. Each dialect has its own status and name for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The request is invalid, or asks for something that an agent cannot do (400).
    Invalid,
    /// The token is missing, wrong or expired (401).
    Unauthorised,
    /// The token does not have the scope (403).
    Forbidden,
    /// The model or route does not exist (404).
    NotFound,
    /// The request is too large (413).
    TooLarge,
    /// Too many calls at once, the model's own rate limit, or a spent budget (429).
    Limited,
    /// The model's service or the agent failed (500 or 502).
    Failed,
    /// The agent is not ready: not installed, not logged in, or quarantined (503).
    Unavailable,
    /// The deadline passed (504).
    TimedOut,
}

/// An error for a caller.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CaptureError {
    /// Its class.
    pub kind: ErrorKind,
    /// What failed, on what, why, and what to do.
    pub message: String,
    /// The parameter at fault, as the dialect spells it, such as `messages[2].role`.
    pub param: Option<String>,
    /// A name for programs, such as `model_not_found`; `None` for the dialect's default.
    pub code: Option<&'static str>,
    /// When a retry makes sense.
    pub retry_after: Option<Duration>,
}

impl CaptureError {
    /// An error of a class.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), param: None, code: None, retry_after: None }
    }

    /// An invalid parameter.
    pub fn invalid(param: impl Into<String>, message: impl Into<String>) -> Self {
        Self { param: Some(param.into()), ..Self::new(ErrorKind::Invalid, message) }
    }

    /// The same with a name for programs.
    #[must_use]
    pub fn with_code(self, code: &'static str) -> Self {
        Self { code: Some(code), ..self }
    }

    /// The same with a time after which a retry makes sense.
    #[must_use]
    pub fn with_retry_after(self, after: Duration) -> Self {
        Self { retry_after: Some(after), ..self }
    }
}
