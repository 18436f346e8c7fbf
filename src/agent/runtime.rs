//! The contract of a runtime.

use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::program::FoundProgram;
use super::{
    AgentFork, Capabilities, Channel, ConformanceReport, Connection, Login, OwnSessions, SessionOption, StartSpec,
};
use crate::model::{Check, Timestamp};

/// A future that a trait object can return.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A model that an agent offers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// The display name.
    pub name: String,
    /// The id to use in requests.
    pub id: String,
    /// How much one request counts against the quota.
    pub multiplier: f64,
    /// Usable by name, but left out of the agent's own picker.
    pub hidden: bool,
    /// Whose model it is, such as `Anthropic`, if the agent says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
}

impl Model {
    /// A model of which nothing but its names is known.
    pub fn named(name: impl Into<String>, id: impl Into<String>) -> Self {
        Self { name: name.into(), id: id.into(), multiplier: 1.0, hidden: false, provider: None }
    }
}

/// The models of a runtime.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelList {
    /// The known models.
    pub models: Vec<Model>,
    /// Why the list may be incomplete, for display. If set, any model name is passed on unchanged.
    pub incomplete: Option<String>,
    /// A session that names no model gets the agent's own default instead of the first model of the list.
    pub agent_chooses: bool,
}

impl ModelList {
    /// A complete list.
    pub fn known(models: Vec<Model>) -> Self {
        Self { models, ..Self::default() }
    }

    /// A list that could not be read.
    pub fn unknown(reason: impl Into<String>) -> Self {
        Self::incomplete(Vec::new(), reason)
    }

    /// A list that may lack models.
    pub fn incomplete(models: Vec<Model>, reason: impl Into<String>) -> Self {
        Self { models, incomplete: Some(reason.into()), agent_chooses: false }
    }
}

/// Whether a cached answer is good enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// A recent cached answer is good enough.
    Recent,
    /// Asks the agent again.
    Now,
}

/// The login state of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LoginState {
    /// Logged in.
    LoggedIn,
    /// Logged out, and a login is required.
    LoggedOut,
    /// The user's own model is used, which needs no login.
    OwnProvider,
    /// The agent has no logins.
    NotNeeded,
    /// The state could not be determined.
    Unknown,
}

/// Who is logged in to an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoginStatus {
    /// The login state.
    pub state: LoginState,
    /// The account name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// Whether [`Runtime::login`] is supported.
    pub can_log_in: bool,
}

impl LoginStatus {
    /// The agent does not use logins.
    pub fn not_needed() -> Self {
        Self { state: LoginState::NotNeeded, who: None, can_log_in: false }
    }
}

/// Whether sessions can be started, and what is missing if not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Readiness {
    /// Whether a session may be started now.
    pub ready: bool,
    /// A description of what was found, or what is missing and how to get it.
    pub hint: String,
    /// Who is logged in.
    pub login: LoginStatus,
    /// The agent's program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<FoundProgram>,
    /// The command that installs the program, if it is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub install: Option<String>,
}

impl Readiness {
    /// Ready, without a program or a login.
    pub fn ready(hint: impl Into<String>) -> Self {
        Self { ready: true, hint: hint.into(), login: LoginStatus::not_needed(), program: None, install: None }
    }
}

/// A process that a runtime keeps running, including the processes it started.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentProcess {
    /// The owner's name.
    pub runtime: String,
    /// The process id of the program itself.
    pub pid: u32,
    /// The program's version.
    pub version: Option<String>,
    /// The number of sessions that use it.
    pub sessions: usize,
    /// Resident memory, including child processes.
    pub resident_bytes: u64,
    /// CPU time since it started, including child processes.
    pub cpu_seconds: f64,
    /// The number of running child processes.
    pub children: usize,
    /// The start time.
    pub started_at: Timestamp,
}

/// Why a connection could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The agent needs a login; the text says how to log in.
    #[error("{0}")]
    NeedsLogin(String),
    /// The agent's session cannot be resumed: it is missing, damaged or not listed.
    #[error("{0}")]
    SessionLost(String),
    /// A transient failure: a retry may succeed.
    #[error("{0}")]
    Temporary(String),
    /// The installed version failed checks that this use of it rests on. The text says which.
    #[error("{0}")]
    NotConformant(String),
    /// A permanent failure: a retry will not help. The text says what to do.
    #[error("{0}")]
    Permanent(String),
}

/// A way to run an agent.
pub trait Runtime: Send + Sync {
    /// The name used in sessions and in the configuration.
    fn name(&self) -> &str;

    /// What it can do.
    fn capabilities(&self) -> &Capabilities;

    /// The family whose agent sessions it uses: runtimes for the same agent share its sessions, its program and its
    /// login.
    fn family(&self) -> &str {
        self.name()
    }

    /// The agent's name as people know it. Runtimes of one family have the same.
    fn title(&self) -> &str {
        self.name()
    }

    /// The agent's name, with the connection if it is not the agent's usual one: `GitHub Copilot (ACP)`.
    fn display_name(&self) -> String {
        match self.channel().filter(|_| self.name() != self.family()) {
            Some(channel) => format!("{} ({})", self.title(), channel.name),
            None => self.title().to_owned(),
        }
    }

    /// How it talks to the agent, if there are several ways.
    fn channel(&self) -> Option<Channel> {
        None
    }

    /// The options that its sessions take, in the order in which they are shown.
    fn session_options(&self) -> Vec<SessionOption> {
        Vec::new()
    }

    /// Its program has just been installed: what was known about it is out of date.
    fn program_changed(&self) {}

    /// Whether it is ready, and if not, what to do.
    fn readiness(&self) -> BoxFuture<'_, Readiness>;

    /// The available models.
    fn models(&self, freshness: Freshness) -> BoxFuture<'_, ModelList>;

    /// Whether a session with these options may name a model that is not in the list.
    fn takes_any_model(&self, _options: &Map<String, Value>) -> bool {
        false
    }

    /// The login, if the server can start one.
    fn login(&self) -> Option<&dyn Login> {
        None
    }

    /// Waits until the login state may have changed.
    fn credentials_changed(&self) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }

    /// The sessions that the agent stores itself, if it stores any.
    fn own_sessions(&self) -> Option<&dyn OwnSessions> {
        None
    }

    /// Deletes a session that no connection has from the agent's disk.
    fn discard_session(&self, id: String) -> BoxFuture<'_, Result<(), String>> {
        match self.own_sessions() {
            Some(own) => own.forget(id),
            None => Box::pin(async { Ok(()) }),
        }
    }

    /// Copies a session that the agent stores, so that another connection continues the copy. Returns its id, or why there
    /// is none. Only for agents with the capability `fork`.
    fn fork(&self, _fork: AgentFork) -> BoxFuture<'_, Result<String, String>> {
        Box::pin(async { Err("this agent cannot copy its sessions".to_owned()) })
    }

    /// Checks that do not need a session.
    fn preflight(&self) -> BoxFuture<'_, Vec<Check>> {
        Box::pin(async move {
            let Readiness { ready, hint, .. } = self.readiness().await;
            let name = self.name();
            vec![if ready { Check::ok(name, hint) } else { Check::warning(name, "not ready", hint) }]
        })
    }

    /// The installed version of the agent, if known.
    fn version(&self) -> BoxFuture<'_, Option<String>> {
        Box::pin(async move { self.readiness().await.program.and_then(|program| program.version) })
    }

    /// The spec of a session in the given folder that uses a model at the given URL (an `OpenAI` chat completions API).
    /// `None` if the agent cannot use such a model.
    fn spec_for_model_at(&self, _base_url: &str, _folder: &Path) -> Option<StartSpec> {
        None
    }

    /// Whether [`Self::conformance`] checks anything.
    fn has_conformance_checks(&self) -> bool {
        // Nothing runs before somebody waits for it.
        self.conformance(Duration::ZERO).is_some()
    }

    /// Checks every assumption that capture makes about the agent, against the installed program on a scripted model.
    /// A step of the agent that takes longer than `patience` fails its check. The error says why nothing could be
    /// checked. `None` if the agent cannot be used for capture.
    fn conformance(&self, _patience: Duration) -> Option<BoxFuture<'_, Result<ConformanceReport, String>>> {
        None
    }

    /// Stops the runtime's own processes. Call it after all its connections are closed.
    fn shut_down(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }

    /// The resource use of its processes, where the platform reports it. Slow: run it on a blocking thread.
    fn processes(&self) -> Vec<AgentProcess> {
        Vec::new()
    }

    /// Opens a connection.
    fn start(&self, spec: StartSpec) -> BoxFuture<'_, Result<Connection, StartError>>;
}
