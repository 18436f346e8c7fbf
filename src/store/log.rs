//! The log: numbered events of a stream, appended in transactions and read in pages.

use std::sync::Weak;

use bytes::Bytes;

use super::{Answer, Change, StoreError};
use crate::model::{Seq, StreamId, Timestamp};

/// Logs, one per stream.
///
/// A backend that several nodes share adds the owner's epoch to [`Append`] and checks it in the append's transaction;
/// nothing else of this interface says who owns a stream. Subscribers are notified of every commit, whichever node made
/// it.
pub trait Log: Send + Sync {
    /// Appends events. Returns at once; subscribers are notified of the commit. While the disk refuses, the append is
    /// kept and retried. The caller bounds how much it has in flight.
    fn append(&self, append: Append);

    /// Appends events and waits for the commit. After an error nothing was written and nothing is kept.
    fn append_checked(&self, append: Append) -> Answer<'_, ()>;

    /// A page of a log, in order, and whether more events follow in the direction of reading.
    fn events(&self, stream: StreamId, page: EventPage) -> Answer<'_, (Vec<StoredEvent>, bool)>;

    /// The event that started the block which ended with the event `end`.
    fn block_start(&self, stream: StreamId, end: Seq) -> Answer<'_, Option<StoredEvent>>;

    /// The prompts in a log, those of agents included: the events `onUserPrompt` and `onGeneratedUserPrompt`, in order.
    fn prompt_events(&self, stream: StreamId) -> Answer<'_, Vec<StoredEvent>>;

    /// The number of the next event.
    fn next_seq(&self, stream: StreamId) -> Answer<'_, Seq>;

    /// Calls the observer for every commit to the stream from now on, for as long as it exists.
    fn subscribe(&self, stream: StreamId, observer: Weak<dyn CommitObserver>);
}

/// Is notified of what happened to appended events. Called on the store's thread, so it must not block.
pub trait CommitObserver: Send + Sync {
    /// Everything up to this number is in the store.
    fn committed(&self, through: Seq);
    /// The store rejected appended events for good: a bug.
    fn rejected(&self, error: &StoreError);
}

/// A numbered event to be written.
#[derive(Clone, Debug)]
pub struct EventRow {
    /// Its number.
    pub seq: Seq,
    /// When it was made.
    pub time: Timestamp,
    /// For a delta: the number of its block's start.
    pub block: Option<Seq>,
    /// The response, as JSON.
    pub body: Bytes,
}

/// A block that ended: the deltas between its start and its end are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndedBlock {
    /// The number of its start.
    pub start: Seq,
    /// The number of its end.
    pub end: Seq,
    /// How many deltas there are.
    pub deltas: u64,
}

/// Events and changes of one stream that belong in one transaction.
#[derive(Clone, Debug)]
pub struct Append {
    /// Whose.
    pub stream: StreamId,
    /// When.
    pub time: Timestamp,
    /// In order.
    pub events: Vec<EventRow>,
    /// Blocks that end with these events.
    pub ended_blocks: Vec<EndedBlock>,
    /// What else changes.
    pub changes: Vec<Change>,
}

impl Append {
    /// The number of the last event.
    pub fn last_seq(&self) -> Option<Seq> {
        self.events.last().map(|event| event.seq)
    }

    /// Whether somebody may want to be notified of it.
    pub fn has_happened(&self) -> bool {
        self.changes.iter().any(|change| matches!(change, Change::Happened(_)))
    }

    /// Whether it has events that stay: not only deltas of blocks that have not ended.
    pub fn has_more_than_deltas(&self) -> bool {
        !self.ended_blocks.is_empty() || self.events.iter().any(|event| event.block.is_none())
    }

    /// Whether it contains a promise that must survive a power cut: a caller that repeats a prompt with its key must find
    /// the first one, and a person's decision about a job counts.
    pub fn must_survive_power_cut(&self) -> bool {
        self.changes.iter().any(|change| match change {
            Change::PromptAccepted(prompt) => prompt.idempotency_key.is_some(),
            Change::PersonDecided => true,
            _ => false,
        })
    }
}

/// An event as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEvent {
    /// Its number.
    pub seq: Seq,
    /// When it was made.
    pub time: Timestamp,
    /// The response, as JSON.
    pub body: Bytes,
}

/// How the bodies of prompts begin. The name of a callback is always the first thing in its body.
pub(super) const PROMPT_BEGINNINGS: [&str; 2] =
    [r#"{"callback":"onUserPrompt","#, r#"{"callback":"onGeneratedUserPrompt","#];

/// Which events to read. Both bounds are exclusive.
#[derive(Clone, Copy, Debug)]
pub struct EventPage {
    /// Only events with higher numbers.
    pub after: Seq,
    /// Only events with lower numbers; the page then is the last one before it.
    pub before: Option<Seq>,
    /// At most that many.
    pub limit: usize,
    /// Stop after that many bytes, but never before the first event.
    pub max_bytes: usize,
}

impl EventPage {
    /// The page with this one event.
    pub fn only(seq: Seq) -> Self {
        Self { after: seq.saturating_sub(1), before: Some(seq.saturating_add(1)), limit: 1, max_bytes: usize::MAX }
    }
}
