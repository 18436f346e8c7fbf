//! The newest events of a log, in memory, shared by all readers that keep up.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::model::Seq;
use crate::store::StoredEvent;

/// What an entry costs beside its bytes.
const ENTRY_OVERHEAD: usize = size_of::<StoredEvent>() + 32;
/// An event counts at most this much when the tail is cut to a window. The end of a block repeats the text of deltas
/// that were counted already: counted in full, the end of a long message would push out all of its deltas at once, and
/// even a reader that had kept up would miss the last of them.
const MOST_COUNTED: usize = 256 * 1024;
/// What a tail holds at most, however little of it is counted; the last event alone may be larger.
const MOST_HELD: usize = 64 * 1024 * 1024;

/// Bytes that all tails together hold.
#[derive(Clone, Debug, Default)]
pub(super) struct TailBudget(Arc<AtomicUsize>);

impl TailBudget {
    fn add(&self, bytes: usize) {
        self.0.fetch_add(bytes, Ordering::Relaxed);
    }

    fn remove(&self, bytes: usize) {
        self.0.fetch_sub(bytes, Ordering::Relaxed);
    }

    pub fn used(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// Events from the first one kept to the last one numbered; those after `committed` are not for readers yet.
#[derive(Debug)]
pub(super) struct Tail {
    entries: VecDeque<StoredEvent>,
    bytes: usize,
    /// The part of `bytes` that counts when the tail is cut to a window.
    counted: usize,
    evicted_through: Seq,
    committed: Seq,
    budget: TailBudget,
}

/// What the tail has for a reader.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TailRead {
    /// The next events.
    Events(Vec<StoredEvent>),
    /// Nothing new.
    CaughtUp,
    /// The reader's next event is not here any more: the store has those up to this number.
    Behind(Seq),
}

impl Tail {
    /// A tail that continues a log whose last committed number is `committed`.
    pub fn new(committed: Seq, budget: TailBudget) -> Self {
        Self { entries: VecDeque::new(), bytes: 0, counted: 0, evicted_through: committed, committed, budget }
    }

    pub fn push(&mut self, event: StoredEvent) {
        let cost = event.body.len() + ENTRY_OVERHEAD;
        self.bytes += cost;
        self.counted += cost.min(MOST_COUNTED);
        self.budget.add(cost);
        self.entries.push_back(event);
    }

    /// Withdraws events from that number on: the store refused them and no reader has seen them.
    pub fn withdraw(&mut self, from: Seq) {
        while self.entries.back().is_some_and(|event| event.seq >= from) {
            if let Some(event) = self.entries.pop_back() {
                self.discount(&event);
            }
        }
    }

    pub fn commit(&mut self, through: Seq) {
        self.committed = self.committed.max(through);
    }

    /// Drops the oldest committed events until the rest fits into a window of `keep` bytes.
    pub fn evict(&mut self, keep: usize) {
        while self.counted > keep || (self.bytes > MOST_HELD && self.entries.len() > 1) {
            if !self.evict_first(self.committed) {
                break;
            }
        }
        self.give_back_room();
    }

    /// Drops committed events up to a number, because every reader has them, until at most `keep` bytes are left. Large
    /// events count in full here: dropping them takes nothing from anybody.
    pub fn evict_through(&mut self, through: Seq, keep: usize) {
        let through = through.min(self.committed);
        while self.bytes > keep && self.evict_first(through) {}
        self.give_back_room();
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Drops the first event unless its number is higher than `through`. Returns whether it did.
    fn evict_first(&mut self, through: Seq) -> bool {
        let Some(event) = self.entries.pop_front_if(|event| event.seq <= through) else { return false };
        self.evicted_through = event.seq;
        self.discount(&event);
        true
    }

    /// A tail that was long keeps no room for that many entries.
    fn give_back_room(&mut self) {
        if self.entries.capacity() > 4 * self.entries.len().max(16) {
            self.entries.shrink_to(2 * self.entries.len());
        }
    }

    pub fn read(&self, after: Seq, limit: usize, max_bytes: usize) -> TailRead {
        if after >= self.committed {
            return TailRead::CaughtUp;
        }
        if after < self.evicted_through {
            return TailRead::Behind(self.evicted_through);
        }
        let first = self.entries.partition_point(|event| event.seq <= after);
        let mut bytes = 0;
        let events: Vec<StoredEvent> = self
            .entries
            .range(first..)
            .take_while(|event| {
                let fits = bytes == 0 || bytes + event.body.len() <= max_bytes;
                bytes += event.body.len();
                event.seq <= self.committed && fits
            })
            .take(limit)
            .cloned()
            .collect();
        if events.is_empty() { TailRead::CaughtUp } else { TailRead::Events(events) }
    }

    fn discount(&mut self, event: &StoredEvent) {
        let cost = event.body.len() + ENTRY_OVERHEAD;
        self.bytes -= cost;
        self.counted -= cost.min(MOST_COUNTED);
        self.budget.remove(cost);
    }
}

impl Drop for Tail {
    fn drop(&mut self) {
        self.budget.remove(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Timestamp;

    fn event(seq: Seq) -> StoredEvent {
        StoredEvent { seq, time: Timestamp::from_millis(0), body: vec![b'x'; 100].into() }
    }

    fn tail(events: std::ops::RangeInclusive<Seq>) -> Tail {
        let mut tail = Tail::new(events.start() - 1, TailBudget::default());
        for seq in events {
            tail.push(event(seq));
        }
        tail
    }

    fn seqs(read: TailRead) -> Vec<Seq> {
        match read {
            TailRead::Events(events) => events.iter().map(|event| event.seq).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn readers_see_committed_events_only() {
        let mut tail = tail(1..=3);
        assert_eq!(tail.read(0, 10, 1000), TailRead::CaughtUp);
        tail.commit(2);
        assert_eq!(seqs(tail.read(0, 10, 1000)), [1, 2]);
        assert_eq!(seqs(tail.read(1, 10, 1000)), [2]);
        assert_eq!(tail.read(2, 10, 1000), TailRead::CaughtUp);
    }

    #[test]
    fn a_reader_whose_next_event_was_let_go_is_behind() {
        let mut tail = tail(5..=9);
        tail.commit(8);
        assert_eq!(tail.read(3, 10, 1000), TailRead::Behind(4));
        tail.evict(0);
        assert_eq!(tail.read(7, 10, 1000), TailRead::Behind(8));
        assert_eq!(tail.read(8, 10, 1000), TailRead::CaughtUp, "9 is not committed, so it was kept and is not shown");
        tail.commit(9);
        assert_eq!(seqs(tail.read(8, 10, 1000)), [9]);
    }

    #[test]
    fn a_batch_has_at_least_one_event_and_keeps_both_limits() {
        let mut tail = tail(1..=9);
        tail.commit(9);
        assert_eq!(seqs(tail.read(0, 2, 1000)), [1, 2]);
        assert_eq!(seqs(tail.read(0, 10, 250)), [1, 2]);
        assert_eq!(seqs(tail.read(0, 10, 1)), [1]);
    }

    #[test]
    fn the_end_of_a_long_message_does_not_push_out_its_deltas() {
        const WINDOW: usize = 16 * 1024 * 1024;
        let sized = |seq, size| StoredEvent { seq, time: Timestamp::from_millis(0), body: vec![b'x'; size].into() };
        let mut tail = Tail::new(0, TailBudget::default());
        for seq in 1..=20_000 {
            tail.push(sized(seq, 1_000));
            tail.commit(seq);
            tail.evict(WINDOW);
        }
        tail.push(sized(20_001, 20_000_000));
        tail.commit(20_001);
        tail.evict(WINDOW);
        assert_eq!(seqs(tail.read(6_000, 1, 1)), [6_001], "a reader 14 MB behind the end gets the next delta");
        assert!(matches!(tail.read(3_000, 1, 1), TailRead::Behind(_)), "one 17 MB behind does not");
        for seq in 20_002..=20_010 {
            tail.push(sized(seq, 20_000_000));
            tail.commit(seq);
            tail.evict(WINDOW);
        }
        assert!(tail.bytes <= MOST_HELD, "{}", tail.bytes);
        tail.push(sized(20_011, MOST_HELD + 1));
        tail.commit(20_011);
        tail.evict(WINDOW);
        assert_eq!(seqs(tail.read(20_010, 1, 1)), [20_011], "readers share even an event that is larger than that");
    }

    #[test]
    fn what_every_reader_has_is_dropped_and_the_room_for_it_given_back() {
        let mut tail = tail(1..=10_000);
        tail.commit(9_999);
        tail.evict_through(9_990, 0);
        assert_eq!(seqs(tail.read(9_990, 3, 1000)), [9_991, 9_992, 9_993]);
        assert!(tail.entries.capacity() < 100, "{}", tail.entries.capacity());
        tail.evict_through(Seq::MAX, 0);
        assert!(!tail.is_empty(), "what is not committed stays");
    }

    #[test]
    fn the_end_of_a_long_message_is_dropped_once_every_reader_has_it() {
        let budget = TailBudget::default();
        let mut tail = Tail::new(0, budget.clone());
        tail.push(event(1));
        tail.push(StoredEvent { body: vec![b'x'; 4 * MOST_COUNTED].into(), ..event(2) });
        tail.push(event(3));
        tail.commit(3);
        tail.evict_through(1, 2 * MOST_COUNTED);
        assert_eq!(seqs(tail.read(1, 1, 1)), [2], "somebody needs it");
        tail.evict_through(3, 2 * MOST_COUNTED);
        assert_eq!(seqs(tail.read(2, 1, 1)), [3], "what fits stays");
        assert!(budget.used() < 1_000, "{}", budget.used());
    }

    #[test]
    fn what_is_withdrawn_or_let_go_is_given_back_to_the_budget() {
        let budget = TailBudget::default();
        let mut tail = Tail::new(0, budget.clone());
        (1..=4).for_each(|seq| tail.push(event(seq)));
        let all = budget.used();
        tail.withdraw(4);
        tail.commit(3);
        tail.evict(all / 2);
        assert_eq!(budget.used(), all / 2);
        drop(tail);
        assert_eq!(budget.used(), 0);
    }
}
