//! Sessions: one actor each, their logs, their readers, and how they come back after a restart.
//!
//! What must always hold here:
//!
//! - A session's actor is the only one that numbers and appends to its log: number, append, then publish. A reader is
//!   shown an event when the store has committed it, not before.
//! - A reader is a cursor over store and tail. It holds nothing that grows and nothing that others wait for.
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
mod handle;
mod housekeeping;
mod leases;
mod live;
mod log;
mod machine;
mod operations;
mod readers;
mod scribe;
mod search_text;
mod sessions;
mod settings;
mod slots;
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
