//! What can happen to a session.

use std::sync::Arc;
use std::time::Duration;

use crate::agent::{AgentEvent, Pending, QueuePosition, RequestAnswer, Restored, StartError};
use crate::model::{Always, AnsweredBy, AttachedFile, RequestId, Timestamp, ToolImage, Usage};
use crate::session::SessionSettings;
use crate::session::actor::{NewPrompt, QueueChange, SessionUpdate};
use crate::session::folder_rules::FolderRuleSet;
use crate::store::{KnownPrompt, StoreError};

/// What the rules may know about the world.
pub(in crate::session) struct Context {
    /// Monotonic time since some moment before the session was loaded.
    pub now: Duration,
    /// The time of day.
    pub time: Timestamp,
    pub settings: Arc<SessionSettings>,
    pub folder_rules: FolderRuleSet,
    pub abilities: Abilities,
    /// What all sessions have used today.
    pub day_usage: Usage,
    /// The store refuses writes for now.
    pub store_refuses: bool,
    /// The server is being stopped.
    pub stopping: bool,
    /// Since when nobody who could answer has been watching.
    pub unattended_since: Option<Duration>,
    /// A random number from 0 to 1, to keep sessions from retrying in step.
    pub spread: f64,
}

/// The capabilities of a runtime that matter to the rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is one capability")]
pub(in crate::session) struct Abilities {
    pub steering: bool,
    pub model_switch: bool,
    pub model_retries: bool,
    /// A turn that waits for a permission continues in a new connection.
    pub durable_requests: bool,
    /// The same for questions.
    pub durable_questions: bool,
    /// The agent asks for each permission; otherwise it is given the policy.
    pub permissions: bool,
    pub session_resume: bool,
    pub demo: bool,
    /// Every turn has its own process.
    pub process_per_turn: bool,
    /// Our own MCP server offers the job tools.
    pub own_server: bool,
}

/// Something that happens. The next input is taken when the outputs of this one have been carried out.
pub(in crate::session) enum Input {
    /// The session was just created: its agent is started before the first prompt, so that problems show early.
    Created,
    /// The session was loaded; what an earlier run left open has been replayed.
    Restarted,
    /// Prompts that were queued when the server stopped may run.
    QueueResumed,
    Command(Command),
    Agent(AgentInput),
    /// The connection is open.
    Opened(Opened),
    OpenFailed(StartError),
    /// The agent waits for a process.
    Queued(QueuePosition),
    /// The turn may have a process.
    TurnSlotGranted,
    /// Another session waits for a process.
    ProcessWanted,
    /// Somebody may have logged in.
    LoginChanged,
    /// The rules of folders may have changed.
    RulesChanged,
    /// The connection ended.
    Lost(String),
    /// What a probe of a silent agent found.
    Probed {
        alive: bool,
    },
    /// The store began to refuse writes.
    StoreRefuses(String),
    StoreRecovered,
    /// A deadline may have passed.
    Deadline,
    /// The result of the last [`super::Output::Commit`].
    Committed(Result<(), StoreError>),
}

/// A connection that was opened.
pub(in crate::session) struct Opened {
    pub agent_session_id: Option<String>,
    pub restored: Restored,
    /// Whether the agent can be probed.
    pub can_probe: bool,
    /// What the agent still waits for, of a turn that was suspended.
    pub pending: Pending,
    /// The summary that [`super::Machine::needs_summary`] asked for.
    pub summary: Option<String>,
}

/// What a session is asked to do.
#[expect(clippy::large_enum_variant, reason = "commands are moved once, into the actor")]
pub(in crate::session) enum Command {
    Prompt {
        prompt: Box<NewPrompt>,
        /// Its attachments, stored.
        files: Vec<AttachedFile>,
        /// The prompt that was accepted with the same key before.
        known: Option<KnownPrompt>,
        /// A warning that the agent probably does not know the session's model.
        model_warning: Option<String>,
    },
    Queue(QueueChange),
    Interrupt,
    Close,
    Reopen,
    TryAgain,
    Adopt {
        agent_session_id: String,
        past: Vec<PastInput>,
    },
    Update {
        update: SessionUpdate,
        model_warning: Option<String>,
    },
    Answer {
        request_id: RequestId,
        answer: RequestAnswer,
        /// What an answer means that is given for good.
        always: Always,
        by: AnsweredBy,
    },
    ShutDown,
}

/// A piece of a session that was imported.
pub(in crate::session) enum PastInput {
    Prompt(String),
    Event(Box<AgentInput>),
}

/// An agent's event, with large content already stored.
pub(in crate::session) enum AgentInput {
    /// Every other event.
    Event(AgentEvent),
    /// A block ended; what was too large for the log is in blobs.
    BlockEnded { end: crate::agent::BlockEnd, stored: Stored },
    /// A tool made a picture; comes before the end of its call.
    Image { tool_call_id: String, image: Option<ToolImage>, stored: Stored },
    Usage {
        usage: Usage,
        /// What all sessions have used today, this report included.
        of_day: Usage,
    },
}

/// The result of storing large content.
#[derive(Debug, Default)]
pub(in crate::session) struct Stored {
    pub blobs: Vec<StoredBlob>,
    /// Notices about content that was cut or left out.
    pub limits: Vec<String>,
}

#[derive(Debug)]
pub(in crate::session) struct StoredBlob {
    pub hash: String,
    pub mime: String,
    pub size: u64,
}
