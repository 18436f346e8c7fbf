//! Claude Code with `-p --output-format stream-json`: how it is found and invoked, and how its stream is read.

mod invocation;
mod program;
mod reader;
mod record;
mod scripted;
mod tool_result;

pub(super) use invocation::{check_options, invocation, session_options};
pub(super) use program::{INSTALL_COMMAND, programs};
pub use reader::ClaudeReader;
pub(super) use record::{LOST, record, telling};
pub(super) use scripted::spec_for_model_at;

/// Variables that make a login unnecessary.
pub(super) const KEYS: [&str; 4] =
    ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX"];

/// The agent's name in error messages.
pub(super) const TITLE: &str = "Claude Code";
