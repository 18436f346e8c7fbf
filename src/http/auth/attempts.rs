//! Limits the number of guesses.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

const WINDOW: Duration = Duration::from_mins(1);

/// Wrong secrets of the last minute. A correct one is never counted, so nobody is locked out by somebody else's guesses.
pub(super) struct Attempts {
    limit: u32,
    window: Mutex<(Instant, u32)>,
}

impl Attempts {
    pub fn new(limit: u32) -> Self {
        Self { limit, window: Mutex::new((Instant::now(), 0)) }
    }

    /// Counts a wrong secret. Returns whether there have been too many.
    pub fn one_more(&self) -> bool {
        let mut window = self.window.lock();
        if window.0.elapsed() >= WINDOW {
            *window = (Instant::now(), 0);
        }
        window.1 = window.1.saturating_add(1);
        window.1 > self.limit
    }
}
