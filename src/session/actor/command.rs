//! What a session can be asked to do.

use tokio::sync::oneshot;

use crate::agent::{Past, RequestAnswer};
use crate::model::{AnsweredBy, Attachment, PermissionPolicy, PromptId, PromptOutcome, RequestId, SessionBudget};
use crate::session::{AnswerError, PromptError, SessionError};

/// What happens to a prompt that comes while a turn runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PromptMode {
    /// It waits for the turn's end.
    #[default]
    Queue,
    /// It is added to the running turn.
    Steer,
}

/// A prompt on its way in.
#[derive(Clone, Debug, Default)]
pub struct NewPrompt {
    /// What to do.
    pub text: String,
    /// What comes along.
    pub attachments: Vec<Attachment>,
    /// If a turn runs.
    pub mode: PromptMode,
    /// The caller's own key: a prompt with a known key is accepted and does nothing.
    pub idempotency_key: Option<String>,
}

/// A prompt was accepted, now or before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// Its id.
    pub prompt: PromptId,
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

/// A session that the agent had before, and what happened in it.
pub(in crate::session) struct Adoption {
    pub agent_session_id: String,
    pub past: Vec<Past>,
}

type Reply<T, E = SessionError> = oneshot::Sender<Result<T, E>>;

pub(in crate::session) enum Command {
    Prompt(Box<NewPrompt>, Reply<Accepted, PromptError>),
    /// Gives a receiver if the prompt's turn is not over yet.
    AwaitOutcome(PromptId, oneshot::Sender<Option<oneshot::Receiver<PromptOutcome>>>),
    Interrupt(Reply<bool>),
    Close(Reply<()>),
    Reopen(Reply<()>),
    TryAgain(Reply<()>),
    Adopt(Box<Adoption>, Reply<()>),
    Update(Box<SessionUpdate>, Reply<()>),
    Answer {
        request_id: RequestId,
        answer: RequestAnswer,
        by: AnsweredBy,
        reply: Reply<(), AnswerError>,
    },
    ShutDown(oneshot::Sender<()>),
}
