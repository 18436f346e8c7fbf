//! What describes a session, apart from its log.

use std::path::PathBuf;

use serde_json::{Map, Value};

use super::{PermissionPolicy, Seq, SessionBudget, SessionId, SessionState, Timestamp};

/// What a session is made of: chosen at its start, some of it changed later.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionProfile {
    /// For people; `None` until somebody or the first prompt gives one.
    pub title: Option<String>,
    /// The runtime's name.
    pub runtime: String,
    /// The model's id, as the runtime knows it; empty for the agent's own default.
    pub model: String,
    /// Reasoning effort, where the runtime has levels.
    pub effort: Option<String>,
    /// Where the agent works; `None` for a session without a folder.
    pub working_directory: Option<PathBuf>,
    /// What the agent may do without asking.
    pub permissions: PermissionPolicy,
    /// Text put before the agent's own instructions.
    pub system_prompt: Option<String>,
    /// Options of the runtime, as the caller gave them.
    pub options: Map<String, Value>,
    /// Its own limits, beside the configured ones.
    pub budget: SessionBudget,
}

/// A session as lists show it.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionSummary {
    /// Which session.
    pub id: SessionId,
    /// What it is made of.
    pub profile: SessionProfile,
    /// What it is doing.
    pub state: SessionState,
    /// More about the state, for people.
    pub state_detail: Option<String>,
    /// When it was started.
    pub created_at: Timestamp,
    /// When something last happened in it.
    pub updated_at: Timestamp,
    /// When it was closed, if it is.
    pub closed_at: Option<Timestamp>,
    /// The number of its last event; 0 for an empty log.
    pub last_seq: Seq,
    /// How many requests wait for a person.
    pub pending: u32,
}
