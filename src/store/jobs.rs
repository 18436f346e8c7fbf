//! The handle on the backend, for jobs: their records, their tasks, and the entries they come from.

use std::path::PathBuf;

use super::{
    JobCreation, JobFilter, JobSummary, NewJob, NewTaskRun, Store, StoreError, StoredJob, StoredTask, TrustedEntry,
};
use crate::model::{JobId, TaskId, Timestamp};

impl Store {
    /// Creates a job, which runs from the start. Its id and its key survive a power cut.
    pub async fn create_job(&self, new: NewJob) -> Result<JobCreation, StoreError> {
        self.backend.create_job(new).await
    }

    /// The job that was created with this key, and the fingerprint of that creation.
    pub async fn job_by_creation_key(&self, key: String) -> Result<Option<(JobId, String)>, StoreError> {
        self.backend.job_by_creation_key(key).await
    }

    /// A job with everything needed to continue it, except its log.
    pub async fn job(&self, id: JobId) -> Result<Option<StoredJob>, StoreError> {
        self.backend.job(id).await
    }

    /// A page of jobs, newest first.
    pub async fn jobs(&self, filter: JobFilter) -> Result<Vec<JobSummary>, StoreError> {
        self.backend.jobs(filter).await
    }

    /// Jobs that run, or ended after that moment, newest first.
    pub async fn recent_jobs(&self, since: Timestamp) -> Result<Vec<JobSummary>, StoreError> {
        self.backend.recent_jobs(since).await
    }

    /// Jobs that run, or have ended and are not settled, oldest first.
    pub async fn unsettled_jobs(&self) -> Result<Vec<JobId>, StoreError> {
        self.backend.unsettled_jobs().await
    }

    /// Deletes a job with its log, its tasks and their readers. Nothing may append to it any more. Its sessions stay.
    pub async fn delete_job(&self, id: JobId) -> Result<(), StoreError> {
        self.backend.delete_job(id).await
    }

    /// Reserves ids of tasks. Returns the first number; the others follow it. None is ever returned twice, even after a
    /// power cut.
    pub async fn reserve_task_ids(&self, count: u32) -> Result<u32, StoreError> {
        self.backend.reserve_task_ids(count).await
    }

    /// Creates a task that runs in a person's session, outside a job. It survives a power cut, and is deleted with the
    /// session.
    pub async fn create_task_run(&self, new: NewTaskRun) -> Result<(), StoreError> {
        self.backend.create_task_run(new).await
    }

    /// A task, of a job or of a person's session.
    pub async fn task(&self, id: TaskId) -> Result<Option<StoredTask>, StoreError> {
        self.backend.task(id).await
    }

    /// Tasks outside jobs that run, or have ended and are not settled, oldest first.
    pub async fn unsettled_task_runs(&self) -> Result<Vec<TaskId>, StoreError> {
        self.backend.unsettled_task_runs().await
    }

    /// Trusts an entry as long as its file has this hash; an earlier hash of the same file is no longer trusted. This
    /// survives a power cut.
    pub async fn trust_entry(&self, path: PathBuf, hash: String, now: Timestamp) -> Result<(), StoreError> {
        self.backend.trust_entry(TrustedEntry { path, hash, trusted_at: now }).await
    }

    /// Whether an entry is trusted, with exactly this hash.
    pub async fn is_trusted_entry(&self, path: PathBuf, hash: String) -> Result<bool, StoreError> {
        self.backend.is_trusted_entry(path, hash).await
    }

    /// All trusted entries, by path.
    pub async fn trusted_entries(&self) -> Result<Vec<TrustedEntry>, StoreError> {
        self.backend.trusted_entries().await
    }

    /// Stops trusting an entry, for good even if the power is cut. Returns whether it was trusted.
    pub async fn forget_trusted_entry(&self, path: PathBuf) -> Result<bool, StoreError> {
        self.backend.forget_trusted_entry(path).await
    }
}
