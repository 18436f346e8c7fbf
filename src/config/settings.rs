//! Every setting there is, with its default.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{AcpAgent, Budget, McpServer, Provider, Span};
use crate::model::{PermissionMode, PermissionRule};

const MB: usize = 1024 * 1024;

/// The whole configuration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Where everything is kept; empty for the platform's data folder.
    pub data_dir: PathBuf,
    /// How the server is reached.
    pub server: Server,
    /// What sessions get when they choose nothing.
    pub sessions: Sessions,
    /// What agents may do.
    pub permissions: Permissions,
    /// How lost agents come back.
    pub recovery: Recovery,
    /// What is too much.
    pub limits: Limits,
    /// What is forgotten.
    pub retention: Retention,
    /// How much may be used.
    pub budget: Budget,
    /// What agents are given.
    pub agents: Agents,
    /// Model providers of the user's own, by a name of the user's choice.
    pub providers: BTreeMap<String, Provider>,
    /// MCP servers that every session gets, by name.
    pub mcp_servers: BTreeMap<String, McpServer>,
    /// Agents that speak ACP; `[acp.NAME]` is the runtime `acp:NAME`.
    pub acp: BTreeMap<String, AcpAgent>,
    /// What is logged.
    pub log: Log,
}

/// Who is let in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AuthMode {
    /// Whoever has the token.
    #[default]
    Token,
    /// Whoever reaches the port.
    None,
}

/// How the server is reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Server {
    /// 0 for any free one.
    pub port: u16,
    /// `loopback` (127.0.0.1 and `::1`) or an address.
    pub bind: String,
    /// Who is let in.
    pub auth: AuthMode,
    /// A proxy in front ends TLS; needed for any address but loopback.
    pub behind_proxy: bool,
    /// Names that browsers may use for this server, beside the loopback ones.
    pub allowed_hosts: Vec<String>,
    /// Other web origins that may call the API.
    pub allowed_origins: Vec<String>,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            port: 8888,
            bind: "loopback".to_owned(),
            auth: AuthMode::Token,
            behind_proxy: false,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
        }
    }
}

impl Server {
    /// The address to bind; `None` for both loopback ones.
    pub fn address(&self) -> Result<Option<IpAddr>, String> {
        if matches!(self.bind.as_str(), "loopback" | "localhost") {
            return Ok(None);
        }
        let text = self.bind.trim_start_matches('[').trim_end_matches(']');
        text.parse()
            .map(Some)
            .map_err(|_| format!("server.bind is {:?}, which is neither `loopback` nor an IP address", self.bind))
    }
}

/// When queued prompts go on after a restart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resume {
    /// With the session's next prompt.
    #[default]
    NextPrompt,
    /// As soon as the server starts.
    AtStart,
}

/// What sessions get when they choose nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sessions {
    /// Empty for the first runtime that is ready.
    pub runtime: String,
    /// Empty for the runtime's first.
    pub model: String,
    /// Empty for the agent's own.
    pub effort: String,
    /// Folders below which sessions may work; empty for anywhere.
    pub roots: Vec<PathBuf>,
    /// When queued prompts go on after a restart.
    pub resume: Resume,
    /// How long an agent may take to end an interrupted turn.
    pub interrupt_grace: Span,
    /// How long a turn may take; empty for as long as it likes.
    pub turn_timeout: Span,
}

impl Default for Sessions {
    fn default() -> Self {
        Self {
            runtime: String::new(),
            model: String::new(),
            effort: String::new(),
            roots: Vec::new(),
            resume: Resume::NextPrompt,
            interrupt_grace: Span::of(Duration::from_secs(5)),
            turn_timeout: Span(None),
        }
    }
}

/// What agents may do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Permissions {
    /// For sessions that choose no mode.
    pub default: PermissionMode,
    /// For all sessions, after their own rules.
    pub rules: Vec<PermissionRule>,
    /// A request that nobody watches is denied after this.
    pub unattended_timeout: Span,
}

impl Default for Permissions {
    fn default() -> Self {
        Self { default: PermissionMode::Ask, rules: Vec::new(), unattended_timeout: Span::of(Duration::from_mins(10)) }
    }
}

/// How lost agents come back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Recovery {
    /// Attempts before a session is given up as failed.
    pub attempts: u32,
    /// Attempts at a turn that fails before the agent has said or done anything.
    pub turn_attempts: u32,
    /// The wait before the second attempt; it doubles from there.
    pub first_delay: Span,
    /// The longest wait.
    pub longest_delay: Span,
    /// No sign of life from an agent in a turn for this long is told; empty for never.
    pub silence_notice: Span,
    /// End an agent that shows no sign of life, and start it anew.
    pub end_hung: bool,
}

impl Default for Recovery {
    fn default() -> Self {
        Self {
            attempts: 5,
            turn_attempts: 3,
            first_delay: Span::of(Duration::from_secs(1)),
            longest_delay: Span::of(Duration::from_mins(1)),
            silence_notice: Span::of(Duration::from_mins(5)),
            end_hung: false,
        }
    }
}

/// What is too much. Sizes are in bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// A prompt's text.
    pub prompt_bytes: usize,
    /// A request's body, attachments included.
    pub body_bytes: usize,
    /// A request's head.
    pub header_bytes: usize,
    /// Connections at once.
    pub connections: usize,
    /// Agent processes at once, where agents take one of their own; 0 for no limit.
    pub agent_processes: usize,
    /// Open sessions.
    pub sessions: usize,
    /// Readers of one session.
    pub readers_per_session: usize,
    /// Prompts that wait in one session.
    pub queued_prompts: usize,
    /// Tool output that stays in the log; longer ones become blobs.
    pub inline_output_bytes: usize,
    /// Tool output that is kept at all.
    pub blob_bytes: usize,
    /// The database; 0 for no limit.
    pub database_bytes: u64,
    /// Wrong tokens per minute before further ones are put off.
    pub login_failures_per_minute: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            prompt_bytes: MB,
            body_bytes: 32 * MB,
            header_bytes: 32 * 1024,
            connections: 1_024,
            agent_processes: 16,
            sessions: 2_000,
            readers_per_session: 256,
            queued_prompts: 100,
            inline_output_bytes: MB / 4,
            blob_bytes: 64 * MB,
            database_bytes: 0,
            login_failures_per_minute: 20,
        }
    }
}

/// What is forgotten: closed sessions only, and by default nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Retention {
    /// Sessions closed longer ago; empty for never.
    pub max_age: Span,
    /// While the database is larger; 0 for never.
    pub max_bytes: u64,
}

/// What agents are given, and how they are found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Agents {
    /// Names of environment variables; empty for all but ours.
    pub environment: Vec<String>,
    /// `runtime version` pairs that failed the permission canary and are to be used all the same.
    pub trusted_versions: Vec<String>,
    /// GitHub Copilot.
    pub copilot: Copilot,
    /// Claude Code.
    pub claude: Claude,
}

/// Claude Code, the runtime `claude`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Claude {
    /// The program; empty to look for it.
    pub program: PathBuf,
    /// Models to offer beside its own short names.
    pub models: Vec<String>,
}

/// GitHub Copilot over the SDK protocol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Copilot {
    /// The program; empty to look for it.
    pub program: PathBuf,
    /// Its own folder for logins and sessions; empty for `COPILOT_HOME` or `~/.copilot`.
    pub home: PathBuf,
    /// Models to offer when nobody can be asked.
    pub models: Vec<String>,
    /// Where models are asked for when the program cannot say.
    pub catalogue: String,
    /// How long the program may take to answer at its start.
    pub hello_within: Span,
    /// The program ends when no session used it for this long; empty for never.
    pub end_when_idle: Span,
}

impl Default for Copilot {
    fn default() -> Self {
        Self {
            program: PathBuf::new(),
            home: PathBuf::new(),
            models: Vec::new(),
            catalogue: "https://api.githubcopilot.com/models".to_owned(),
            hello_within: Span::of(Duration::from_mins(1)),
            end_when_idle: Span::of(Duration::from_mins(15)),
        }
    }
}

/// What is logged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    /// `error`, `warn`, `info`, `debug`, `trace`, or `module=level,…`.
    pub filter: String,
}

impl Default for Log {
    fn default() -> Self {
        Self { filter: "info".to_owned() }
    }
}
