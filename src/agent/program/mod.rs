//! The programs of agents: where they are, their versions, and how to install them.
//!
//! Invariants: a second search is cheap (results are cached in a versioned file and checked against the program's size
//! and modification time), an explicitly configured program is never replaced by another, and an error about a missing
//! program names the command that installs it.

mod cache;
mod find;
mod found;
mod install;
mod installs;
mod native;
mod version;

pub use find::{ProgramSearch, Programs};
pub(in crate::agent) use find::{is_program, now};
pub use found::{FoundProgram, ProgramSource};
pub use install::{InstallError, InstallStep, Installable};
pub use installs::{InstallProgress, InstallStage, Installs};
pub(in crate::agent) use native::{file_names, platform};
