//! Sessions that an agent keeps on its own, started elsewhere, which can become ours.

use std::path::PathBuf;

use super::{AgentEvent, BoxFuture};

/// A session that the agent has on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnSession {
    /// The agent's id for it.
    pub id: String,
    /// What it is about.
    pub title: Option<String>,
    /// Where it works.
    pub working_directory: Option<PathBuf>,
    /// When it began, as the agent writes it (RFC 3339).
    pub created_at: String,
    /// When something last happened in it.
    pub updated_at: String,
}

/// A piece of a session's past.
#[derive(Debug)]
pub enum Past {
    /// Somebody asked.
    Prompt(String),
    /// The agent said or did something.
    Event(AgentEvent),
}

/// The agent's own sessions.
pub trait OwnSessions: Send + Sync {
    /// All of them, the latest first; or why they cannot be had.
    fn list(&self) -> BoxFuture<'_, Result<Vec<OwnSession>, String>>;

    /// What happened in one of them, in order; or why it cannot be had.
    fn history(&self, id: String) -> BoxFuture<'_, Result<Vec<Past>, String>>;

    /// Removes one of them from the agent's own store.
    fn forget(&self, id: String) -> BoxFuture<'_, Result<(), String>>;
}
