//! What the configuration decides about sessions. The defaults are the configuration's.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use super::BudgetSettings;
use crate::agent::Capabilities;
use crate::model::{
    Configured, McpServer, PermissionMode, PermissionPolicy, RuntimeDefaults, SessionDefaults, SessionOrigin,
};
use crate::store::Retention;

/// How a lost agent is restored.
#[derive(Clone, Copy, Debug)]
pub struct RecoverySettings {
    /// Attempts before the session counts as failed.
    pub attempts: u32,
    /// Attempts at a turn that fails before the agent has produced anything.
    pub turn_attempts: u32,
    /// The wait before the second attempt; it doubles from there.
    pub first_delay: Duration,
    /// The longest wait.
    pub longest_delay: Duration,
    /// An agent that is unresponsive in a turn for this long is reported; `None` for never.
    pub silence_notice: Option<Duration>,
    /// Ends and restarts an unresponsive agent.
    pub end_hung: bool,
}

/// What the configuration chooses for sessions in a folder.
#[derive(Clone, Debug, Default)]
pub struct FoundDefaults {
    /// Layer by layer, the strongest first. The last one is the user's own file.
    pub layers: Vec<SessionDefaults>,
    /// What is wrong with the project's own file, for people; its layer is missing then.
    pub problem: Option<String>,
}

/// How a session gets the job tools.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum JobTools {
    /// Not at all.
    None,
    /// The connection declares them, and the session answers.
    Declared,
    /// This server of ours offers them.
    OverMcp(McpServer),
}

/// Finds what the configuration chooses for a session in a folder, or for one without.
pub type FindDefaults = Arc<dyn Fn(Option<&Path>) -> FoundDefaults + Send + Sync>;

impl SessionSettings {
    /// As a timeout: none.
    pub const NEVER: Duration = Duration::from_hours(24 * 365 * 10);

    /// How a session gets the job tools.
    pub(super) fn job_tools(&self, capabilities: &Capabilities, origin: SessionOrigin) -> JobTools {
        let is_wanted = origin == SessionOrigin::Job || self.job_tools_in_all_sessions;
        match (&self.own_server, capabilities.custom_tools) {
            (_, true) => JobTools::Declared,
            (Some(server), false) if capabilities.mcp && is_wanted => JobTools::OverMcp(server.clone()),
            _ => JobTools::None,
        }
    }

    /// The permission mode of a session of this runtime that chooses none.
    pub(super) fn permission_mode(&self, runtime: &str) -> PermissionMode {
        let of_runtime = self.runtime_defaults.get(runtime).and_then(|defaults| defaults.permission_mode);
        of_runtime.unwrap_or(self.permissions.mode)
    }

    /// The options of a session of this runtime: its own, and the runtime's defaults for what it leaves out.
    pub(super) fn options(&self, runtime: &str, own: Map<String, Value>) -> Map<String, Value> {
        match self.runtime_defaults.get(runtime) {
            Some(defaults) => defaults.complete(own),
            None => own,
        }
    }

    /// What is configured about permissions for all sessions.
    pub(super) fn configured(&self) -> Configured<'_> {
        Configured { rules: &self.permissions.rules, reads: self.allow_reads, ..Configured::default() }
    }
}

/// All settings of this module.
#[derive(Clone)]
pub struct SessionSettings {
    /// The runtime whose models come first in lists; empty for the first that is ready.
    pub default_runtime: String,
    /// The model that is offered first; empty for the runtime's first.
    pub default_model: String,
    /// What a session gets when it chooses nothing, folder by folder.
    pub defaults: FindDefaults,
    /// What sessions of one runtime get when they choose nothing, by its name. It comes from the user's own file and is
    /// stronger than what that file says of all sessions.
    pub runtime_defaults: BTreeMap<String, RuntimeDefaults>,
    /// Folders below which sessions may work; empty for anywhere.
    pub roots: Vec<PathBuf>,
    /// Mode and rules for sessions that choose none; its rules follow a session's own.
    pub permissions: PermissionPolicy,
    /// In mode `ask`, files in the working directory are read without asking.
    pub allow_reads: bool,
    /// A request that nobody can answer is denied after this.
    pub unattended_timeout: Duration,
    /// How long an agent may take to end an interrupted turn.
    pub interrupt_grace: Duration,
    /// Agent processes at once, where agents take one of their own; 0 for no limit.
    pub agent_processes: usize,
    /// How long a turn may take; `None` for no limit.
    pub turn_timeout: Option<Duration>,
    /// How a lost agent is restored.
    pub recovery: RecoverySettings,
    /// How long a closed session may still be read from the start by new tokens.
    pub closed_grace: Duration,
    /// Run prompts that were queued when the server ended, at its start rather than at the next prompt.
    pub resume_at_start: bool,
    /// The longest prompt, in bytes.
    pub prompt_bytes: usize,
    /// Prompts that may wait in one session.
    pub queued_prompts: usize,
    /// Sessions that may be open at once.
    pub open_sessions: usize,
    /// Readers that one session may have.
    pub readers_per_session: usize,
    /// Tool output longer than this goes to a blob.
    pub inline_output_bytes: usize,
    /// Tool output longer than this is cut.
    pub blob_bytes: usize,
    /// The snapshots of all sessions' folders, in bytes; 0 for none.
    pub snapshot_bytes: u64,
    /// What is kept of old sessions.
    pub retention: Retention,
    /// Limits on what sessions may use.
    pub budget: BudgetSettings,
    /// Our own MCP server, which offers the job tools to agents that take no tools from their host; `None` if there is
    /// none.
    pub own_server: Option<McpServer>,
    /// Every session gets the job tools, not only those of jobs.
    pub job_tools_in_all_sessions: bool,
    /// Names of the variables that agents get; empty for all but ours.
    pub agent_environment: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::McpTransport;

    #[test]
    fn tools_are_declared_where_that_is_possible_and_offered_by_our_server_in_jobs() {
        let transport =
            McpTransport::Stdio { command: "f".to_owned(), args: Vec::new(), env: BTreeMap::new(), cwd: None };
        let server = McpServer { transport, tools: None, timeout_ms: None };
        let with_server = SessionSettings { own_server: Some(server.clone()), ..SessionSettings::default() };
        let everywhere = SessionSettings { job_tools_in_all_sessions: true, ..with_server.clone() };
        let tools = Capabilities { custom_tools: true, mcp: true, ..Capabilities::default() };
        let mcp = Capabilities { mcp: true, ..Capabilities::default() };
        let (user, job) = (SessionOrigin::User, SessionOrigin::Job);
        let over_mcp = JobTools::OverMcp(server);
        for (settings, capabilities, origin, expected) in [
            (&SessionSettings::default(), &tools, user, JobTools::Declared),
            (&with_server, &mcp, job, over_mcp.clone()),
            (&with_server, &mcp, user, JobTools::None),
            (&everywhere, &mcp, user, over_mcp),
            (&everywhere, &Capabilities::default(), job, JobTools::None),
            (&SessionSettings::default(), &mcp, job, JobTools::None),
        ] {
            assert_eq!(settings.job_tools(capabilities, origin), expected);
        }
    }
}
