//! Persistence: the interface of small traits that a backend implements, changes as data, and the handle that the rest
//! of the program uses. All SQL is in `sqlite/`.
//!
//! What must always hold here:
//!
//! - A transaction is all or nothing, and appends of one stream are committed in the order given.
//! - A commit is announced to the stream's [`CommitObserver`]s after it, never before.
//! - An event that was passed to [`Store::append`] is written eventually, or its observers are notified of the
//!   rejection, or the store reports that it is dead. It is never lost silently. While the disk refuses it, it is kept
//!   and retried.
//! - No type of a database is in the interface, and no caller passes SQL.
//! - A backend passes the suite in `suite/`; the tests run it against `SQLite` and a backend in memory.

mod blob;
mod browser_records;
mod browsers;
mod capture_records;
mod capture_sessions;
mod change;
mod error;
mod folder;
mod folder_rule_records;
mod health;
mod index_backlog;
mod job_records;
mod jobs;
mod log;
#[cfg(test)]
mod memory;
mod notification_records;
mod notifications;
mod observers;
mod prompt_records;
mod reader_records;
mod records;
mod retention;
mod search_records;
mod session_records;
mod snapshot;
mod sqlite;
mod statistics;
#[expect(clippy::module_inception, reason = "the noun of this module")]
mod store;
#[cfg(test)]
mod suite;
mod task_records;
mod token_records;
mod trusted_entries;
mod usage_records;

pub use blob::{Blob, BlobUse};
pub use browser_records::{BrowserId, NewBrowser, StoredBrowser};
pub use capture_records::{CaptureCall, CaptureCallId, CaptureUsage, StoredCaptureCall};
pub use capture_sessions::CaptureSession;
pub use change::{AcceptedPrompt, Change, OpenTurn, QueuePlace, QueuedPrompt};
pub use error::{Cause, StoreError};
pub use folder::{DataFolder, FolderError, ServerNote};
pub use folder_rule_records::StoredFolderRule;
pub use health::StoreHealth;
pub use index_backlog::{IndexBacklog, IndexProgress};
pub use job_records::{JobCreation, JobFilter, JobSummary, NewJob, RunState, StoredJob};
pub use log::{Append, CommitObserver, EndedBlock, EventPage, EventRow, Log, StoredEvent};
pub use notification_records::{
    DeliveryId, DeliveryProgress, DeliveryState, HappeningId, NewDelivery, StoredDelivery, StoredHappening,
};
pub use prompt_records::{ClosedRequest, KnownPrompt, OutcomeSeq, StoredOutcome};
pub use reader_records::{ReaderPosition, StoredLogin};
pub use records::{
    Answer, Backend, Blobs, BrowserRecords, CaptureRecords, CaptureSessions, FolderRuleRecords, JobRecords,
    NotificationRecords, PromptRecords, ReaderRecords, SessionRecords, TaskRecords, TokenRecords, TrustedEntries,
    Upkeep, UsageRecords,
};
pub use retention::Retention;
pub use search_records::{
    IndexBatch, IndexedText, Match, MatchQuery, SearchIndex, SearchKind, SearchTerm, SearchTerms, SearchText,
    SessionFacts, SnippetPart,
};
pub use session_records::{Creation, CreationKey, NewSessionRecord, SessionFilter, StoredSession};
pub use snapshot::Snapshot;
pub use statistics::StoreStatistics;
pub use store::{Store, StoreSettings};
pub use task_records::{NewTaskRun, StoredTask, StoredTaskRun, TaskOwner};
pub use token_records::{NewToken, Revocation, StoredToken};
pub use trusted_entries::TrustedEntry;
pub use usage_records::{UsageGrouping, UsageKey, UsageReport, UsageRow};
