//! The service that answers requests.

use super::{Answer, CaptureError, ErrorKind, Request};

/// What happens to the agent's session after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It waits for the caller's next request.
    Hold,
    /// It is destroyed.
    Destroy,
}

/// A model that callers may name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelEntry {
    /// The id.
    pub id: String,
    /// The name for display.
    pub name: String,
}

/// All captures; clones share them.
#[derive(Clone)]
pub struct Captures;

impl Captures {
    /// Starts to answer a request of the holder of a token.
    pub async fn answer(&self, _request: Request, _token: &str, _mode: Option<Mode>) -> Result<Answer, CaptureError> {
        Err(CaptureError::new(ErrorKind::Unavailable, "not built"))
    }

    /// The models that callers may name.
    pub async fn models(&self) -> Vec<ModelEntry> {
        Vec::new()
    }
}
