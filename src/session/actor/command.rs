//! Commands to a session.

use tokio::sync::oneshot;

use crate::agent::{Past, RequestAnswer};
use crate::model::{
    Always, AnsweredBy, Attachment, PermissionPolicy, PromptAuthor, PromptId, RequestId, Seq, SessionBudget,
};
use crate::session::{AnswerError, PromptError, SessionError};

/// What happens to a prompt that arrives during a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PromptMode {
    /// It waits for the turn's end.
    #[default]
    Queue,
    /// It is added to the running turn.
    Steer,
    /// It waits for the turn's end, but before all others that wait: it repeats work that was cut off.
    First,
}

/// A prompt that is to be accepted.
#[derive(Clone, Debug, Default)]
pub struct NewPrompt {
    /// The text.
    pub text: String,
    /// Its attachments.
    pub attachments: Vec<Attachment>,
    /// What happens if a turn is running.
    pub mode: PromptMode,
    /// Who wrote it.
    pub author: PromptAuthor,
    /// The caller's own key: a prompt with a known key is accepted and does nothing.
    pub idempotency_key: Option<String>,
}

/// A prompt was accepted, now or before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// Its id.
    pub prompt: PromptId,
}

/// A change of prompts that wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueueChange {
    /// Another text.
    Text {
        /// Of which prompt.
        prompt: PromptId,
        /// The whole new text.
        text: String,
        /// The text that it replaces, if the change is not to replace any other.
        before: Option<String>,
    },
    /// It is not sent.
    Cancel {
        /// Which.
        prompt: PromptId,
    },
    /// All prompts that wait, in the order in which they are to be sent.
    Order(Vec<PromptId>),
}

/// What may be changed in an open session.
#[derive(Clone, Debug, Default)]
pub struct SessionUpdate {
    /// A new title.
    pub title: Option<String>,
    /// A new model.
    pub model: Option<String>,
    /// A new effort.
    pub effort: Option<String>,
    /// A new permission policy.
    pub permissions: Option<PermissionPolicy>,
    /// New limits of its own; they replace all that it had.
    pub budget: Option<SessionBudget>,
}

/// A session that the agent already has, and its history.
pub(in crate::session) struct Adoption {
    pub agent_session_id: String,
    pub past: Vec<Past>,
}

type Reply<T, E = SessionError> = oneshot::Sender<Result<T, E>>;

pub(in crate::session) enum Command {
    Prompt(Box<NewPrompt>, Reply<Accepted, PromptError>),
    /// Replies with a receiver if the prompt's turn is not over yet.
    AwaitOutcome(PromptId, oneshot::Sender<Option<oneshot::Receiver<()>>>),
    Queue(QueueChange, Reply<(), PromptError>),
    Interrupt(Reply<bool>),
    Close(Reply<()>),
    Reopen(Reply<()>),
    TryAgain(Reply<()>),
    Adopt(Box<Adoption>, Reply<()>),
    Update(Box<SessionUpdate>, Reply<()>),
    Answer {
        request_id: RequestId,
        answer: RequestAnswer,
        always: Always,
        by: AnsweredBy,
        reply: Reply<(), AnswerError>,
    },
    /// A page has shown the session up to this event.
    Seen(Seq, oneshot::Sender<()>),
    ShutDown(oneshot::Sender<()>),
}
