//! What a session is doing.

use super::words::words;

words! {
    /// The state of a session, as the API names it. In the order of a session's life.
    pub enum SessionState {
        /// The agent is being started.
        Starting = "starting",
        /// The session is ready for a prompt.
        Ready = "ready",
        /// A turn is running.
        Working = "working",
        /// A turn is running and waits for a person.
        Waiting = "waiting",
        /// The agent was lost and is being restored.
        Recovering = "recovering",
        /// The agent needs a login.
        NeedsLogin = "needs-login",
        /// The agent could not be started or restored.
        Failed = "failed",
        /// Somebody closed the session; it may be reopened.
        Closed = "closed",
    }
}
