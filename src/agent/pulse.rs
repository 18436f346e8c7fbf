//! Whether an agent that says nothing still lives.

use std::time::Duration;

use super::BoxFuture;

/// What a session can find out about the agent behind a connection, beside what the agent says by itself.
pub trait Pulse: Send + Sync {
    /// Looks for a sign of life for at most that long: an answer, or any use of the processor by the agent or by
    /// something that it has started. Gives whether there was one, as soon as that is known.
    fn feel(&self, within: Duration) -> BoxFuture<'_, bool>;

    /// Ends the agent's process without ceremony. Everybody who shares it loses the connection.
    fn cut_off(&self) -> BoxFuture<'_, ()>;
}
