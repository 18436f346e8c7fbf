//! Sessions on the real Copilot, with a scripted model behind it.

mod adoption;
mod command_line;
mod conformance;
mod credits;
mod declared_tools;
mod event_kinds;
mod failures;
mod idle;
mod job_tools;
mod login;
mod mcp;
mod options;
mod pending;
mod providers;
mod questions;
mod requests;
mod restarts;
mod restoring;
mod silence;
mod slash_commands;
mod starts;
mod steering;
mod supervision;
mod turns;
mod vocabulary;

pub use pending::{until_on_disk, until_recorded};
