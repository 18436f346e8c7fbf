//! What an agent runtime is, which runtimes there are, and one folder per runtime.
//!
//! What must always hold here: a runtime never touches the store or HTTP, its wire types stay in its folder, and
//! everything an agent sends reaches a session as an [`AgentEvent`]. What we do not know is kept as raw JSON and
//! never breaks a turn. The rest of the code branches on [`Capabilities`], never on a runtime's name.

mod capabilities;
mod connection;
pub mod copilot;
pub mod demo;
mod environment;
mod event;
mod pulse;
mod registry;
mod runtime;

pub use capabilities::{Capabilities, SystemPromptSupport};
pub use connection::{AgentCommand, Connection, RequestAnswer, StartSpec, SuspendedTurn};
pub use environment::agent_environment;
pub use event::{AgentEvent, BlockEnd, BlockStart};
pub use pulse::Pulse;
pub use registry::{ModelChoice, ModelNotFound, RuntimeNotFound, Runtimes};
pub use runtime::{AgentProcess, BoxFuture, Model, ModelList, Readiness, Runtime, StartError};
