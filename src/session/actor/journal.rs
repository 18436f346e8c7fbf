//! Events on their way to the store.

use std::sync::Arc;

use tokio::sync::watch;

use crate::model::{Seq, SessionId};
use crate::session::clock::now;
use crate::session::event_body::BodyEncoder;
use crate::session::machine::{Batch, Entry};
use crate::session::{Head, SessionLog};
use crate::store::{Append, EventRow, Store, StoreError, StoredEvent};

pub(super) struct Journal {
    session: SessionId,
    store: Store,
    log: Arc<SessionLog>,
    /// Nothing up to here is in flight: after a power cut, numbers begin far above the last committed one.
    settled: Seq,
    /// The last event that was handed to the store, or that it had before.
    last: Seq,
    encoder: BodyEncoder,
}

impl Journal {
    pub fn new(session: SessionId, store: Store, log: Arc<SessionLog>, next_seq: Seq) -> Self {
        Self { session, store, last: log.head().committed, log, settled: next_seq - 1, encoder: BodyEncoder::default() }
    }

    pub fn log(&self) -> &SessionLog {
        &self.log
    }

    pub fn watch(&self) -> watch::Receiver<Head> {
        self.log.watch()
    }

    /// The number of the last event.
    pub fn last(&self) -> Seq {
        self.last
    }

    pub fn committed(&self) -> Seq {
        self.log.head().committed
    }

    /// How many events are not committed yet.
    pub fn in_flight(&self) -> u64 {
        self.last.saturating_sub(self.committed().max(self.settled))
    }

    /// Hands a batch to the store; it is committed soon, or kept until it can be.
    pub fn append(&mut self, batch: Batch) {
        let append = self.prepare(batch);
        self.store.append(append);
    }

    /// Commits a batch, or nothing of it.
    pub async fn commit(&mut self, batch: Batch) -> Result<(), StoreError> {
        let (first, last_before) = (batch.entries.first().map(|entry| entry.seq), self.last);
        let append = self.prepare(batch);
        let outcome = self.store.append_checked(append).await;
        if let (Err(_), Some(first)) = (&outcome, first) {
            self.log.withdraw(first);
            self.last = last_before;
        }
        outcome
    }

    fn prepare(&mut self, batch: Batch) -> Append {
        let events: Vec<EventRow> = batch.entries.into_iter().map(|entry| self.row(entry)).collect();
        if let Some(last) = events.last() {
            self.last = last.seq;
        }
        self.log.stage(events.iter().map(|event| StoredEvent {
            seq: event.seq,
            time: event.time,
            body: event.body.clone(),
        }));
        Append {
            stream: self.session.into(),
            time: now(),
            events,
            ended_blocks: batch.ended_blocks,
            changes: batch.changes,
        }
    }

    fn row(&mut self, entry: Entry) -> EventRow {
        let Entry { seq, time, block, response } = entry;
        let body = self.encoder.encode(&response);
        EventRow { seq, time, block, body }
    }
}
