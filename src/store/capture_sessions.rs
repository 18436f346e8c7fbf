//! Sessions of agents that captures use, as they are stored.

use crate::model::Timestamp;

/// A session of an agent that a capture made. It is stored before the agent makes it, so that nothing is left on the agent's
/// disk when the server is killed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureSession {
    /// The agent's id of it.
    pub id: String,
    /// The runtime.
    pub runtime: String,
    /// What it waits for, as JSON; `None` if nobody can continue it.
    pub waits_for: Option<String>,
    /// When it is deleted at the latest.
    pub expires_at: Timestamp,
}
