//! Who is watching a session, so that a request knows whether anybody could answer it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use tokio::time::Instant;

/// Readers attached to one session right now, and to all of them.
#[derive(Debug)]
pub(super) struct Viewers {
    here: AtomicUsize,
    everywhere: Arc<AtomicUsize>,
    last_left: Mutex<Instant>,
}

/// A reader that is attached until this is dropped.
#[derive(Debug)]
pub struct ViewerGuard(Arc<Viewers>);

impl Viewers {
    pub fn new(everywhere: Arc<AtomicUsize>) -> Self {
        Self { here: AtomicUsize::new(0), everywhere, last_left: Mutex::new(Instant::now()) }
    }

    pub fn attach(self: &Arc<Self>) -> ViewerGuard {
        self.here.fetch_add(1, Ordering::Relaxed);
        self.everywhere.fetch_add(1, Ordering::Relaxed);
        ViewerGuard(Arc::clone(self))
    }

    /// As [`Self::attach`], unless there are that many already.
    pub fn try_attach(self: &Arc<Self>, limit: usize) -> Option<ViewerGuard> {
        let free = |count: usize| (count < limit).then_some(count + 1);
        self.here.try_update(Ordering::Relaxed, Ordering::Relaxed, free).ok()?;
        self.everywhere.fetch_add(1, Ordering::Relaxed);
        Some(ViewerGuard(Arc::clone(self)))
    }

    pub fn count(&self) -> usize {
        self.here.load(Ordering::Relaxed)
    }

    /// Since when nobody watches; `None` while somebody does.
    pub fn unattended_since(&self) -> Option<Instant> {
        (self.count() == 0).then(|| *self.last_left.lock())
    }
}

impl Drop for ViewerGuard {
    fn drop(&mut self) {
        *self.0.last_left.lock() = Instant::now();
        self.0.here.fetch_sub(1, Ordering::Relaxed);
        self.0.everywhere.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_taken_and_counted_in_one_step() {
        let everywhere = Arc::new(AtomicUsize::new(0));
        let viewers = Arc::new(Viewers::new(Arc::clone(&everywhere)));
        let attached = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| viewers.try_attach(3))).collect();
            threads.into_iter().filter_map(|thread| thread.join().expect("no panic")).collect::<Vec<_>>()
        });
        assert_eq!((attached.len(), viewers.count(), everywhere.load(Ordering::Relaxed)), (3, 3, 3));
        drop(attached);
        assert!(viewers.try_attach(1).is_some());
    }
}
