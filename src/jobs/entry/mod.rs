//! Entries: the definitions of tasks and jobs in one JSON document.

mod definition;

pub use definition::{
    Availability, Command, Criteria, DrivingRetry, Entry, FailureAction, GateWork, GridJob, GridRow, Job, ModelChoice,
    OnInterrupted, Prompt, Task, TaskPermissions, Work,
};
