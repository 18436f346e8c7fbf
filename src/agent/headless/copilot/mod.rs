//! GitHub's Copilot CLI with `--output-format json`: how it is invoked, and how its stream is read.

mod invocation;
mod reader;
mod record;

pub(super) use invocation::{check_options, invocation};
pub use reader::CopilotReader;
pub(super) use record::{LOST, record, telling};

/// The agent's name in error messages.
pub(super) const TITLE: &str = "Copilot";
