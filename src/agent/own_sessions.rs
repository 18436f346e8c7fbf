//! Sessions that an agent stores itself and that can be imported.

use std::path::PathBuf;

use super::{AgentEvent, BoxFuture};

/// A session stored by the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnSession {
    /// The agent's id for it.
    pub id: String,
    /// The title.
    pub title: Option<String>,
    /// The working directory.
    pub working_directory: Option<PathBuf>,
    /// The start time in the agent's own format (RFC 3339).
    pub created_at: String,
    /// The time of its last activity.
    pub updated_at: String,
}

/// One item of a session's history.
#[derive(Debug)]
pub enum Past {
    /// A prompt.
    Prompt(String),
    /// An event of the agent.
    Event(AgentEvent),
}

/// Access to the sessions that an agent stores itself.
pub trait OwnSessions: Send + Sync {
    /// Lists all sessions, newest first, or returns why they cannot be listed.
    fn list(&self) -> BoxFuture<'_, Result<Vec<OwnSession>, String>>;

    /// Returns the history of a session in order, or why it cannot be read.
    fn history(&self, id: String) -> BoxFuture<'_, Result<Vec<Past>, String>>;

    /// Deletes a session from the agent's own storage.
    fn forget(&self, id: String) -> BoxFuture<'_, Result<(), String>>;
}
