//! Checks whether a silent agent is still alive.

use std::time::Duration;

use super::BoxFuture;

/// A way to check on the agent behind a connection when it sends nothing.
pub trait Liveness: Send + Sync {
    /// Returns whether the agent is alive: it replied, or it or a process it started used the CPU. Returns as soon as
    /// that is known, at the latest after `within`.
    fn probe(&self, within: Duration) -> BoxFuture<'_, bool>;

    /// Kills the agent's process immediately. Every session that shares it loses its connection, so use this only if
    /// `recovery.end_hung` or the user decided to kill it.
    fn cut_off(&self) -> BoxFuture<'_, ()>;

    /// Gives up on an unresponsive agent, for this connection only. If no other session uses its process, the process
    /// is killed; otherwise it keeps running for them, and the next connection gets a new one.
    fn abandon(&self) -> BoxFuture<'_, ()> {
        self.cut_off()
    }
}
