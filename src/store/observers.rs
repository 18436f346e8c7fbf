//! Subscribers to commits, by stream. Used by backends.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::{CommitObserver, StoreError};
use crate::model::{Seq, StreamId};

/// Dropped observers are removed when there are this many streams, and then each time their number has doubled.
const FIRST_SWEEP: usize = 64;

/// The subscribers of all streams.
#[derive(Default)]
pub struct Observers {
    registry: Mutex<Registry>,
}

#[derive(Default)]
struct Registry {
    streams: HashMap<StreamId, Vec<Weak<dyn CommitObserver>>>,
    sweep_at: usize,
}

impl Observers {
    /// Adds an observer.
    pub fn subscribe(&self, stream: StreamId, observer: Weak<dyn CommitObserver>) {
        let mut registry = self.lock();
        if registry.streams.len() >= registry.sweep_at {
            registry.streams.retain(|_, observers| {
                observers.retain(|observer| observer.strong_count() > 0);
                !observers.is_empty()
            });
            registry.sweep_at = FIRST_SWEEP.max(2 * registry.streams.len());
        }
        registry.streams.entry(stream).or_default().push(observer);
    }

    /// Reports that everything up to a number is committed.
    pub fn committed(&self, stream: StreamId, through: Seq) {
        for observer in self.of(stream) {
            observer.committed(through);
        }
    }

    /// Reports that an append was rejected.
    pub fn rejected(&self, stream: StreamId, error: &StoreError) {
        for observer in self.of(stream) {
            observer.rejected(error);
        }
    }

    /// Reports that nothing will be committed any more.
    pub fn all_rejected(&self, error: &StoreError) {
        let all: Vec<StreamId> = self.lock().streams.keys().copied().collect();
        for stream in all {
            self.rejected(stream, error);
        }
    }

    /// Taken out of the lock: an observer may drop the last handle of something that subscribes.
    fn of(&self, stream: StreamId) -> Vec<Arc<dyn CommitObserver>> {
        self.lock().streams.get(&stream).into_iter().flatten().filter_map(Weak::upgrade).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Registry> {
        self.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::SessionId;

    struct Nobody;

    impl CommitObserver for Nobody {
        fn committed(&self, _: Seq) {}
        fn rejected(&self, _: &StoreError) {}
    }

    #[test]
    fn dropped_observers_do_not_pile_up() {
        let observers = Observers::default();
        for number in 1..1_000 {
            let observer: Arc<dyn CommitObserver> = Arc::new(Nobody);
            observers.subscribe(SessionId::from_number(number).into(), Arc::downgrade(&observer));
        }
        assert!(observers.lock().streams.len() <= FIRST_SWEEP);
    }
}
