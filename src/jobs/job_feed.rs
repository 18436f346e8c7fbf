//! The status of jobs, for the inbox.

use schemars::JsonSchema;
use serde::Serialize;

use super::progress::{Progress, WaitingView};
use crate::model::{JobId, JobStatus, Timestamp};
use crate::session::{FeedEntry, StatusFeed};

/// The status of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobFeedEntry {
    /// Which.
    pub job_id: JobId,
    /// Its name in the entry.
    pub job_name: String,
    /// What it is doing; `None` when it was deleted.
    pub status: Option<JobStatus>,
    /// What waits for a person.
    pub waiting: Vec<WaitingBrief>,
}

/// A summary of what waits for a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitingBrief {
    /// Its id.
    pub waiting_id: String,
    /// `gate` or `interrupted`.
    pub kind: &'static str,
    /// In one line.
    pub title: String,
    /// Since when.
    pub since: Timestamp,
}

impl JobFeedEntry {
    /// The status of a job that has come this far.
    pub fn new(job_id: JobId, job_name: String, progress: &Progress) -> Self {
        let brief = |waiting: &WaitingView| WaitingBrief {
            waiting_id: waiting.id.clone(),
            kind: waiting.subject.kind(),
            title: waiting.view.title.clone(),
            since: waiting.since,
        };
        let waiting = progress.waiting.values().map(brief).collect();
        Self { job_id, job_name, status: Some(progress.status), waiting }
    }
}

impl FeedEntry for JobFeedEntry {
    type Key = JobId;

    fn key(&self) -> JobId {
        self.job_id
    }

    fn is_over(&self) -> bool {
        self.status != Some(JobStatus::Running)
    }
}

/// The status of all jobs.
pub type JobFeed = StatusFeed<JobFeedEntry>;
