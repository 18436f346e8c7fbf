//! Tasks and jobs: agents led through checked, repeatable steps.
//!
//! A task is one prompt with checks. A job is a tree of tasks. Both are defined in an entry (`entry/`), drive ordinary
//! sessions, and are durable: everything that happens is a record in the job's log, committed before it takes effect.
//!
//! What must always hold here:
//!
//! - The rules are pure (`machine/`): the state is a fold over the records, and what is to be done next follows from the
//!   state alone. A restarted job therefore continues exactly where its log ends.
//! - Everything that is done outside (opening a session, sending a prompt) has a key, so doing it again after a restart
//!   does nothing a second time.
//! - A gate is passed only by its own committed record, which names what the person was shown.
//! - Nothing follows the record that ends a job, and nothing starts after it.

pub mod chart;
mod entries;
pub mod entry;
mod error;
mod gate_view;
mod history;
mod job_feed;
#[expect(clippy::module_inception, reason = "the noun of this module")]
mod jobs;
mod live;
pub mod machine;
mod outside;
mod preview;
mod progress;
mod record;
mod run;
mod run_log;
mod settings;
mod statistics;
mod task_ids;

pub use entries::{Entries, EntryDescription, InstallError};
pub use error::JobError;
pub use gate_view::{ChangedFile, ChangedFiles, GateView, WorkResult};
pub use history::WorkHistory;
pub use job_feed::{JobFeed, JobFeedEntry};
pub use jobs::{Jobs, JobsParts, NewJobRequest, TaskOffer};
pub use live::RunDelivery;
pub use preview::{Preview, PreviewWork};
pub use progress::{Progress, WaitingView};
pub use record::{CommandEnd, Purpose, Record, Subject, TurnEnd, TurnVerdict, View};
pub use run::{Answer, Run};
pub use run_log::RunLog;
pub use settings::JobSettings;
pub use statistics::{JobStatistics, OutcomeLabels};
