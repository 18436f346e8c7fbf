//! Claude Code with `-p --output-format stream-json`: where it is, how it is invoked, and how its stream is read.

mod invocation;
mod program;
mod reader;
mod tool_result;

pub(super) use invocation::{check_options, has_session, invocation};
pub(super) use program::{INSTALL_COMMAND, programs};
pub use reader::ClaudeReader;

/// How errors name the agent.
pub(super) const TITLE: &str = "Claude Code";
