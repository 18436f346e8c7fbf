//! Sessions as the API describes them.

use serde::Deserialize;
use serde_json::Value;

use crate::model::{OpenRequest, Seq, SessionId, SessionState, Timestamp};

/// A session in a list.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionEntry {
    /// Its id.
    pub session_id: SessionId,
    /// Its title, if it has one.
    pub title: Option<String>,
    /// The agent's runtime.
    pub runtime: String,
    /// The model; empty for the agent's own choice.
    pub model: String,
    /// Where the agent works.
    pub working_directory: Option<String>,
    /// What it is doing.
    pub state: SessionState,
    /// When it was created.
    pub created_at: Timestamp,
    /// When something last happened in it.
    pub updated_at: Timestamp,
    /// The number of its last event.
    pub last_seq: Seq,
    /// How many requests wait for a person.
    pub pending: u32,
}

/// A session with what waits in it.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionDetails {
    /// As in a list.
    pub entry: SessionEntry,
    /// What only the details have.
    pub more: MoreDetails,
}

/// What a list of sessions leaves out.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MoreDetails {
    /// More about its state.
    pub state_detail: Option<String>,
    /// The permission mode.
    pub permission_mode: String,
    /// What waits for a person, oldest first.
    pub requests: Vec<OpenRequest>,
    /// The prompts that are queued.
    pub queued_prompts: Vec<Value>,
    /// Choices that will probably fail.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// An event of a session's log.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct LoggedResponse {
    /// Its number.
    pub seq: Seq,
    /// When it was written.
    pub time: Timestamp,
    /// The event.
    pub response: Value,
}
