//! Agent runtimes: their common interface, the registry, and one folder per runtime.
//!
//! Invariants: a runtime never touches the store or HTTP, its wire types stay in its folder, and everything an agent
//! sends reaches a session as an [`AgentEvent`]. Unknown messages are kept as raw JSON and never break a turn. The rest
//! of the code branches on [`Capabilities`], never on a runtime's name.
//!
//! Every user of an agent (a session, the permission canary, a capture, a job: an [`Owner`]) goes through
//! [`Runtimes::open`]. It returns a [`PendingConnection`], whose [`PendingConnection::next`] reports the position in the
//! queue for agent processes and then the outcome. The [`Connection`] holds a process slot, where the runtime starts a
//! process for each connection, and the lease of the agent's session, until it is closed. Where the runtime starts a
//! process for each turn, the owner asks the connection for a slot before the turn
//! ([`Connection::request_turn_slot`]) and drops it after. An owner that is idle closes its connection when
//! [`Runtimes::process_wanted`] resolves and [`Connection::holds_process`] is true.

pub mod acp;
mod capabilities;
mod conformance;
mod connection;
pub mod copilot;
pub mod demo;
mod environment;
mod event;
pub mod failure;
mod fork;
pub mod headless;
mod job_tools;
mod lines;
mod liveness;
mod login;
mod model_names;
mod option_values;
mod own_sessions;
mod owner;
mod pending_connection;
mod permission_title;
mod process_slots;
pub mod program;
mod quarantine;
mod registry;
mod runtime;
mod session_leases;
mod session_option;
mod tools;
pub mod transcript;

pub use capabilities::{Capabilities, ProcessUse, SystemPromptSupport};
pub use conformance::{Area, AssumptionResult, Capability, ConformanceReport, ConformanceResults, PastResult};
pub use connection::{
    AgentCommand, Connection, Pending, QuestionAnswer, RequestAnswer, Restored, StartSpec, SuspendedTurn,
};
pub use environment::agent_environment;
pub use event::{AgentEvent, BlockEnd, BlockStart};
pub use fork::AgentFork;
pub use job_tools::{job_tool_answer, job_tools};
pub use liveness::Liveness;
pub use login::{Login, LoginProgress, LoginRequest, LoginStage};
pub use model_names::ModelNames;
pub use own_sessions::{OwnSession, OwnSessions, Past};
pub use owner::Owner;
pub use pending_connection::{OpeningStep, PendingConnection};
pub use process_slots::{ProcessSlot, QueuePosition, SlotRequest, SlotStep};
pub use quarantine::Quarantine;
pub use registry::{ListedModel, ModelChoice, ModelNotFound, RuntimeModels, RuntimeNotFound, Runtimes};
pub use runtime::{
    AgentProcess, BoxFuture, Freshness, LoginState, LoginStatus, Model, ModelList, Readiness, Runtime, StartError,
};
pub use session_option::{Channel, OptionChoice, OptionKind, SessionOption};
pub use tools::{DeclaredTool, DeclaredTools, ToolAccess, ToolAnswer, ToolRequest};
