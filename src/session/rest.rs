//! Whether a session's actor is idle, so that the session can be unloaded.

use std::sync::atomic::{AtomicU64, Ordering};

/// Shared by an actor and the session's handle. A command counts from the moment it is sent, so an actor that has not
/// taken it yet, or is carrying it out for a caller that has hung up, is not at rest.
#[derive(Debug)]
pub(super) struct Rest {
    sent: AtomicU64,
    /// The number of commands after which the actor came to rest; `u64::MAX` while it has something to do.
    resting_after: AtomicU64,
}

impl Rest {
    /// The actor is not at rest until it reports so.
    pub fn new() -> Self {
        Self { sent: AtomicU64::new(0), resting_after: AtomicU64::new(u64::MAX) }
    }

    /// A command is about to be sent.
    pub fn count_command(&self) {
        self.sent.fetch_add(1, Ordering::SeqCst);
    }

    /// The actor's report before it waits, after this many commands.
    pub fn report(&self, carried_out: u64, at_rest: bool) {
        self.resting_after.store(if at_rest { carried_out } else { u64::MAX }, Ordering::SeqCst);
    }

    /// Whether the actor is idle. It stays idle until the next command.
    pub fn is_at_rest(&self) -> bool {
        self.sent.load(Ordering::SeqCst) == self.resting_after.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_counts_from_the_moment_it_is_sent_until_the_actor_rests_again() {
        let rest = Rest::new();
        assert!(!rest.is_at_rest(), "the actor has not begun");
        rest.report(0, true);
        assert!(rest.is_at_rest());
        rest.count_command();
        assert!(!rest.is_at_rest(), "it has not been carried out");
        rest.report(1, false);
        assert!(!rest.is_at_rest(), "it led to something");
        rest.report(1, true);
        assert!(rest.is_at_rest());
    }
}
