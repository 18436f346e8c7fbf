//! Entries: the definitions of tasks and jobs in one JSON document.
//!
//! A text is read and checked ([`read_entry`]: its syntax, shape and meaning), and becomes a [`CheckedEntry`].
//! A job takes a [`Plan`] along, which later changes of the entry do not touch.
//!
//! What must always hold here:
//!
//! - Only the check makes a [`CheckedEntry`], and everything else takes one. Its prompts contain no variables but those
//!   of the runtime, every name in it leads somewhere, and its works are numbered.
//! - All problems are found at once, each with its path, in the same order every time.
//! - The time that a text takes grows with its length, whatever is in it: variables that double each other, cycles,
//!   works nested without end.

mod checked;
mod default_entry;
mod definition;
mod duplicate;
mod file;
mod problem;
mod prompt;
mod reading;
mod repair;
#[cfg(test)]
pub(crate) mod sample;
mod schema;
mod source;
mod tool;
mod validation;
mod work_tree;

pub use checked::{CheckedEntry, Plan};
pub use default_entry::DEFAULT_ENTRY;
pub use definition::{
    Availability, Command, Criteria, DEFAULT_COMMAND_TIMEOUT, DEFAULT_MAX_PASSES, DrivingRetry, Entry, FailureAction,
    GateWork, GridJob, GridRow, Job, ModelChoice, OnInterrupted, Prompt, Task, TaskPermissions, Work,
};
pub use problem::{Problem, Severity};
pub use prompt::{
    MISSING, Needs, RuntimeVariables, expand_dynamic, expand_known, expand_static, is_runtime_variable,
    uses_user_input, variables_in,
};
pub use reading::read_entry;
pub use schema::SCHEMA;
pub use source::{EntryCache, EntrySource, LoadedEntry, find_folder_entry};
pub use tool::JOB_TOOLS;
pub use validation::{AvailableModel, DEFAULT_MODEL, check, check_models};
pub use work_tree::WorkNode;
