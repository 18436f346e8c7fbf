//! Every setting, with its default.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use toml::Value;

use super::{AcpAgent, Budget, Capture, McpServer, Notifications, Provider, RuntimeDefaults, Span};
use crate::model::{PermissionMode, PermissionRule};

const MB: usize = 1024 * 1024;

/// The whole configuration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The data folder; empty for the platform's data folder.
    pub data_dir: PathBuf,
    /// How the server is reached.
    pub server: Server,
    /// Defaults for sessions.
    pub sessions: Sessions,
    /// What agents may do.
    pub permissions: Permissions,
    /// Sessions that the portal's routes start.
    pub portal: Portal,
    /// Tasks and jobs.
    pub jobs: Jobs,
    /// How lost agents are restored.
    pub recovery: Recovery,
    /// Limits.
    pub limits: Limits,
    /// Which closed sessions are deleted.
    pub retention: Retention,
    /// Limits on usage.
    pub budget: Budget,
    /// Agents as models for other programs.
    pub capture: Capture,
    /// How agents are found and started.
    pub agents: Agents,
    /// Defaults for sessions of one runtime, by its name.
    pub runtimes: BTreeMap<String, RuntimeDefaults>,
    /// The user's own model providers, by name.
    pub providers: BTreeMap<String, Provider>,
    /// MCP servers that every session gets, by name.
    pub mcp_servers: BTreeMap<String, McpServer>,
    /// Agents that speak ACP; `[acp.NAME]` is the runtime `acp:NAME`.
    pub acp: BTreeMap<String, AcpAgent>,
    /// Notifications.
    pub notifications: Notifications,
    /// What is logged.
    pub log: Log,
}

/// Authentication.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AuthMode {
    /// Callers need the token.
    #[default]
    Token,
    /// Everybody who reaches the port has access.
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
    /// Authentication.
    pub auth: AuthMode,
    /// Trust a TLS-terminating proxy; required for any address other than loopback.
    pub behind_proxy: bool,
    /// Further host names of this server.
    pub allowed_hosts: Vec<String>,
    /// Other web origins that may call the API.
    pub allowed_origins: Vec<String>,
    /// A server that a command started in the background ends after this time without work or viewers.
    pub idle_stop: Span,
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
            idle_stop: Span::of(Duration::from_mins(30)),
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
            .map_err(|_| format!("server.bind is {:?}, which is not `loopback` and not an IP address", self.bind))
    }
}

/// When queued prompts continue after a restart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resume {
    /// With the session's next prompt.
    #[default]
    NextPrompt,
    /// As soon as the server starts.
    AtStart,
}

/// Defaults for sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sessions {
    /// The runtime; empty for the first that is ready.
    pub runtime: String,
    /// The model; empty for the runtime's first.
    pub model: String,
    /// The effort; empty for the agent's own.
    pub effort: String,
    /// Folders below which sessions may work; empty for anywhere.
    pub roots: Vec<PathBuf>,
    /// When queued prompts continue after a restart.
    pub resume: Resume,
    /// How long an agent may take to end an interrupted turn.
    pub interrupt_grace: Span,
    /// A turn that takes longer is ended; empty for never.
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
    /// The mode of sessions that choose none.
    pub default: PermissionMode,
    /// Rules for all sessions; they follow a session's own.
    pub rules: Vec<PermissionRule>,
    /// In mode `ask`, agents read files in the working directory without asking.
    pub allow_reads: bool,
    /// A request is denied after this time if nobody watches the session.
    pub unattended_timeout: Span,
}

impl Default for Permissions {
    fn default() -> Self {
        Self {
            default: PermissionMode::Ask,
            rules: Vec::new(),
            allow_reads: true,
            unattended_timeout: Span::of(Duration::from_mins(10)),
        }
    }
}

/// Sessions that the portal's routes start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Portal {
    /// Their permission mode; empty for `permissions.default`.
    #[serde(with = "optional_mode")]
    pub permissions: Option<PermissionMode>,
}

/// An empty text stands for none.
pub(super) mod optional_mode {
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    use crate::model::PermissionMode;

    #[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
    pub fn serialize<S: Serializer>(mode: &Option<PermissionMode>, serializer: S) -> Result<S::Ok, S::Error> {
        mode.map_or("", PermissionMode::as_str).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<PermissionMode>, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.is_empty() { Ok(None) } else { text.parse().map(Some).map_err(serde::de::Error::custom) }
    }
}

/// Tasks and jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Jobs {
    /// A file with your own tasks and jobs; empty for those that come with the program.
    pub entry: PathBuf,
    /// Every session gets the job tools, not only those of jobs, also where that starts a process.
    pub tools_in_all_sessions: bool,
}

/// How lost agents are restored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Recovery {
    /// Attempts to restore a lost agent.
    pub attempts: u32,
    /// Attempts at a turn that fails before the agent has said or done anything.
    pub turn_attempts: u32,
    /// The delay before the second attempt; it doubles from there.
    pub first_delay: Span,
    /// The longest delay between attempts.
    pub longest_delay: Span,
    /// Report an agent that is unresponsive during a turn for this long; empty for never.
    pub silence_notice: Span,
    /// End an unresponsive agent and restart it.
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

/// Limits, each 1 or more unless 0 is explained. Sizes are in bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// The text of a prompt.
    pub prompt_bytes: usize,
    /// The body of a request, attachments included.
    pub body_bytes: usize,
    /// The headers of a request.
    pub header_bytes: usize,
    /// Connections at a time.
    pub connections: usize,
    /// Agent processes at a time, for agents with a process for each session or turn; 0 for no limit.
    pub agent_processes: usize,
    /// Open sessions.
    pub sessions: usize,
    /// Readers of one session.
    pub readers_per_session: usize,
    /// Queued prompts of one session.
    pub queued_prompts: usize,
    /// Tool output that is kept in the log; longer output becomes a blob.
    pub inline_output_bytes: usize,
    /// Tool output that is kept at all.
    pub blob_bytes: usize,
    /// The database; 0 for no limit.
    pub database_bytes: u64,
    /// Snapshots of folders, from which changes by session and turn are shown; 0 for none.
    pub snapshot_bytes: u64,
    /// Wrong tokens per minute; further ones are rejected without being checked.
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
            snapshot_bytes: 2 * 1024 * 1024 * 1024,
            login_failures_per_minute: 20,
        }
    }
}

impl Limits {
    /// Where 0 means no limit, or none at all. Most of the others would refuse everything at 0.
    pub(super) const MAY_BE_ZERO: [&str; 3] =
        ["limits.agent_processes", "limits.database_bytes", "limits.snapshot_bytes"];

    /// What is wrong with the value of a limit, if anything; its type is checked elsewhere.
    pub(super) fn problem(key: &str, value: &Value) -> Option<String> {
        let least = i64::from(!Self::MAY_BE_ZERO.contains(&key));
        let number = value.as_integer().filter(|number| key.starts_with("limits.") && *number < least)?;
        Some(format!("expected a whole number, {least} or more, got {number}"))
    }
}

/// Which closed sessions are deleted; by default none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Retention {
    /// Delete sessions that were closed longer ago than this; empty for never.
    pub max_age: Span,
    /// While the database is larger, delete the sessions that were closed first; 0 for never.
    pub max_bytes: u64,
}

/// How agents are found and started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Agents {
    /// The environment variables that agents get; empty for all but `FLIGHTDECK_*`.
    pub environment: Vec<String>,
    /// Versions that failed the permission canary and are used anyway, as `runtime version`.
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
    /// The program; empty to search for it.
    pub program: PathBuf,
    /// Models to offer besides its own short names.
    pub models: Vec<String>,
}

/// GitHub Copilot over the SDK protocol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Copilot {
    /// The program; empty to search for it.
    pub program: PathBuf,
    /// Its own folder for logins and sessions; empty for `COPILOT_HOME` or `~/.copilot`.
    pub home: PathBuf,
    /// Models to offer when no list can be fetched.
    pub models: Vec<String>,
    /// Where models are listed when the program cannot list them.
    pub catalogue: String,
    /// How long the program may take to answer after its start.
    pub hello_within: Span,
    /// End the program when no session has used it for this long; empty for never.
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
    /// How lines are written.
    pub format: LogFormat,
}

/// How lines of the log are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

impl Default for Log {
    fn default() -> Self {
        Self { filter: "info".to_owned(), format: LogFormat::Text }
    }
}
