//! Sessions: one actor each, their logs, their readers, and how they come back after a restart.
//!
//! What must always hold here:
//!
//! - A session's actor is the only one that numbers and appends to its log: it numbers events, stages them in the tail
//!   and appends them to the store. A reader sees an event once the store has committed it, not before.
//! - A reader is a cursor over store and tail. It holds nothing that grows and nothing that others wait for.
//! - An attached reader less than 16 MB behind the end of the log gets every event, also the deltas of a block that has
//!   ended.
//! - Every turn that began ends with `onAgentEnd`, then `onIdle`, whatever happens to the agent or the server.
//! - A request is answered once: the answer is committed before anybody hears of it.

mod actor;
mod adopt;
mod budget;
mod bulletin;
mod choice;
mod clock;
mod create;
mod day_usage;
mod error;
mod event_body;
mod handle;
mod housekeeping;
mod large_reads;
mod live;
mod log;
mod machine;
mod operations;
mod readers;
mod rest;
mod scribe;
mod search_text;
mod sessions;
mod settings;
mod tail;
mod viewers;
mod working_directory;

pub use actor::{Accepted, NewPrompt, PromptMode, SessionUpdate};
pub use adopt::{AdoptError, Adoptable};
pub use budget::BudgetSettings;
pub use bulletin::{Bulletin, BulletinEntry, PendingBrief};
pub use clock::now;
pub use create::{CreateError, NewSession};
pub use error::{AnswerError, PromptError, SessionError};
pub use handle::Session;
pub use live::{Delivery, LiveError};
pub use log::{Head, SessionLog};
pub use scribe::Scribe;
pub use sessions::{Sessions, SessionsParts};
pub use settings::{FindDefaults, FoundDefaults, RecoverySettings, SessionSettings};
pub use viewers::ViewerGuard;
pub use working_directory::{
    WorkingDirectoryError, check as check_working_directory, check_resolved as resolve_working_directory,
};
