//! Entries: the definitions of tasks and jobs in one JSON document.

mod checked;
mod default_entry;
mod definition;
mod duplicate;
mod file;
mod problem;
mod prompt;
mod reading;
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
    Availability, Command, Criteria, DrivingRetry, Entry, FailureAction, GateWork, GridJob, GridRow, Job, ModelChoice,
    OnInterrupted, Prompt, Task, TaskPermissions, Work,
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
