//! The kinds of notices.

use super::words::words;

words! {
    /// What a notice is about. The message is for people, the kind for programs.
    pub enum NoticeKind {
        /// The session was imported from another client.
        Adopted = "adopted",
        /// A budget is nearly or fully used, or cannot be checked.
        Budget = "budget",
        /// The agent's commands changed.
        Commands = "commands",
        /// The agent shortened the conversation to make room.
        Compaction = "compaction",
        /// The session runs on the demo agent.
        Demo = "demo",
        /// Queued prompts were not sent.
        Dropped = "dropped",
        /// The agent could not restore its session and started a new one without the earlier conversation.
        FreshSession = "fresh-session",
        /// The agent is unresponsive.
        Hung = "hung",
        /// The agent's session was restored without its last messages.
        Incomplete = "incomplete",
        /// General information.
        Info = "info",
        /// A turn was interrupted.
        Interrupted = "interrupted",
        /// Something was too large and was cut or left out.
        Limit = "limit",
        /// The agent needs a login.
        LoginNeeded = "login-needed",
        /// An MCP server failed or needs a login.
        Mcp = "mcp",
        /// The agent's mode changed.
        Mode = "mode",
        /// The model changed.
        Model = "model",
        /// The agent's plan changed.
        Plan = "plan",
        /// A turn, or a request to the model, failed for a transient reason and is retried.
        Retrying = "retrying",
        /// A sub-agent started or ended.
        SubAgent = "sub-agent",
        /// The agent says that its task is complete.
        TaskComplete = "task-complete",
        /// A request was denied because nobody can or did answer it.
        Unattended = "unattended",
        /// Something needs attention.
        Warning = "warning",
    }
}
