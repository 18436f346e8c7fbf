//! Whether an agent that says nothing is still alive.

use std::time::Duration;

use super::BoxFuture;

/// What can be found out about the agent behind a connection, beside what it says by itself.
pub trait Liveness: Send + Sync {
    /// Returns whether the agent showed a sign of life: a reply, or any CPU use by it or by a process it started.
    /// Returns as soon as that is known, at the latest after `within`.
    fn probe(&self, within: Duration) -> BoxFuture<'_, bool>;

    /// Kills the agent's process at once. Everybody who shares it loses the connection, so this is only for a process
    /// that somebody has decided to end: `recovery.end_hung`, or a person.
    fn cut_off(&self) -> BoxFuture<'_, ()>;

    /// Gives up on an agent that is unresponsive, for this connection only. A process that nobody else uses is ended;
    /// one that other sessions use is left to them, and the next connection gets a new one.
    fn abandon(&self) -> BoxFuture<'_, ()> {
        self.cut_off()
    }
}
