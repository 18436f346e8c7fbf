//! The programs of agents: where they are, which version, and how to get one.
//!
//! What must always hold here: looking is cheap the second time (what was found is kept in a versioned file and checked
//! against the program's size and time), a program that somebody named explicitly is never replaced by another, and
//! what is missing is said with the command that brings it.

mod cache;
mod find;
mod found;
mod install;
mod native;
mod version;

pub use find::{ProgramSearch, Programs};
pub(in crate::agent) use find::{is_program, now};
pub use found::{FoundProgram, ProgramSource};
pub use install::{InstallError, InstallStep, Installable};
pub(in crate::agent) use native::file_names;
