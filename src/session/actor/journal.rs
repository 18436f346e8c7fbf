//! Numbering: the one place where events get their numbers and go to the store.

use std::sync::Arc;

use tokio::sync::watch;

use crate::model::{Response, Seq, SessionId};
use crate::session::clock::now;
use crate::session::event_body::BodyEncoder;
use crate::session::{Head, SessionLog};
use crate::store::{Append, Change, CommitObserver, EndedBlock, EventRow, Store, StoreError, StoredEvent};

pub(super) struct Journal {
    session: SessionId,
    store: Store,
    log: Arc<SessionLog>,
    next_seq: Seq,
    /// Nothing up to here is under way: after a power cut, numbers begin far above the last committed one.
    settled: Seq,
    last_numbered: Seq,
    last_flushed: Seq,
    encoder: BodyEncoder,
    events: Vec<EventRow>,
    ended_blocks: Vec<EndedBlock>,
    changes: Vec<Change>,
}

impl Journal {
    pub fn new(session: SessionId, store: Store, log: Arc<SessionLog>, next_seq: Seq) -> Self {
        Self {
            session,
            store,
            last_numbered: log.head().committed,
            last_flushed: log.head().committed,
            log,
            next_seq,
            settled: next_seq - 1,
            encoder: BodyEncoder::default(),
            events: Vec::new(),
            ended_blocks: Vec::new(),
            changes: Vec::new(),
        }
    }

    pub fn log(&self) -> &SessionLog {
        &self.log
    }

    pub fn watch(&self) -> watch::Receiver<Head> {
        self.log.watch()
    }

    /// The number that the next event will get.
    pub fn next_seq(&self) -> Seq {
        self.next_seq
    }

    /// The number of the last event; lower than `next_seq - 1` only after a power cut.
    pub fn last_numbered(&self) -> Seq {
        self.last_numbered
    }

    /// How many numbered events are not committed yet.
    pub fn in_flight(&self) -> u64 {
        (self.next_seq - 1).saturating_sub(self.log.head().committed.max(self.settled))
    }

    /// Numbers a response.
    pub fn write(&mut self, response: &Response) -> Seq {
        self.number(response, None)
    }

    /// Numbers a delta of the block that began with the number `block`.
    pub fn write_delta(&mut self, response: &Response, block: Seq) -> Seq {
        self.number(response, Some(block))
    }

    /// Drops the deltas of a block, together with the events that are numbered now.
    pub fn end_block(&mut self, block: EndedBlock) {
        self.ended_blocks.push(block);
    }

    /// Changes the session's record, together with the events that are numbered now.
    pub fn change(&mut self, change: Change) {
        self.changes.push(change);
    }

    /// Hands everything to the store; it is committed soon, or kept until it can be.
    pub fn flush(&mut self) {
        if let Some(append) = self.take() {
            self.store.append(append);
        }
    }

    /// Commits everything numbered since the last flush, or nothing of it: then the numbers are free again.
    pub async fn commit(&mut self) -> Result<(), StoreError> {
        let first = self.events.first().map(|event| event.seq);
        let last_before = self.last_flushed;
        let Some(append) = self.take() else { return Ok(()) };
        let outcome = self.store.append_checked(append).await;
        if let (Err(_), Some(first)) = (&outcome, first) {
            self.log.withdraw(first);
            self.next_seq = first;
            (self.last_numbered, self.last_flushed) = (last_before, last_before);
        }
        outcome
    }

    fn number(&mut self, response: &Response, block: Option<Seq>) -> Seq {
        let seq = self.next_seq;
        self.next_seq += 1;
        self.last_numbered = seq;
        let body = self.encoder.encode(response);
        self.events.push(EventRow { seq, time: now(), block, body });
        seq
    }

    fn take(&mut self) -> Option<Append> {
        if self.events.is_empty() && self.changes.is_empty() {
            return None;
        }
        self.last_flushed = self.last_numbered;
        let events = std::mem::take(&mut self.events);
        self.log.stage(events.iter().map(|event| StoredEvent {
            seq: event.seq,
            time: event.time,
            body: event.body.clone(),
        }));
        Some(Append {
            session: self.session,
            time: now(),
            events,
            ended_blocks: std::mem::take(&mut self.ended_blocks),
            changes: std::mem::take(&mut self.changes),
            observer: Arc::clone(&self.log) as Arc<dyn CommitObserver>,
        })
    }
}
