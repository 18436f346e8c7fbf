//! People and programs that could answer requests right now.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::time::Instant;

/// How many there are, and when the last one left.
#[derive(Debug)]
pub struct Answerers {
    present: Mutex<Present>,
}

#[derive(Debug)]
struct Present {
    count: usize,
    last_left: Instant,
}

/// Somebody who can answer until this is dropped.
#[derive(Debug)]
pub struct AnswererGuard(Arc<Answerers>);

impl Default for Answerers {
    fn default() -> Self {
        Self { present: Mutex::new(Present { count: 0, last_left: Instant::now() }) }
    }
}

impl Answerers {
    /// Counts somebody until the guard is dropped.
    pub fn enter(self: &Arc<Self>) -> AnswererGuard {
        self.present.lock().count += 1;
        AnswererGuard(Arc::clone(self))
    }

    /// Since when nobody is there; `None` while somebody is.
    pub(super) fn absent_since(&self) -> Option<Instant> {
        let present = self.present.lock();
        (present.count == 0).then_some(present.last_left)
    }
}

impl Drop for AnswererGuard {
    fn drop(&mut self) {
        let mut present = self.0.present.lock();
        present.count -= 1;
        present.last_left = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn nobody_is_there_from_the_moment_when_the_last_one_leaves() {
        let answerers = Arc::new(Answerers::default());
        let (one, two) = (answerers.enter(), answerers.enter());
        drop(one);
        assert_eq!(answerers.absent_since(), None);
        tokio::time::advance(std::time::Duration::from_secs(5)).await;
        drop(two);
        assert_eq!(answerers.absent_since(), Some(Instant::now()));
    }
}
