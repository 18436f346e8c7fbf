//! GitHub's Copilot CLI with `--output-format json`: how it is invoked, and how its stream is read.

mod invocation;
mod reader;
mod record;
mod usage_records;

pub(super) use invocation::{check_options, invocation, session_options};
pub use reader::CopilotReader;
pub(super) use record::{LOST, record, telling};
pub(super) use usage_records::UsageRecords;

/// The agent's name in error messages.
pub(super) const TITLE: &str = "Copilot";
