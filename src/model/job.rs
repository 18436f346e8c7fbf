//! What the rest of the program knows of a job.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::words::words;
use super::{JobId, TaskId};

words! {
    /// The status of a job, as the portal writes it.
    pub enum JobStatus {
        /// It runs, or waits for a person.
        Running = "Running",
        /// Its work succeeded.
        Succeeded = "Succeeded",
        /// Its work failed, or could not be done.
        Failed = "Failed",
        /// Somebody stopped it.
        Canceled = "Canceled",
    }
}

/// The task that a session works for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionJob {
    /// The job.
    pub job_id: JobId,
    /// The job's name in its entry.
    pub job_name: String,
    /// The task that runs.
    pub task_id: TaskId,
    /// The task's name in the entry.
    pub task_name: String,
    /// The work within the job.
    pub work_id: u32,
    /// It drives the task: it checks, and does the work too unless the task has sessions of its own.
    pub is_driving: bool,
}
