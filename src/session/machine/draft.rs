//! Events and changes that have not been handed to the store yet.

use super::transcript::Entries;
use crate::model::{Happening, HappeningKind, Response, Seq, Timestamp};
use crate::store::{Change, EndedBlock};

/// A numbered event.
#[derive(Clone, Debug)]
pub(in crate::session) struct Entry {
    pub seq: Seq,
    pub time: Timestamp,
    /// For a piece of a block: the number of its start.
    pub block: Option<Seq>,
    pub response: Response,
}

/// What belongs in one transaction.
#[derive(Clone, Debug, Default)]
pub(in crate::session) struct Batch {
    pub entries: Vec<Entry>,
    pub ended_blocks: Vec<EndedBlock>,
    pub changes: Vec<Change>,
}

/// The one place where events get their numbers.
#[derive(Debug)]
pub(super) struct Draft {
    next_seq: Seq,
    time: Timestamp,
    batch: Batch,
}

impl Draft {
    pub fn new(next_seq: Seq) -> Self {
        Self { next_seq, time: Timestamp::from_millis(0), batch: Batch::default() }
    }

    /// The time that events get from here on.
    pub fn set_time(&mut self, time: Timestamp) {
        self.time = time;
    }

    pub fn change(&mut self, change: Change) {
        self.batch.changes.push(change);
    }

    /// Reports a happening, unless one of the same kind is reported in the same transaction: one failure may end several
    /// prompts. Each request counts by itself.
    pub fn happened(&mut self, happening: Happening) {
        let is_same = |change: &Change| matches!(change, Change::Happened(known) if known.kind == happening.kind);
        if happening.kind == HappeningKind::NeedsYou || !self.batch.changes.iter().any(is_same) {
            self.change(Change::Happened(happening));
        }
    }

    /// The number of the last event.
    pub fn last_seq(&self) -> Seq {
        self.next_seq - 1
    }

    /// Everything since the last time; `None` when there is nothing.
    pub fn take(&mut self) -> Option<Batch> {
        let is_empty = self.batch.entries.is_empty() && self.batch.changes.is_empty();
        (!is_empty).then(|| std::mem::take(&mut self.batch))
    }

    /// The store refused the last batch, which began with this number: its numbers are free again.
    pub fn withdraw(&mut self, first: Seq) {
        debug_assert!(self.batch.entries.is_empty(), "nothing is numbered while a commit is under way");
        self.next_seq = first;
    }
}

impl Entries for Draft {
    fn next_seq(&self) -> Seq {
        self.next_seq
    }

    fn push(&mut self, response: Response, block: Option<Seq>) {
        self.batch.entries.push(Entry { seq: self.next_seq, time: self.time, block, response });
        self.next_seq += 1;
    }

    fn ended(&mut self, block: EndedBlock) {
        self.batch.ended_blocks.push(block);
    }
}
