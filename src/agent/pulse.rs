//! Whether an agent that says nothing still lives.

use std::time::Duration;

use super::BoxFuture;

/// What a session can find out about the agent behind a connection, beside what the agent says by itself.
pub trait Pulse: Send + Sync {
    /// Looks for a sign of life for at most that long: an answer, or any use of the processor by the agent or by
    /// something that it has started. Gives whether there was one, as soon as that is known.
    fn feel(&self, within: Duration) -> BoxFuture<'_, bool>;

    /// Ends the agent's process at once. Everybody who shares it loses the connection, so this is only for a process
    /// that somebody has decided to end: `recovery.end_hung`, or a person.
    fn cut_off(&self) -> BoxFuture<'_, ()>;

    /// Gives up on an agent that shows no sign of life, for this connection only. A process that nobody else uses is
    /// ended; one that other sessions use is left to them, and the next connection gets a new one.
    fn abandon(&self) -> BoxFuture<'_, ()> {
        self.cut_off()
    }
}
