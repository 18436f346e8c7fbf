//! Jobs as they are stored.

use std::path::PathBuf;

use super::CreationKey;
use crate::model::{JobId, JobStatus, Seq, SessionOrigin, Timestamp};

/// A job that is to be created. It runs from the start.
#[derive(Clone, Debug)]
pub struct NewJob {
    /// Its name in the entry.
    pub name: String,
    /// What it does, as JSON. It does not change, even when the entry does.
    pub plan: String,
    /// Where its tasks work.
    pub working_directory: PathBuf,
    /// What the user wrote; empty if nothing.
    pub user_input: String,
    /// Who creates it.
    pub origin: SessionOrigin,
    /// The creator's own key, to make a repetition harmless.
    pub key: Option<CreationKey>,
    /// When.
    pub now: Timestamp,
}

/// The result of a creation. It survives a power cut in every case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobCreation {
    /// A new job.
    New(JobId),
    /// The job that was created with the same key.
    Known(JobId),
    /// The key was used for something else.
    KeyReused,
}

/// How far a job, or a task outside a job, has come. It changes by [`super::Change::RunStatus`] and
/// [`super::Change::RunSettled`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunState {
    /// Its status.
    pub status: JobStatus,
    /// Why it could not be done, for people.
    pub error: Option<String>,
    /// When it started.
    pub started_at: Timestamp,
    /// When it ended, if it has.
    pub ended_at: Option<Timestamp>,
    /// It has ended, and nothing is left to do for it.
    pub is_settled: bool,
}

/// A job as lists show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobSummary {
    /// Which job.
    pub id: JobId,
    /// Its name in the entry.
    pub name: String,
    /// Where its tasks work.
    pub working_directory: PathBuf,
    /// What the user wrote; empty if nothing.
    pub user_input: String,
    /// Who created it.
    pub origin: SessionOrigin,
    /// How far it has come.
    pub run: RunState,
    /// The number of its last event; 0 for an empty log.
    pub last_seq: Seq,
}

/// Everything needed to continue a job after a restart, except its log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredJob {
    /// What lists show.
    pub summary: JobSummary,
    /// What it does, as JSON.
    pub plan: String,
    /// The number of its next event.
    pub next_seq: Seq,
}

/// Which jobs to list, newest first.
#[derive(Clone, Copy, Debug)]
pub struct JobFilter {
    /// Only those with this status.
    pub status: Option<JobStatus>,
    /// Only those that are older than this one.
    pub before: Option<JobId>,
    /// At most that many.
    pub limit: usize,
}
