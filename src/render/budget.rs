//! What one fragment may cost.

use std::time::{Duration, Instant};

/// Longer than any honest fragment takes, short enough to wait for.
const TIME: Duration = Duration::from_secs(2);
/// Bytes that are highlighted in one fragment.
const HIGHLIGHTED_BYTES: usize = 512 * 1024;

/// Time and work that are left for a fragment.
#[derive(Clone, Debug)]
pub struct Budget {
    deadline: Instant,
    highlight_bytes: usize,
    ran_out: bool,
}

impl Default for Budget {
    /// For one fragment, from now.
    fn default() -> Self {
        Self { deadline: Instant::now() + TIME, highlight_bytes: HIGHLIGHTED_BYTES, ran_out: false }
    }
}

impl Budget {
    /// Nothing is left: everything is shown plain.
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

    /// Whether something is shown plainer than it could be because time was over. On a machine with less to do it may
    /// come out better, so nobody should keep it.
    pub fn ran_out(&self) -> bool {
        self.ran_out
    }

    /// Notes that something was left undone because time was over.
    pub(super) fn note_ran_out(&mut self) {
        self.ran_out = true;
    }

    /// Whether time is over.
    pub(super) fn is_over(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// What is left of the time.
    pub(super) fn time_left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Takes bytes to be highlighted; gives whether there were that many.
    pub(super) fn take_highlighting(&mut self, bytes: usize) -> bool {
        let enough = self.highlight_bytes >= bytes;
        if enough {
            self.highlight_bytes -= bytes;
        }
        enough
    }
}
