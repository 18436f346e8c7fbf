//! Who uses an agent.

use std::fmt;

use crate::model::SessionId;

/// The owner of a connection. It names the holder of an agent's session in errors and logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Owner {
    /// One of our sessions.
    Session(SessionId),
    /// The permission canary of `doctor`.
    Canary,
    /// A capture: another orchestrator uses the agent as a model.
    Capture,
    /// A job.
    Job,
}

impl fmt::Display for Owner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Session(id) => id.fmt(formatter),
            Self::Canary => formatter.write_str("the permission canary"),
            Self::Capture => formatter.write_str("a capture"),
            Self::Job => formatter.write_str("a job"),
        }
    }
}
