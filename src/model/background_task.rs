//! Work that an agent does on the side.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A sub-agent or a command that runs beside the conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BackgroundTask {
    /// The agent's id for it.
    pub id: String,
    /// `agent`, `shell` …
    pub kind: String,
    /// What it is about.
    pub description: String,
    /// `running`, `idle`, `completed`, `failed`, `cancelled` …
    pub status: String,
}
