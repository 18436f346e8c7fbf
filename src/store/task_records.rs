//! Tasks as they are stored: those of jobs, and those that run in a person's session.

use super::RunState;
use crate::model::{JobId, Seq, SessionId, TaskId, Timestamp};

/// A task that is to run in a person's session, outside a job. It has a log of its own.
#[derive(Clone, Debug)]
pub struct NewTaskRun {
    /// Its id, reserved before.
    pub task: TaskId,
    /// Its name in the entry.
    pub name: String,
    /// What it does, as JSON. It does not change, even when the entry does.
    pub plan: String,
    /// Where it runs.
    pub session: SessionId,
    /// What the user wrote; empty if nothing.
    pub user_input: String,
    /// When.
    pub now: Timestamp,
}

/// A task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTask {
    /// Which task.
    pub id: TaskId,
    /// What it belongs to.
    pub owner: TaskOwner,
}

/// What a task belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskOwner {
    /// A job, in whose log it is. Added by [`super::Change::TaskCreated`].
    Job {
        /// Which job.
        job: JobId,
        /// The work within the job.
        work_id: u32,
    },
    /// A person's session, outside a job.
    Session(Box<StoredTaskRun>),
}

/// A task that runs or ran in a person's session, with everything needed to continue it, except its log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTaskRun {
    /// Where it runs.
    pub session: SessionId,
    /// Its name in the entry.
    pub name: String,
    /// What it does, as JSON.
    pub plan: String,
    /// What the user wrote; empty if nothing.
    pub user_input: String,
    /// How far it has come.
    pub run: RunState,
    /// The number of its next event.
    pub next_seq: Seq,
}
