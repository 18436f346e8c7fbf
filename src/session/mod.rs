//! Sessions: their rules, one actor each, their logs, their readers, and their restoration after a restart.
//!
//! What must always hold here:
//!
//! - Only a session's machine numbers its events, and only its actor appends them (but for the past of a fork, which is
//!   written before its actor exists): it stages them in the tail
//!   and passes them to the store. A reader sees an event once the store has committed it, not before.
//! - A reader is a cursor over store and tail. It holds nothing that grows and blocks nobody.
//! - An attached reader less than 16 MB behind the end of the log gets every event, also the deltas of a block that has
//!   ended.
//! - Every turn that began ends with `onAgentEnd`, then `onIdle`, whatever happens to the agent or the server.
//! - A request is answered once, and the answer is committed before the agent or a client gets it.

mod actor;
mod adopt;
mod answerers;
mod budget;
mod choice;
mod clock;
mod create;
mod day_usage;
mod error;
mod event_body;
mod folder_rules;
mod fork;
mod handle;
mod housekeeping;
mod large_reads;
mod live;
mod live_settings;
mod log;
mod machine;
mod operations;
mod presence;
mod readers;
mod rest;
mod runtime_defaults;
mod session_feed;
mod sessions;
mod settings;
mod statistics;
mod status_feed;
mod summary;
mod tail;
mod tool_action;
mod transcript_writer;
mod turn_observer;
mod viewers;
mod working_directory;

pub use actor::{Accepted, NewPrompt, PromptMode, QueueChange, SessionUpdate};
pub use adopt::{AdoptError, Adoptable};
pub use answerers::{AnswererGuard, Answerers};
pub use budget::BudgetSettings;
pub use clock::now;
pub use create::{CreateError, NewSession};
pub use error::{AnswerError, PromptError, SessionError};
pub use fork::{ForkAfter, ForkError};
pub use handle::Session;
pub use live::{BATCH_BYTES, BATCH_RESPONSES, Delivery, LONGEST_WAIT, LiveError};
pub use log::{Head, SessionLog};
pub use presence::{Presence, PresenceGuard};
pub use readers::{NewReader, ReaderRefused, Readers, SHARED};
pub use session_feed::{PendingRequest, SessionFeed, SessionStatus};
pub use sessions::{Sessions, SessionsParts};
pub use settings::{FindDefaults, FoundDefaults, RecoverySettings, SessionSettings};
pub use statistics::{RuntimeLabels, SessionStatistics, TurnLabels};
pub use status_feed::{FeedEntry, StatusFeed};
pub use transcript_writer::TranscriptWriter;
pub use turn_observer::TurnObserver;
pub use viewers::ViewerGuard;
pub use working_directory::{
    WorkingDirectoryError, check as check_working_directory, check_resolved as resolve_working_directory,
};
