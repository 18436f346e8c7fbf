//! The interface of a backend beside the log: queries and changes of records. How a backend stores them is its own
//! business; what it must do is in the behavioural suite (`suite/`), which every backend passes.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;

use tokio::sync::watch;

use super::{
    Blob, BlobUse, BrowserId, CaptureCall, CaptureCallId, CaptureSession, CaptureUsage, ClosedRequest, Creation,
    DeliveryId, DeliveryProgress, HappeningId, JobCreation, JobFilter, JobSummary, KnownPrompt, Log, NewBrowser,
    NewDelivery, NewJob, NewSessionRecord, NewTaskRun, NewToken, OutcomeSeq, QueuedPrompt, ReaderPosition, Revocation,
    SearchIndex, SessionFilter, StoreError, StoreHealth, StoreStatistics, StoredBrowser, StoredCaptureCall,
    StoredDelivery, StoredFolderRule, StoredHappening, StoredJob, StoredLogin, StoredOutcome, StoredSession,
    StoredTask, StoredToken, TrustedEntry, UsageGrouping, UsageReport, UsageRow,
};
use crate::model::{
    Day, JobId, PromptVerdict, Seq, SessionId, SessionState, SessionSummary, StreamId, TaskId, Timestamp, TokenId,
    UsageTotal,
};

/// A backend's future result.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// Sessions: creating, finding, listing and deleting them. They change by [`super::Change`]s in appends.
pub trait SessionRecords {
    /// Creates a session. Its id and its key survive a power cut.
    fn create_session(&self, new: NewSessionRecord) -> Answer<'_, Creation>;
    /// The session that was created with this key and the fingerprint of that creation.
    fn session_by_creation_key(&self, key: String) -> Answer<'_, Option<(SessionId, String)>>;
    /// A session as lists show it.
    fn session(&self, id: SessionId) -> Answer<'_, Option<SessionSummary>>;
    /// A session with everything needed to continue it.
    fn load_session(&self, id: SessionId) -> Answer<'_, Option<StoredSession>>;
    /// A page of sessions, newest first.
    fn sessions(&self, filter: SessionFilter) -> Answer<'_, Vec<SessionSummary>>;
    /// How many sessions are in each state.
    fn session_counts(&self) -> Answer<'_, Vec<(SessionState, u64)>>;
    /// The agents' own ids of a runtime's sessions, with ours, newest first.
    fn agent_sessions(&self, runtime: String) -> Answer<'_, Vec<(String, SessionId)>>;
    /// The folders of the newest sessions, each once, newest first.
    fn recent_working_directories(&self, limit: usize) -> Answer<'_, Vec<PathBuf>>;
    /// Sessions with an open turn or an open request.
    fn unfinished_sessions(&self) -> Answer<'_, Vec<SessionId>>;
    /// Open sessions with queued prompts.
    fn sessions_with_queued_prompts(&self) -> Answer<'_, Vec<SessionId>>;
    /// Sets sessions without an open turn or request to ready, if the last run left them busy.
    fn settle_states(&self) -> Answer<'_, ()>;
    /// A page has shown a session up to this event. Never moves back, and does not count as something that happened in
    /// the session.
    fn mark_seen(&self, id: SessionId, through: Seq) -> Answer<'_, ()>;
    /// The session that was closed first, if it was closed before that moment.
    fn longest_closed(&self, before: Timestamp) -> Answer<'_, Option<SessionId>>;
    /// Deletes a session and all that belongs to it but its usage: also the tasks that ran in it outside jobs. The
    /// session's actor must be gone.
    fn delete_session(&self, id: SessionId) -> Answer<'_, ()>;
}

/// Prompts, outcomes and requests.
pub trait PromptRecords {
    /// The prompt that was sent with that key.
    fn prompt_by_key(&self, session: SessionId, key: String) -> Answer<'_, Option<KnownPrompt>>;
    /// The prompt with that number.
    fn prompt(&self, session: SessionId, number: u32) -> Answer<'_, Option<KnownPrompt>>;
    /// The prompt with that number, with its attachments as far as they are kept: until it has succeeded.
    fn whole_prompt(&self, session: SessionId, number: u32) -> Answer<'_, Option<QueuedPrompt>>;
    /// How the turns of a session's prompts ended, by the numbers of the prompts; those that have not ended are left out.
    fn prompt_verdicts(&self, session: SessionId) -> Answer<'_, Vec<(u32, PromptVerdict)>>;
    /// How many prompts are queued in all sessions.
    fn queued_prompt_count(&self) -> Answer<'_, u64>;
    /// How many requests of all sessions wait for a person.
    fn open_request_count(&self) -> Answer<'_, u64>;
    /// Outcomes of all sessions after a number, in the order in which turns ended.
    fn outcomes_after(&self, after: OutcomeSeq, limit: usize) -> Answer<'_, Vec<StoredOutcome>>;
    /// The number of the newest outcome, and changes of it.
    fn newest_outcome(&self) -> watch::Receiver<OutcomeSeq>;
    /// How a request was closed; `None` when it is unknown or still open.
    fn closed_request(&self, session: SessionId, id: String) -> Answer<'_, Option<ClosedRequest>>;
}

/// Reader positions and logged-in browsers.
pub trait ReaderRecords {
    /// The readers of a stream.
    fn reader_positions(&self, stream: StreamId) -> Answer<'_, Vec<ReaderPosition>>;
    /// Saves reader positions, except those of deleted sessions, jobs and tasks.
    fn save_reader_positions(&self, positions: Vec<ReaderPosition>) -> Answer<'_, ()>;
    /// Deletes readers with a token that have not read since that moment.
    fn expire_readers(&self, before: Timestamp) -> Answer<'_, ()>;
    /// Keeps a login until it expires; removes those that have expired.
    fn add_login(&self, login: StoredLogin, now: Timestamp) -> Answer<'_, ()>;
    /// The browsers that are logged in.
    fn logins(&self, now: Timestamp) -> Answer<'_, Vec<StoredLogin>>;
}

/// Jobs: creating, finding, listing and deleting them. They change by [`super::Change`]s in appends.
pub trait JobRecords {
    /// Creates a job, which runs from the start. Its id and its key survive a power cut.
    fn create_job(&self, new: NewJob) -> Answer<'_, JobCreation>;
    /// The job that was created with this key, and the fingerprint of that creation.
    fn job_by_creation_key(&self, key: String) -> Answer<'_, Option<(JobId, String)>>;
    /// A job with everything needed to continue it, except its log.
    fn job(&self, id: JobId) -> Answer<'_, Option<StoredJob>>;
    /// A page of jobs, newest first.
    fn jobs(&self, filter: JobFilter) -> Answer<'_, Vec<JobSummary>>;
    /// Jobs that run, or ended after that moment, newest first.
    fn recent_jobs(&self, since: Timestamp) -> Answer<'_, Vec<JobSummary>>;
    /// Jobs that run, or have ended and are not settled, oldest first.
    fn unsettled_jobs(&self) -> Answer<'_, Vec<JobId>>;
    /// Deletes a job with its log, its tasks and their readers. Nothing may append to it any more. Its sessions stay.
    fn delete_job(&self, id: JobId) -> Answer<'_, ()>;
}

/// Tasks of jobs and of persons' sessions.
pub trait TaskRecords {
    /// Reserves ids of tasks. Returns the first number; the others follow it. None is ever returned twice, even after a
    /// power cut.
    fn reserve_task_ids(&self, count: u32) -> Answer<'_, u32>;
    /// Creates a task that runs in a person's session, outside a job. It survives a power cut, and is deleted with the
    /// session.
    fn create_task_run(&self, new: NewTaskRun) -> Answer<'_, ()>;
    /// A task.
    fn task(&self, id: TaskId) -> Answer<'_, Option<StoredTask>>;
    /// Tasks outside jobs that run, or have ended and are not settled, oldest first.
    fn unsettled_task_runs(&self) -> Answer<'_, Vec<TaskId>>;
}

/// Entries of jobs that a person trusts.
pub trait TrustedEntries {
    /// Trusts an entry instead of an earlier one of the same path. It survives a power cut.
    fn trust_entry(&self, entry: TrustedEntry) -> Answer<'_, ()>;
    /// Whether an entry is trusted, with exactly this hash.
    fn is_trusted_entry(&self, path: PathBuf, hash: String) -> Answer<'_, bool>;
    /// All of them, by path.
    fn trusted_entries(&self) -> Answer<'_, Vec<TrustedEntry>>;
    /// Stops trusting an entry, for good even if the power is cut. Returns whether it was trusted.
    fn forget_trusted_entry(&self, path: PathBuf) -> Answer<'_, bool>;
}

/// Tokens with scopes.
pub trait TokenRecords {
    /// Stores a token. It survives a power cut.
    fn add_token(&self, new: NewToken) -> Answer<'_, TokenId>;
    /// All tokens, newest first, including those that expired or were revoked.
    fn tokens(&self) -> Answer<'_, Vec<StoredToken>>;
    /// Revokes a token. The revocation survives a power cut.
    fn revoke_token(&self, id: TokenId, now: Timestamp) -> Answer<'_, Revocation>;
    /// Records when a token was used. Returns at once; the record is lost if the disk refuses it.
    fn note_token_use(&self, id: TokenId, at: Timestamp);
}

/// Rules of folders. They are added by [`super::Change::FolderRuleAdded`].
pub trait FolderRuleRecords {
    /// All of them, oldest first.
    fn folder_rules(&self) -> Answer<'_, Vec<StoredFolderRule>>;
    /// Removes one, for good even if the power is cut. Returns whether there was one.
    fn remove_folder_rule(&self, id: u64) -> Answer<'_, bool>;
}

/// Usage by day: kept also when its sessions are deleted.
pub trait UsageRecords {
    /// Adds to the usage of a day; it belongs to no session. A session's usage changes by [`super::Change`]s in appends.
    fn add_usage(&self, report: UsageReport) -> Answer<'_, ()>;
    /// Figures of these days, both included, grouped; at most that many rows.
    fn usage(&self, from: Day, to: Day, grouping: UsageGrouping, limit: usize) -> Answer<'_, Vec<UsageRow>>;
    /// The figures of these days, both included, in one sum.
    fn usage_total(&self, from: Day, to: Day) -> Answer<'_, UsageTotal>;
    /// All figures ever recorded, by runtime and model.
    fn usage_of_all_time(&self) -> Answer<'_, Vec<(String, String, UsageTotal)>>;
}

/// Sessions of agents that captures use.
pub trait CaptureSessions {
    /// Writes a session, or writes it again.
    fn put_capture_session(&self, session: CaptureSession) -> Answer<'_, ()>;
    /// Removes a session that the agent has deleted.
    fn remove_capture_session(&self, id: String) -> Answer<'_, ()>;
    /// All of them, the first to expire first.
    fn capture_sessions(&self) -> Answer<'_, Vec<CaptureSession>>;
}

/// The log of captured calls.
pub trait CaptureRecords {
    /// Adds a call. Returns at once; the record is lost if the disk refuses it.
    fn add_capture_call(&self, call: CaptureCall);
    /// At most that many calls with a number below `before`, newest first.
    fn capture_calls(&self, before: Option<CaptureCallId>, limit: usize) -> Answer<'_, Vec<StoredCaptureCall>>;
    /// What each token used, by token.
    fn capture_usage(&self) -> Answer<'_, Vec<CaptureUsage>>;
    /// Deletes calls that began before that moment.
    fn expire_capture_calls(&self, before: Timestamp) -> Answer<'_, ()>;
}

/// What people are notified of. Happenings are added by [`super::Change::Happened`].
pub trait NotificationRecords {
    /// Happenings without planned deliveries, oldest first.
    fn happenings(&self, limit: usize) -> Answer<'_, Vec<StoredHappening>>;
    /// How many happenings were committed since the start, and changes of it.
    fn happening_count(&self) -> watch::Receiver<u64>;
    /// Plans the deliveries of a happening, which is then forgotten. What is planned already is not planned again.
    fn plan_deliveries(&self, id: HappeningId, deliveries: Vec<NewDelivery>) -> Answer<'_, ()>;
    /// Deliveries to a target that may still be sent, the first that is due first.
    fn open_deliveries(&self, target: String, limit: usize) -> Answer<'_, Vec<StoredDelivery>>;
    /// The targets of all deliveries that may still be sent.
    fn targets_with_open_deliveries(&self) -> Answer<'_, Vec<String>>;
    /// Records how far deliveries are. One that has ended meanwhile stays as it is, unless it was delivered.
    fn record_deliveries(&self, ids: Vec<DeliveryId>, progress: DeliveryProgress) -> Answer<'_, ()>;
    /// At most that many deliveries with a number below `before`, newest first.
    fn deliveries(&self, before: Option<DeliveryId>, limit: usize) -> Answer<'_, Vec<StoredDelivery>>;
    /// Deletes ended deliveries of what happened before that moment.
    fn expire_deliveries(&self, before: Timestamp) -> Answer<'_, ()>;
}

/// Browsers that notifications are pushed to.
pub trait BrowserRecords {
    /// Adds a browser. One with the same endpoint is replaced and keeps its number. It survives a power cut.
    fn add_browser(&self, new: NewBrowser) -> Answer<'_, BrowserId>;
    /// The browsers whose login is valid at that moment, or that need none, oldest first.
    fn browsers(&self, now: Timestamp) -> Answer<'_, Vec<StoredBrowser>>;
    /// Removes a browser, for good even if the power is cut. Returns whether there was one.
    fn remove_browser(&self, id: BrowserId) -> Answer<'_, bool>;
    /// Removes browsers whose login has ended.
    fn remove_logged_out_browsers(&self, now: Timestamp) -> Answer<'_, ()>;
}

/// Large outputs, named by the hash of their content.
pub trait Blobs {
    /// Writes a blob, to be referred to by a later append. Returns its hash.
    fn put_blob(&self, data: Vec<u8>) -> Answer<'_, String>;
    /// A blob that the session uses, if it is there and undamaged.
    fn blob(&self, session: SessionId, hash: String) -> Answer<'_, Option<Blob>>;
    /// The blobs that a session uses, by hash.
    fn blobs_of(&self, session: SessionId) -> Answer<'_, Vec<BlobUse>>;
    /// Removes blobs that no session uses.
    fn remove_unused_blobs(&self) -> Answer<'_, ()>;
}

/// The backend itself: its health, its size, and waiting for it.
pub trait Upkeep {
    /// Its counters.
    fn statistics(&self) -> &StoreStatistics;
    /// Whether it is writable, and changes of that.
    fn health(&self) -> watch::Receiver<StoreHealth>;
    /// Checks now whether it is writable, so that [`Self::health`] is up to date even if nobody writes.
    fn probe(&self) -> Answer<'_, ()>;
    /// Damage that reads have found since startup, for users.
    fn damage(&self) -> Option<String>;
    /// Checks everything for damage; empty when the database is intact. Slow on a large one.
    fn problems(&self) -> Answer<'_, Vec<String>>;
    /// How many bytes are in use, once rows that are being deleted are gone.
    fn used_bytes(&self) -> Answer<'_, u64>;
    /// Waits until everything passed before is committed; an error when something is kept because the disk refuses it.
    fn all_written(&self) -> Answer<'_, ()>;
    /// Waits until dropped rows are gone.
    fn settle(&self) -> Answer<'_, ()>;
    /// Writes what is left, records the clean shutdown, and closes everything.
    fn close(&self) -> Answer<'_, ()>;
}

/// Everything that the server stores.
pub trait Backend:
    Log
    + SessionRecords
    + PromptRecords
    + ReaderRecords
    + JobRecords
    + TaskRecords
    + TrustedEntries
    + TokenRecords
    + FolderRuleRecords
    + UsageRecords
    + CaptureRecords
    + CaptureSessions
    + NotificationRecords
    + BrowserRecords
    + Blobs
    + SearchIndex
    + Upkeep
{
}

impl<T> Backend for T where
    T: Log
        + SessionRecords
        + PromptRecords
        + ReaderRecords
        + JobRecords
        + TaskRecords
        + TrustedEntries
        + TokenRecords
        + FolderRuleRecords
        + UsageRecords
        + CaptureRecords
        + CaptureSessions
        + NotificationRecords
        + BrowserRecords
        + Blobs
        + SearchIndex
        + Upkeep
{
}
