//! Notices: lines in a session's log that are neither the agent's answer nor a tool's output.

use serde::{Deserialize, Serialize};

/// What a notice is about, for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoticeKind {
    /// The session was imported from another tool.
    Adopted,
    /// A budget is nearly spent, spent, or cannot be checked.
    Budget,
    /// The commands the agent offers.
    Commands,
    /// The agent shortened its memory of the conversation.
    Compaction,
    /// The session runs on the scripted demo agent.
    Demo,
    /// Queued prompts were dropped because the session was closed.
    Dropped,
    /// The session's events were produced faster than they could be stored.
    FellBehind,
    /// The agent's own session was lost and a new one was started.
    FreshSession,
    /// The agent is unresponsive.
    Hung,
    /// The agent's own record of its last turn has no clean end.
    Incomplete,
    /// Anything else worth knowing.
    Info,
    /// A turn was cut short.
    Interrupted,
    /// Something exceeded a limit and was shortened or left out.
    Limit,
    /// The agent needs a login.
    LoginNeeded,
    /// An MCP server failed or needs a login.
    Mcp,
    /// The agent's mode changed.
    Mode,
    /// The model changed.
    Model,
    /// The agent's plan.
    Plan,
    /// A failed attempt is repeated.
    Retrying,
    /// A sub-agent started, finished or failed.
    SubAgent,
    /// The agent says that its task is complete.
    TaskComplete,
    /// A request was closed because nobody was there to answer it.
    Unattended,
    /// Something is wrong but does not stop the work.
    Warning,
}

impl NoticeKind {
    /// The word used in the API and the log.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Adopted => "adopted",
            Self::Budget => "budget",
            Self::Commands => "commands",
            Self::Compaction => "compaction",
            Self::Demo => "demo",
            Self::Dropped => "dropped",
            Self::FellBehind => "fell-behind",
            Self::FreshSession => "fresh-session",
            Self::Hung => "hung",
            Self::Incomplete => "incomplete",
            Self::Info => "info",
            Self::Interrupted => "interrupted",
            Self::Limit => "limit",
            Self::LoginNeeded => "login-needed",
            Self::Mcp => "mcp",
            Self::Mode => "mode",
            Self::Model => "model",
            Self::Plan => "plan",
            Self::Retrying => "retrying",
            Self::SubAgent => "sub-agent",
            Self::TaskComplete => "task-complete",
            Self::Unattended => "unattended",
            Self::Warning => "warning",
        }
    }

    /// Whether it describes a state rather than an event: agents repeat these with every turn, and a repetition says
    /// nothing new.
    pub fn is_repeated(self) -> bool {
        matches!(self, Self::Commands | Self::LoginNeeded | Self::Mcp)
    }
}

impl std::fmt::Display for NoticeKind {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.as_str())
    }
}
