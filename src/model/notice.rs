//! Notices: lines in a session's log that are neither the agent's answer nor a tool's output.

use super::words::words;

words! {
    /// What a notice is about, for programs.
    pub enum NoticeKind {
        /// The session was imported from another tool.
        Adopted = "adopted",
        /// A budget is nearly spent, spent, or cannot be checked.
        Budget = "budget",
        /// The commands the agent offers.
        Commands = "commands",
        /// The agent shortened its memory of the conversation.
        Compaction = "compaction",
        /// The session runs on the scripted demo agent.
        Demo = "demo",
        /// Queued prompts were dropped because the session was closed.
        Dropped = "dropped",
        /// The session's events were produced faster than they could be stored.
        FellBehind = "fell-behind",
        /// The session is a copy of another one up to this line.
        Forked = "forked",
        /// The agent's own session was lost and a new one was started.
        FreshSession = "fresh-session",
        /// The agent is unresponsive.
        Hung = "hung",
        /// The agent's own record of its last turn has no clean end.
        Incomplete = "incomplete",
        /// Anything else worth knowing.
        Info = "info",
        /// A turn was cut short.
        Interrupted = "interrupted",
        /// Something exceeded a limit and was shortened or left out.
        Limit = "limit",
        /// The agent needs a login.
        LoginNeeded = "login-needed",
        /// An MCP server failed or needs a login.
        Mcp = "mcp",
        /// The agent's mode changed.
        Mode = "mode",
        /// The model changed.
        Model = "model",
        /// The agent's plan.
        Plan = "plan",
        /// Queued prompts wait because the turn before them was cut off.
        QueueHeld = "queue-held",
        /// A request stays open although the turn that asked it was cut off.
        RequestKept = "request-kept",
        /// A failed attempt is repeated.
        Retrying = "retrying",
        /// A sub-agent started, finished or failed.
        SubAgent = "sub-agent",
        /// The agent says that its task is complete.
        TaskComplete = "task-complete",
        /// A request was closed because nobody was there to answer it.
        Unattended = "unattended",
        /// Something is wrong but does not stop the work.
        Warning = "warning",
    }
}

impl NoticeKind {
    /// Whether it describes a state rather than an event: agents repeat these with every turn, and a repetition says
    /// nothing new.
    pub fn is_repeated(self) -> bool {
        matches!(self, Self::Commands | Self::LoginNeeded | Self::Mcp)
    }
}
