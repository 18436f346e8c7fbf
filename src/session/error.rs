//! Errors of commands to a session.

use crate::model::PromptId;
use crate::store::{ClosedRequest, StoreError};

/// Errors of any command to a session.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// It never existed, or was deleted.
    #[error("there is no such session")]
    NotFound,
    /// It is closed.
    #[error("the session is closed; reopen it first")]
    Closed,
    /// It is not closed.
    #[error("the session is already open")]
    NotClosed,
    /// The server is shutting down.
    #[error("the server is shutting down; start it again and repeat the request")]
    ShuttingDown,
    /// The runtime cannot do that.
    #[error("{0}")]
    Unsupported(String),
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a prompt was not accepted.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// As for any command.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// Nothing in it.
    #[error("the prompt is empty")]
    Empty,
    /// Too long.
    #[error("the prompt has {size} bytes and the limit is {limit}; shorten it, or raise limits.prompt_bytes")]
    TooLarge {
        /// Its size.
        size: usize,
        /// What is allowed.
        limit: usize,
    },
    /// Too many wait already.
    #[error("{limit} prompts are queued, which is the limit; wait for a turn to end, or raise limits.queued_prompts")]
    QueueFull {
        /// What is allowed.
        limit: usize,
    },
    /// The key was used for another prompt.
    #[error("the Idempotency-Key was used for another prompt of this session; use a new key for a new prompt")]
    KeyReused,
    /// No such prompt, or it was forgotten.
    #[error("there is no prompt {0} in this session")]
    NotFound(PromptId),
    /// It cannot be asked again, because its turn is not over.
    #[error("the turn of {0} has not ended; wait until it has, or interrupt it first")]
    NotOver(PromptId),
    /// It cannot be asked again, because it did its work.
    #[error("{0} has succeeded; to do the work again, send it as a new prompt")]
    Succeeded(PromptId),
    /// It does not wait any more, so it can be neither changed nor cancelled.
    #[error("{0} is no longer queued; only prompts whose turn has not begun can be changed or cancelled")]
    NotQueued(PromptId),
    /// Its text is not the one that the change was made from.
    #[error("the text of {0} has changed; read queuedPrompts of the session again and send its text as \"before\"")]
    PromptChanged(PromptId),
    /// The order names other prompts than those that wait.
    #[error("the queue has changed; read queuedPrompts of the session again and name each of them once")]
    QueueChanged,
    /// A budget is used up; the text names it and says what to do.
    #[error("{0}")]
    BudgetSpent(String),
    /// The runtime cannot take a prompt during a turn.
    #[error("the runtime {runtime} cannot take a prompt during a turn; queue the prompt, or interrupt the turn first")]
    SteeringNotSupported {
        /// Its name.
        runtime: String,
    },
}

/// Why an answer was not accepted.
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    /// As for any command.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// No such request.
    #[error("there is no such request in this session")]
    NotFound,
    /// It cannot be allowed for good like that.
    #[error("the request cannot be allowed permanently: {0}")]
    NotForGood(&'static str),
    /// It was already answered.
    #[error("the request was already answered with {:?} by {}", closed.decision, closed.by)]
    AlreadyAnswered {
        /// The answer, and by whom.
        closed: ClosedRequest,
    },
    /// A decision for a question, or the other way round.
    #[error("{0}")]
    WrongKind(&'static str),
    /// Required values of the form are missing.
    #[error("the form needs values for: {0}")]
    Incomplete(String),
}
