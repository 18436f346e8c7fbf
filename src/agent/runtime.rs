//! The contract of a runtime.

use std::future::Future;
use std::pin::Pin;

use serde::Serialize;

use super::{Capabilities, Connection, StartSpec};
use crate::model::Timestamp;

/// A future that a trait object can return.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A model an agent offers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Model {
    /// For people.
    pub name: String,
    /// For requests.
    pub id: String,
    /// How much a request counts against a quota.
    pub multiplier: f64,
    /// Known and usable, but not shown in lists.
    #[serde(skip)]
    pub hidden: bool,
}

/// The models of a runtime, or why there is no list.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelList {
    /// All there are.
    Known(Vec<Model>),
    /// Nobody can say; a name is passed on as it is.
    Unknown {
        /// For people.
        reason: String,
    },
}

/// Whether sessions can be started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Readiness {
    /// Whether a session may be started now.
    pub ready: bool,
    /// What is there, or what is missing and how to get it.
    pub hint: String,
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

    /// Whether it can be used now, and what to do if not.
    fn readiness(&self) -> BoxFuture<'_, Readiness>;

    /// Its models.
    fn models(&self) -> BoxFuture<'_, ModelList>;

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
