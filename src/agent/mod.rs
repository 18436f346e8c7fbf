//! What an agent runtime is, which runtimes there are, and one folder per runtime.
//!
//! What must always hold here: a runtime never touches the store or HTTP, its wire types stay in its folder, and
//! everything an agent sends reaches a session as an [`AgentEvent`]. What we do not know is kept as raw JSON and
//! never breaks a turn. The rest of the code branches on [`Capabilities`], never on a runtime's name.

pub mod acp;
mod capabilities;
mod connection;
pub mod copilot;
pub mod demo;
mod environment;
mod event;
pub mod failure;
pub mod headless;
mod json_file;
mod lines;
mod login;
mod mcp_servers;
mod model_names;
mod own_sessions;
mod private_file;
pub mod program;
mod pulse;
mod quarantine;
mod registry;
mod runtime;
pub mod transcript;

pub use capabilities::{Capabilities, ProcessUse, SystemPromptSupport};
pub use connection::{AgentCommand, Connection, QuestionAnswer, RequestAnswer, Restored, StartSpec, SuspendedTurn};
pub use environment::agent_environment;
pub use event::{AgentEvent, BlockEnd, BlockStart};
pub use login::{Login, LoginProgress, LoginRequest, LoginStage};
pub use model_names::ModelNames;
pub use own_sessions::{OwnSession, OwnSessions, Past};
pub use pulse::Pulse;
pub use quarantine::Quarantine;
pub use registry::{ModelChoice, ModelNotFound, RuntimeModels, RuntimeNotFound, Runtimes};
pub use runtime::{
    AgentProcess, BoxFuture, Freshness, LoginState, LoginStatus, Model, ModelList, Readiness, Runtime, StartError,
};
