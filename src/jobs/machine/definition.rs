//! What a run is about.

use std::sync::Arc;

use crate::jobs::entry::Plan;
use crate::model::{SessionId, TaskId};

/// What the rules need to know about a job or a task outside a job.
#[derive(Clone, Debug)]
pub struct RunDefinition {
    /// Job and tasks.
    pub plan: Arc<Plan>,
    /// What the user gave.
    pub user_input: String,
    /// The session and its model, for a task outside a job.
    pub borrowed: Option<Borrowed>,
}

/// A task in somebody's session.
#[derive(Clone, Debug)]
pub struct Borrowed {
    /// The id of the run.
    pub task_id: TaskId,
    /// The task's name.
    pub task_name: String,
    /// The session.
    pub session: SessionId,
    /// The session's model.
    pub model: String,
}
