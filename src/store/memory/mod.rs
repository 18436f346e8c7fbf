//! The store in plain memory, for tests: it has no SQL and no thread, so a suite that it passes says what a backend
//! must do and not how `SQLite` does it. It knows what a power cut takes away: everything since the last synced commit.

mod browsers;
mod capture_calls;
mod jobs;
mod notifications;
mod records;
mod search;
mod state;
mod tasks;
mod tokens;
mod trusted_entries;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::watch;

use self::state::State;
use super::observers::Observers;
use super::{
    Answer, Append, CommitObserver, EventPage, IndexBacklog, Log, OutcomeSeq, StoreError, StoreHealth, StoreStatistics,
    StoredEvent, Upkeep,
};
use crate::model::{Seq, StreamId};

/// What outlives the backend: the "disk".
#[derive(Clone, Default)]
pub(super) struct Disk {
    inner: Arc<Mutex<Content>>,
}

#[derive(Default)]
struct Content {
    state: State,
    synced: State,
    blobs: std::collections::HashMap<String, Vec<u8>>,
}

impl Disk {
    /// Everything since the last synced commit is lost, and numbers continue above what was reserved.
    pub fn cut_power(&self) {
        let mut content = self.lock();
        content.state = content.synced.clone();
        content.state.jump();
    }

    fn lock(&self) -> MutexGuard<'_, Content> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A backend on a disk.
pub(super) struct Memory {
    disk: Disk,
    observers: Observers,
    statistics: StoreStatistics,
    health: watch::Sender<StoreHealth>,
    newest_outcome: watch::Sender<OutcomeSeq>,
    happenings: watch::Sender<u64>,
    backlog: Arc<IndexBacklog>,
}

impl Memory {
    pub fn on(disk: &Disk) -> Self {
        let last = disk.lock().state.last_outcome();
        Self {
            disk: disk.clone(),
            observers: Observers::default(),
            statistics: StoreStatistics::default(),
            health: watch::Sender::new(StoreHealth::Good),
            newest_outcome: watch::Sender::new(last),
            happenings: watch::Sender::new(0),
            backlog: Arc::default(),
        }
    }

    fn commit(&self, append: &Append) -> Result<(), StoreError> {
        let last_outcome = {
            let mut content = self.disk.lock();
            // Applied to a copy, so that a failure changes nothing.
            let mut state = content.state.clone();
            let reserves = state.apply(append)?;
            content.state = state;
            if reserves || append.must_survive_power_cut() {
                content.synced = content.state.clone();
            }
            content.state.last_outcome()
        };
        if let Some(last) = append.last_seq() {
            self.observers.committed(append.stream, last);
            if let Some(session) = append.stream.session()
                && append.has_more_than_deltas()
            {
                self.backlog.grew(session, last);
            }
        }
        if append.has_happened() {
            self.happenings.send_modify(|count| *count += 1);
        }
        self.newest_outcome.send_if_modified(|newest| std::mem::replace(newest, last_outcome) != last_outcome);
        Ok(())
    }

    fn read<'a, T: Send + 'a>(&'a self, work: impl FnOnce(&State) -> T) -> Answer<'a, T> {
        let value = work(&self.disk.lock().state);
        Box::pin(async move { Ok(value) })
    }

    fn write<'a, T: Send + 'a>(&'a self, work: impl FnOnce(&mut State) -> T) -> Answer<'a, T> {
        let value = work(&mut self.disk.lock().state);
        Box::pin(async move { Ok(value) })
    }

    fn write_durably<'a, T: Send + 'a>(&'a self, work: impl FnOnce(&mut State) -> T) -> Answer<'a, T> {
        let mut content = self.disk.lock();
        let value = work(&mut content.state);
        content.synced = content.state.clone();
        Box::pin(async move { Ok(value) })
    }
}

impl Log for Memory {
    fn append(&self, append: Append) {
        if let Err(error) = self.commit(&append) {
            self.observers.rejected(append.stream, &error);
        }
    }

    fn append_checked(&self, append: Append) -> Answer<'_, ()> {
        let outcome = self.commit(&append);
        Box::pin(async move { outcome })
    }

    fn events(&self, stream: StreamId, page: EventPage) -> Answer<'_, (Vec<StoredEvent>, bool)> {
        self.read(|state| state.page(stream, page))
    }

    fn prompt_events(&self, stream: StreamId) -> Answer<'_, Vec<StoredEvent>> {
        self.read(|state| state.prompt_events(stream))
    }

    fn block_start(&self, stream: StreamId, end: Seq) -> Answer<'_, Option<StoredEvent>> {
        self.read(|state| state.block_start(stream, end))
    }

    fn next_seq(&self, stream: StreamId) -> Answer<'_, Seq> {
        self.read(|state| state.next_seq(stream))
    }

    fn subscribe(&self, stream: StreamId, observer: Weak<dyn CommitObserver>) {
        self.observers.subscribe(stream, observer);
    }
}

impl Upkeep for Memory {
    fn statistics(&self) -> &StoreStatistics {
        &self.statistics
    }

    fn health(&self) -> watch::Receiver<StoreHealth> {
        self.health.subscribe()
    }

    fn probe(&self) -> Answer<'_, ()> {
        self.read(|_| ())
    }

    fn damage(&self) -> Option<String> {
        None
    }

    fn problems(&self) -> Answer<'_, Vec<String>> {
        self.read(|_| Vec::new())
    }

    fn used_bytes(&self) -> Answer<'_, u64> {
        self.read(State::used_bytes)
    }

    fn all_written(&self) -> Answer<'_, ()> {
        self.read(|_| ())
    }

    fn settle(&self) -> Answer<'_, ()> {
        self.read(|_| ())
    }

    fn close(&self) -> Answer<'_, ()> {
        self.write_durably(|_| ())
    }
}
