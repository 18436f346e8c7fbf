//! What the configuration decides about an ACP agent.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::agent::Quarantine;
use crate::model::McpServer;
use crate::process::Supervisor;

/// Everything that can be set.
#[derive(Clone, Debug)]
pub struct AcpSettings {
    /// The runtime's name.
    pub name: String,
    /// What people call the agent.
    pub title: String,
    /// The program: a path, or a name to be looked for. Copilot is found by its own search.
    pub command: String,
    /// What makes it an ACP agent.
    pub arguments: Vec<String>,
    /// Variables beside the user's own.
    pub variables: BTreeMap<String, String>,
    /// The user's environment, for what is done without a session.
    pub environment: BTreeMap<String, String>,
    /// How to log in; empty for what the agent says itself.
    pub login_hint: String,
    /// The method of `authenticate` to call before a session; empty for none.
    pub auth_method: String,
    /// Models to offer beside those that the agent names.
    pub models: Vec<String>,
    /// How long it may take to answer at its start.
    pub hello_within: Duration,
    /// A session's process ends when nothing was asked of it for this long, and comes back with the next prompt.
    pub end_when_idle: Option<Duration>,
    /// MCP servers for every session, by name.
    pub mcp_servers: BTreeMap<String, McpServer>,
    /// Versions that must not be used.
    pub quarantine: Arc<Quarantine>,
    /// Who starts the program.
    pub supervisor: Supervisor,
}

/// How one process is started.
#[derive(Clone, Debug)]
pub(super) struct Launch {
    pub program: PathBuf,
    pub arguments: Vec<String>,
    pub environment: BTreeMap<String, String>,
    pub folder: PathBuf,
}
