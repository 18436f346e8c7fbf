//! What the configuration decides about Copilot.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::agent::Quarantine;
use crate::model::{McpServer, Provider};
use crate::process::Supervisor;

/// A model provider that the configuration names.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfiguredProvider {
    /// Where it is and how to authenticate.
    pub provider: Provider,
    /// The models to offer from it.
    pub models: Vec<String>,
}

/// Everything that can be set.
#[derive(Clone, Debug)]
pub struct CopilotSettings {
    /// All of the program's environment.
    pub environment: BTreeMap<String, String>,
    /// The program, where somebody named it.
    pub program: Option<PathBuf>,
    /// Our own data folder: installs and caches are below it. `None` keeps nothing.
    pub data_folder: Option<PathBuf>,
    /// Models to offer when nobody can be asked.
    pub models: Vec<String>,
    /// Where models are asked for when the program cannot say.
    pub catalogue: String,
    /// How long the program may take to answer at its start.
    pub hello_within: Duration,
    /// The program ends when no session used it for this long.
    pub end_when_idle: Option<Duration>,
    /// By the user's names.
    pub providers: BTreeMap<String, ConfiguredProvider>,
    /// MCP servers for every session, by name.
    pub mcp_servers: BTreeMap<String, McpServer>,
    /// Versions that must not be used.
    pub quarantine: Arc<Quarantine>,
    /// Who starts the program.
    pub supervisor: Supervisor,
}

impl Default for CopilotSettings {
    fn default() -> Self {
        Self {
            environment: BTreeMap::new(),
            program: None,
            data_folder: None,
            models: Vec::new(),
            catalogue: String::new(),
            hello_within: Duration::from_mins(1),
            end_when_idle: None,
            providers: BTreeMap::new(),
            mcp_servers: BTreeMap::new(),
            quarantine: Arc::default(),
            supervisor: Supervisor::without_ledger(),
        }
    }
}
