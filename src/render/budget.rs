//! Limits on the cost of one fragment.

use std::time::{Duration, Instant};

/// Longer than any normal fragment takes, and short enough to wait for.
const TIME: Duration = Duration::from_secs(2);
/// The most bytes that are highlighted in one fragment.
const HIGHLIGHTED_BYTES: usize = 512 * 1024;

/// The time and work left for a fragment.
#[derive(Clone, Debug)]
pub struct Budget {
    deadline: Instant,
    highlight_bytes: usize,
    ran_out: bool,
}

impl Default for Budget {
    /// A full budget for one fragment, starting now.
    fn default() -> Self {
        Self { deadline: Instant::now() + TIME, highlight_bytes: HIGHLIGHTED_BYTES, ran_out: false }
    }
}

impl Budget {
    /// An empty budget: everything is shown as plain text.
    pub fn used_up() -> Self {
        Self { deadline: Instant::now(), highlight_bytes: 0, ran_out: false }
    }

    #[cfg(test)]
    pub(super) fn without_time() -> Self {
        Self { deadline: Instant::now(), ..Self::default() }
    }

    #[cfg(test)]
    pub(super) fn with_highlighting(bytes: usize) -> Self {
        Self { highlight_bytes: bytes, ..Self::default() }
    }

    /// Whether the time ran out and something was rendered as plain text. A less busy machine may do better, so the
    /// result should not be cached.
    pub fn ran_out(&self) -> bool {
        self.ran_out
    }

    /// Records that the time ran out.
    pub(super) fn note_ran_out(&mut self) {
        self.ran_out = true;
    }

    /// Whether the time has run out.
    pub(super) fn is_over(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// The time that is left.
    pub(super) fn time_left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Takes bytes from the budget for highlighting. Returns whether enough were left.
    pub(super) fn take_highlighting(&mut self, bytes: usize) -> bool {
        let enough = self.highlight_bytes >= bytes;
        if enough {
            self.highlight_bytes -= bytes;
        }
        enough
    }
}
