//! The only SQL: one writer with group commit, readers that never block it, blobs, the data folder and its lock.
//!
//! What must always hold here:
//!
//! - Only the writer's thread writes. Everything it is given in one go is one transaction, in the order given.
//! - A row is announced to its [`CommitObserver`] after its transaction is committed, never before.
//! - An event that was given to [`Store::append`] is written in the end or its process dies: when the disk refuses,
//!   it is kept and tried again.
//! - No `SQLite` type is in the interface, and no caller hands in SQL.

mod append;
mod blobs;
mod boot;
mod change;
mod checkpoint;
mod drop_range;
mod error;
mod events;
mod folder;
mod logins;
mod positions;
mod prompts;
mod read_pool;
mod requests;
mod retention;
mod schema;
mod sessions;
mod statistics;
#[expect(clippy::module_inception, reason = "the noun of this room")]
mod store;
mod usage;
mod writer;

pub use append::{Append, CommitObserver, EndedBlock, EventRow};
pub use blobs::Blob;
pub use change::{Change, OpenTurn, QueuedPrompt};
pub use error::StoreError;
pub use events::{EventPage, StoredEvent};
pub use folder::{DataFolder, FolderError, ServerNote};
pub use logins::StoredLogin;
pub use positions::ReaderPosition;
pub use prompts::KnownPrompt;
pub use requests::ClosedRequest;
pub use retention::Retention;
pub use sessions::{SessionFilter, StoredSession};
pub use statistics::StoreStatistics;
pub use store::{Store, StoreHealth, StoreSettings};
pub use usage::{UsageGrouping, UsageKey, UsageReport, UsageRow};
