//! Settings of headless agents.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::agent::Quarantine;
use crate::model::McpServer;
use crate::process::Supervisor;

/// Settings of both runtimes.
#[derive(Clone, Debug)]
pub struct HeadlessSettings {
    /// Variables to add to the user's own.
    pub variables: BTreeMap<String, String>,
    /// The user's environment, for work without a session.
    pub environment: BTreeMap<String, String>,
    /// MCP servers for every session, by name.
    pub mcp_servers: BTreeMap<String, McpServer>,
    /// Versions that must not be used.
    pub quarantine: Arc<Quarantine>,
    /// Starts the program.
    pub supervisor: Supervisor,
}

/// Settings of Claude Code only.
#[derive(Clone, Debug, Default)]
pub struct ClaudeSettings {
    /// The environment used to find the program.
    pub environment: BTreeMap<String, String>,
    /// The configured program, if any.
    pub program: Option<PathBuf>,
    /// The data folder, which holds installs and caches. `None` stores nothing.
    pub data_folder: Option<PathBuf>,
    /// Models to offer besides its own aliases.
    pub models: Vec<String>,
}
