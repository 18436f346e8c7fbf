//! A live connection to one agent session.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::pending_connection::Held;
use super::process_slots::SlotRequest;
use super::{AgentEvent, DeclaredTools, Liveness, Owner, ToolAnswer};
use crate::model::{
    Attachment, Decision, JobTool, McpServer, OpenRequest, PermissionPolicy, PromptId, ProviderChoice, SessionOptions,
    TurnId, merged_mcp_servers,
};

/// What a runtime needs to know to open a connection.
#[derive(Clone, Debug)]
pub struct StartSpec {
    /// The owner of the connection.
    pub owner: Owner,
    /// The model's id; empty for the agent's default.
    pub model: String,
    /// Reasoning effort.
    pub effort: Option<String>,
    /// The working directory.
    pub working_directory: Option<PathBuf>,
    /// Text put before the agent's own instructions.
    pub system_prompt: Option<String>,
    /// The model provider; `None` lets the model name and the agent decide.
    pub provider: Option<ProviderChoice>,
    /// MCP servers in addition to the configured ones, by name; `None` removes a configured one.
    pub mcp_servers: BTreeMap<String, Option<McpServer>>,
    /// Our own MCP server, [`JobTool::SERVER`]. Its tools need no permission.
    pub own_server: Option<McpServer>,
    /// Options specific to this runtime.
    pub options: Map<String, Value>,
    /// The environment for child processes, without Flightdeck's own variables.
    pub environment: BTreeMap<String, String>,
    /// What the agent may do, for runtimes that cannot ask while a turn runs.
    pub permissions: PermissionPolicy,
    /// The agent's own session to resume.
    pub agent_session_id: Option<String>,
    /// The id of a new session of the agent, if the owner chooses it; only for runtimes with `custom_tools`.
    pub new_session_id: Option<String>,
    /// Tools that the owner of the connection answers. Only for runtimes with `custom_tools`.
    pub tools: Option<DeclaredTools>,
    /// A turn that was waiting for the user when the last connection ended. Only for runtimes with `durable_requests` or
    /// `durable_questions`.
    pub suspended: Option<SuspendedTurn>,
}

impl StartSpec {
    /// A new session in a folder, with everything else left to the agent.
    pub fn in_folder(owner: Owner, folder: &Path) -> Self {
        Self {
            owner,
            model: String::new(),
            effort: None,
            working_directory: Some(folder.to_owned()),
            system_prompt: None,
            provider: None,
            mcp_servers: BTreeMap::new(),
            own_server: None,
            options: Map::new(),
            environment: BTreeMap::new(),
            permissions: PermissionPolicy::default(),
            agent_session_id: None,
            new_session_id: None,
            tools: None,
            suspended: None,
        }
    }

    /// The same with a session's options.
    #[must_use]
    pub fn with_options(self, options: SessionOptions) -> Self {
        let SessionOptions { provider, mcp_servers, other } = options;
        Self { provider, mcp_servers, options: other, ..self }
    }

    /// All MCP servers of the session, given the configured ones.
    pub(super) fn all_mcp_servers(&self, configured: &BTreeMap<String, McpServer>) -> BTreeMap<String, McpServer> {
        let mut servers = merged_mcp_servers(configured, &self.mcp_servers);
        if let Some(own) = &self.own_server {
            servers.insert(JobTool::SERVER.to_owned(), own.clone());
        }
        servers
    }
}

/// A turn that continues as soon as the user answers.
#[derive(Clone, Debug)]
pub struct SuspendedTurn {
    /// The turn's id, as the agent or we gave it.
    pub turn_id: TurnId,
    /// The requests that it waits for, answered or not.
    pub requests: Vec<OpenRequest>,
}

/// What an agent still waits for after its session was resumed with a suspended turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Pending {
    /// Everything that it waited for.
    #[default]
    All,
    /// The requests with these ids of the agent.
    Only(Vec<String>),
}

impl Pending {
    /// Whether the agent still waits for the answer to a request.
    pub fn includes(&self, agent_request_id: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(ids) => ids.iter().any(|id| id == agent_request_id),
        }
    }
}

/// The user's answer, to be sent to the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestAnswer {
    /// The answer to a permission request.
    Permission {
        /// The decision.
        decision: Decision,
        /// The user's feedback.
        feedback: Option<String>,
    },
    /// The answer to a question.
    Question(QuestionAnswer),
}

/// The user's answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuestionAnswer {
    /// Free text, or one of the choices.
    Text(String),
    /// The values of a form.
    Form(Map<String, Value>),
    /// The user declined.
    Declined,
    /// Nobody was available to answer.
    Nobody,
}

impl QuestionAnswer {
    /// The text for the log; `None` if there was no answer.
    pub fn shown(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.clone()),
            Self::Form(values) => Some(Value::Object(values.clone()).to_string()),
            Self::Declined | Self::Nobody => None,
        }
    }
}

/// Commands that a session sends to an agent.
#[derive(Clone, Debug)]
pub enum AgentCommand {
    /// Start a turn. Only sent while no turn is running.
    Prompt {
        /// The session's id of the turn, for agents that have none.
        turn_id: TurnId,
        /// The text.
        text: String,
        /// The attachments.
        attachments: Vec<Attachment>,
    },
    /// Add to the running turn. Only for runtimes with `steering`.
    Steer {
        /// The prompt.
        prompt: PromptId,
        /// The text.
        text: String,
        /// The attachments.
        attachments: Vec<Attachment>,
    },
    /// End the running turn; the agent answers with [`AgentEvent::Idle`].
    Interrupt,
    /// The answer to a request.
    Answer {
        /// The agent's id for the request.
        agent_request_id: String,
        /// The answer.
        answer: RequestAnswer,
    },
    /// The results of declared tools, with the agent's ids for the requests; they reach the agent in this order. Only for
    /// connections with declared tools.
    AnswerTools(Vec<(String, ToolAnswer)>),
    /// Use another model or effort from the next turn on. Only for runtimes with `modelSwitch`.
    Configure {
        /// The model's id.
        model: String,
        /// Reasoning effort.
        effort: Option<String>,
    },
    /// The connection is about to be closed, and the turn is to continue in a later one: what waits for the user must not
    /// be cancelled. Only for runtimes with `durable_requests` or `durable_questions`.
    Suspend,
    /// The permission policy has changed. Only for runtimes without `permissions`; the others ask each time.
    Permit(PermissionPolicy),
}

/// How the agent's own session was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Restored {
    /// It is new.
    #[default]
    New,
    /// It was resumed.
    Whole,
    /// It was resumed, but the agent's record of its last turn is incomplete.
    Incomplete,
}

/// A live connection: commands in, events out, both bounded. Dropping it ends the agent's side.
pub struct Connection {
    /// Commands to the agent.
    pub commands: mpsc::Sender<AgentCommand>,
    /// Events from the agent. After [`AgentEvent::Gone`], or when the channel ends, the connection is no longer usable.
    pub events: mpsc::Receiver<AgentEvent>,
    /// The agent's own session id, to resume it later.
    pub agent_session_id: Option<String>,
    /// How it was opened.
    pub restored: Restored,
    /// What the agent still waits for, of the suspended turn.
    pub pending: Pending,
    /// Set when closing the connection deleted the agent's session.
    discarded: Arc<AtomicBool>,
    task: JoinHandle<()>,
    ends_when_dropped: DropGuard,
    liveness: Option<Arc<dyn Liveness>>,
    held: Held,
}

impl Connection {
    /// A connection served by `task`, which must end soon after `cancelled` is.
    pub fn new(
        commands: mpsc::Sender<AgentCommand>,
        events: mpsc::Receiver<AgentEvent>,
        agent_session_id: Option<String>,
        task: JoinHandle<()>,
        cancelled: CancellationToken,
    ) -> Self {
        let (restored, ends_when_dropped) = (Restored::New, cancelled.drop_guard());
        Self {
            commands,
            events,
            agent_session_id,
            restored,
            pending: Pending::default(),
            discarded: Arc::default(),
            task,
            ends_when_dropped,
            liveness: None,
            held: Held::default(),
        }
    }

    /// The same connection, to a resumed agent session.
    #[must_use]
    pub fn with_restored(mut self, restored: Restored) -> Self {
        self.restored = restored;
        self
    }

    /// The same connection, to an agent that still waits for these answers.
    #[must_use]
    pub fn with_pending(mut self, pending: Pending) -> Self {
        self.pending = pending;
        self
    }

    /// The same connection, with a flag that is set when closing it deleted the agent's session.
    #[must_use]
    pub fn with_discarded(mut self, discarded: Arc<AtomicBool>) -> Self {
        self.discarded = discarded;
        self
    }

    /// The same connection, with a way to check whether its agent is alive.
    #[must_use]
    pub fn with_liveness(mut self, liveness: Arc<dyn Liveness>) -> Self {
        self.liveness = Some(liveness);
        self
    }

    /// The same connection, with what it keeps until it is closed.
    #[must_use]
    pub(super) fn holding(mut self, held: Held) -> Self {
        self.held = held;
        self
    }

    /// How to check whether the agent is alive; `None` where there is no way.
    pub fn liveness(&self) -> Option<&Arc<dyn Liveness>> {
        self.liveness.as_ref()
    }

    /// Whether the connection holds one of the limited agent processes.
    pub fn holds_process(&self) -> bool {
        self.held.slot.is_some()
    }

    /// Requests a process slot for one turn; `None` if a turn needs none of its own.
    pub fn request_turn_slot(&self) -> Option<SlotRequest> {
        Some(self.held.turn_slots.as_ref()?.request())
    }

    /// Closes the connection and waits until its task has ended. Only then are its process slot and the agent's session
    /// released. Returns whether the agent's session was deleted, which happens if the agent was only a model.
    pub async fn close(self) -> bool {
        let Self { commands, events, task, ends_when_dropped, held, discarded, .. } = self;
        drop((commands, events, ends_when_dropped));
        if let Err(error) = task.await
            && error.is_panic()
        {
            tracing::error!(error = %error, "agent connection ended in a panic");
        }
        drop(held);
        discarded.load(Ordering::Acquire)
    }
}
