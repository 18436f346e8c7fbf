//! GitHub's Copilot CLI with `--output-format json`: how it is invoked, and how its stream is read.

mod invocation;
mod reader;
mod usage_records;

pub(super) use invocation::{check_options, has_session, invocation};
pub use reader::CopilotReader;
pub(super) use usage_records::UsageRecords;

/// The agent's name in error messages.
pub(super) const TITLE: &str = "Copilot";
