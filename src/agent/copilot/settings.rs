//! Settings of Copilot.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::agent::{ConformanceResults, Quarantine};
use crate::model::{McpServer, Provider};
use crate::process::Supervisor;

/// A model provider from the configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfiguredProvider {
    /// Its URL and authentication.
    pub provider: Provider,
    /// The models to offer from it.
    pub models: Vec<String>,
}

/// All settings.
#[derive(Clone, Debug)]
pub struct CopilotSettings {
    /// The program's complete environment.
    pub environment: BTreeMap<String, String>,
    /// The configured program, if any.
    pub program: Option<PathBuf>,
    /// The data folder, which holds installs and caches. `None` stores nothing.
    pub data_folder: Option<PathBuf>,
    /// Models to offer if no list is available.
    pub models: Vec<String>,
    /// The URL of the model catalogue, used if the program cannot list its models.
    pub catalogue: String,
    /// The timeout of the handshake.
    pub hello_within: Duration,
    /// The program is stopped after being unused for this long.
    pub end_when_idle: Option<Duration>,
    /// The configured providers, by name.
    pub providers: BTreeMap<String, ConfiguredProvider>,
    /// MCP servers for every session, by name.
    pub mcp_servers: BTreeMap<String, McpServer>,
    /// Versions that must not be used.
    pub quarantine: Arc<Quarantine>,
    /// The results of the conformance checks, which switch captures off.
    pub conformance: Option<Arc<ConformanceResults>>,
    /// Starts the program.
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
            conformance: None,
            supervisor: Supervisor::without_ledger(),
        }
    }
}
