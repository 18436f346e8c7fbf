//! What the configuration decides about headless agents.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::agent::Quarantine;
use crate::model::McpServer;
use crate::process::Supervisor;

/// What both have.
#[derive(Clone, Debug)]
pub struct HeadlessSettings {
    /// Variables beside the user's own.
    pub variables: BTreeMap<String, String>,
    /// The user's environment, for what is done without a session.
    pub environment: BTreeMap<String, String>,
    /// MCP servers for every session, by name.
    pub mcp_servers: BTreeMap<String, McpServer>,
    /// Versions that must not be used.
    pub quarantine: Arc<Quarantine>,
    /// Who starts the program.
    pub supervisor: Supervisor,
}

/// What only Claude Code has.
#[derive(Clone, Debug, Default)]
pub struct ClaudeSettings {
    /// The environment that the program is looked for in.
    pub environment: BTreeMap<String, String>,
    /// The program, where somebody named it.
    pub program: Option<PathBuf>,
    /// Our own data folder: installs and caches are below it. `None` keeps nothing.
    pub data_folder: Option<PathBuf>,
    /// Models to offer beside its own short names.
    pub models: Vec<String>,
}
