//! GitHub's Copilot CLI with `--output-format json`: how it is invoked, and how its stream is read.

mod invocation;
mod reader;

pub(super) use invocation::{check_options, has_session, invocation};
pub use reader::CopilotReader;

/// The agent's name in error messages.
pub(super) const TITLE: &str = "Copilot";
