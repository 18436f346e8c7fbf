//! Errors of commands about jobs.

use crate::model::{AnsweredBy, JobStatus};
use crate::session::WorkingDirectoryError;
use crate::store::StoreError;

/// Why something could not be done with a job or a task.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// There is no such job.
    #[error("there is no such job; GET /api/jobs lists all jobs")]
    NotFound,
    /// There is no such task, or it is over.
    #[error("there is no such task, or it is over")]
    TaskNotFound,
    /// The task borrows a session.
    #[error("the task runs in a user's session; interrupt or close that session instead")]
    TaskCannotClose,
    /// The job is over.
    #[error("the job is over: {0}")]
    Over(JobStatus),
    /// The job runs.
    #[error("the job is running; only a failed or stopped job can be retried")]
    NotStopped,
    /// The job succeeded.
    #[error("the job succeeded, so there is nothing to retry; start it again instead")]
    Succeeded,
    /// What the person was shown is no longer true.
    #[error("what you were shown has changed; review it and answer with its new digest")]
    GateChanged,
    /// Somebody decided before.
    #[error("it was already {} by {}", if *approved { "approved" } else { "rejected" }, by.as_str())]
    GateAnswered {
        /// How.
        approved: bool,
        /// Where the answer came from.
        by: AnsweredBy,
    },
    /// Nothing with that id waits.
    #[error("nothing with that id waits for a decision")]
    GateClosed,
    /// No entry is installed.
    #[error("no entry is installed; POST api/copilot/test/installJobsEntry installs one")]
    NoEntry,
    /// The entry has errors.
    #[error("the entry has errors: {0}")]
    InvalidEntry(String),
    /// The entry of a folder is not trusted.
    #[error(
        "the jobs of {path} are not trusted yet: look at them with `flightdeck jobs check`, then trust them with \
         `flightdeck jobs trust`"
    )]
    EntryNotTrusted {
        /// The file.
        path: String,
    },
    /// The file has changed.
    #[error("the file has changed since you looked at it; look at it again")]
    EntryChanged,
    /// The entry has no such job.
    #[error("there is no job {name:?}; available jobs: {}", known.join(", "))]
    NoSuchJob {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The entry has no such task.
    #[error("there is no task {name:?}; available tasks: {}", known.join(", "))]
    NoSuchTask {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The job needs input.
    #[error("the job {0:?} needs user input")]
    UserInputRequired(String),
    /// The job takes no input.
    #[error("the job {0:?} takes no user input")]
    UserInputNotAllowed(String),
    /// The entry has no such category of models.
    #[error("there is no model category {name:?}; available categories: {}", known.join(", "))]
    NoSuchCategory {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The folder cannot be used.
    #[error(transparent)]
    WorkingDirectory(#[from] WorkingDirectoryError),
    /// A job needs a folder.
    #[error("a job needs a working directory")]
    NoWorkingDirectory,
    /// The session cannot be used.
    #[error("the task {task:?} needs the tools of jobs, which {session} does not have: {reason}")]
    NoJobTools {
        /// The task.
        task: String,
        /// The session.
        session: String,
        /// Why not, and what to do.
        reason: String,
    },
    /// There is no such session.
    #[error("there is no such session")]
    SessionNotFound,
    /// The key was used for another job.
    #[error("the Idempotency-Key was used to start a different job; use a new key for a new job")]
    KeyReused,
    /// The server is shutting down.
    #[error("the server is shutting down; start it again and repeat the request")]
    ShuttingDown,
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
}
