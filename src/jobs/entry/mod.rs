//! Entries: the definitions of tasks and jobs in one JSON document.

mod definition;
mod stub;

pub use definition::{
    Availability, Command, Criteria, DrivingRetry, Entry, FailureAction, GateWork, GridJob, GridRow, Job, ModelChoice,
    OnInterrupted, Prompt, Task, TaskPermissions, Work,
};
pub use stub::*;
