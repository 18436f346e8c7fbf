//! Settings of an ACP agent.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::agent::Quarantine;
use crate::model::McpServer;
use crate::process::Supervisor;

/// All settings.
#[derive(Clone, Debug)]
pub struct AcpSettings {
    /// The runtime's name.
    pub name: String,
    /// The display name.
    pub title: String,
    /// The program: a path, or a name to search for. Copilot has its own search.
    pub command: String,
    /// The arguments that start it as an ACP agent.
    pub arguments: Vec<String>,
    /// Variables to add to the user's own.
    pub variables: BTreeMap<String, String>,
    /// The user's environment, for work without a session.
    pub environment: BTreeMap<String, String>,
    /// How to log in; empty to use the agent's own instructions.
    pub login_hint: String,
    /// The method of `authenticate` to call before a session; empty for none.
    pub auth_method: String,
    /// Models to offer besides those that the agent lists.
    pub models: Vec<String>,
    /// The timeout of the handshake.
    pub hello_within: Duration,
    /// A session's process is stopped after being idle for this long, and restarts with the next prompt.
    pub end_when_idle: Option<Duration>,
    /// MCP servers for every session, by name.
    pub mcp_servers: BTreeMap<String, McpServer>,
    /// Where what the agent says of itself is kept; `None` to forget it.
    pub cache_folder: Option<PathBuf>,
    /// Versions that must not be used.
    pub quarantine: Arc<Quarantine>,
    /// Starts the program.
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
