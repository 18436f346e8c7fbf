//! The contract of a runtime.

use std::future::Future;
use std::path::Path;
use std::pin::Pin;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::program::FoundProgram;
use super::{Capabilities, Connection, Login, OwnSessions, StartSpec};
use crate::model::{Check, Timestamp};

/// A future that a trait object can return.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A model an agent offers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// For people.
    pub name: String,
    /// For requests.
    pub id: String,
    /// How much a request counts against a quota.
    pub multiplier: f64,
    /// Known and usable, but not shown in lists.
    pub hidden: bool,
}

/// The models of a runtime.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelList {
    /// Those that are known.
    pub models: Vec<Model>,
    /// Why there may be others, for people. With a reason here any name is passed on as it is.
    pub incomplete: Option<String>,
}

impl ModelList {
    /// These are all.
    pub fn known(models: Vec<Model>) -> Self {
        Self { models, incomplete: None }
    }

    /// Nobody can say.
    pub fn unknown(reason: impl Into<String>) -> Self {
        Self { models: Vec::new(), incomplete: Some(reason.into()) }
    }
}

/// How fresh an answer is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// What was asked lately will do.
    Recent,
    /// The agent is asked again.
    Now,
}

/// Whether somebody is logged in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoginState {
    /// Yes.
    LoggedIn,
    /// No, and it is needed.
    LoggedOut,
    /// A model of the user's own is used, which needs no login.
    OwnProvider,
    /// The agent has no logins.
    NotNeeded,
    /// Nobody could say.
    Unknown,
}

/// Who is logged in to an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LoginStatus {
    /// Whether anybody is.
    pub state: LoginState,
    /// Who it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// Whether [`Runtime::login`] can change it.
    pub can_log_in: bool,
}

impl LoginStatus {
    /// Logins are not a question here.
    pub fn not_needed() -> Self {
        Self { state: LoginState::NotNeeded, who: None, can_log_in: false }
    }
}

/// Whether sessions can be started, and what is missing if not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Readiness {
    /// Whether a session may be started now.
    pub ready: bool,
    /// What is there, or what is missing and how to get it.
    pub hint: String,
    /// Who is logged in.
    pub login: LoginStatus,
    /// The program behind it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<FoundProgram>,
    /// The command that installs the program, while it is not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub install: Option<String>,
}

impl Readiness {
    /// Ready, with neither program nor login.
    pub fn ready(hint: impl Into<String>) -> Self {
        Self { ready: true, hint: hint.into(), login: LoginStatus::not_needed(), program: None, install: None }
    }
}

/// A process that a runtime keeps, with everything that it has started.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentProcess {
    /// Whose it is.
    pub runtime: String,
    /// The process id of the program itself.
    pub pid: u32,
    /// What the program calls its version.
    pub version: Option<String>,
    /// Sessions that use it right now.
    pub sessions: usize,
    /// Memory in use, children included.
    pub resident_bytes: u64,
    /// Processor time since its start, children included.
    pub cpu_seconds: f64,
    /// Processes that it has started and that still run.
    pub children: usize,
    /// When it began.
    pub started_at: Timestamp,
}

/// A connection could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The agent wants a login; the text says how.
    #[error("{0}")]
    NeedsLogin(String),
    /// The agent's own session, which was to be taken up again, is missing, damaged or not listed.
    #[error("{0}")]
    SessionLost(String),
    /// It may work when tried again.
    #[error("{0}")]
    Temporary(String),
    /// Trying again is of no use; the text says what to do.
    #[error("{0}")]
    Permanent(String),
}

/// One way to reach an agent.
pub trait Runtime: Send + Sync {
    /// How sessions and the configuration name it.
    fn name(&self) -> &str;

    /// What it can do.
    fn capabilities(&self) -> &Capabilities;

    /// Whose sessions the agent's own are: runtimes that reach one agent by different ways share them.
    fn family(&self) -> &str {
        self.name()
    }

    /// Whether it can be used now, and what to do if not.
    fn readiness(&self) -> BoxFuture<'_, Readiness>;

    /// Its models.
    fn models(&self, freshness: Freshness) -> BoxFuture<'_, ModelList>;

    /// Whether a session with these options may name a model that is not in the list.
    fn takes_any_model(&self, _options: &Map<String, Value>) -> bool {
        false
    }

    /// How to log in, where that can be done from here.
    fn login(&self) -> Option<&dyn Login> {
        None
    }

    /// Waits until somebody may have logged in since the call.
    fn credentials_changed(&self) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }

    /// The sessions that the agent itself keeps, where it does.
    fn own_sessions(&self) -> Option<&dyn OwnSessions> {
        None
    }

    /// What can be checked before anybody starts a session.
    fn preflight(&self) -> BoxFuture<'_, Vec<Check>> {
        Box::pin(async move {
            let Readiness { ready, hint, .. } = self.readiness().await;
            let name = self.name();
            vec![if ready { Check::ok(name, hint) } else { Check::warning(name, "not ready", hint) }]
        })
    }

    /// The version of the agent that would be used, where it says.
    fn version(&self) -> BoxFuture<'_, Option<String>> {
        Box::pin(async move { self.readiness().await.program.and_then(|program| program.version) })
    }

    /// What starts a session on a model at the given address (one that speaks `OpenAI`'s chat completions), in the
    /// given folder. `None` where the agent cannot be pointed at one.
    fn spec_for_model_at(&self, _base_url: &str, _folder: &Path) -> Option<StartSpec> {
        None
    }

    /// Ends what the runtime itself keeps running, once all its connections are closed.
    fn shut_down(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }

    /// What its processes use right now, where the system says so. Takes a while: not for a thread that others wait for.
    fn processes(&self) -> Vec<AgentProcess> {
        Vec::new()
    }

    /// Opens a connection.
    fn start(&self, spec: StartSpec) -> BoxFuture<'_, Result<Connection, StartError>>;
}
