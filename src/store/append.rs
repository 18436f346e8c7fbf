//! What a session gives the writer: numbered events and the changes that go with them, in one transaction.

use std::sync::Arc;

use bytes::Bytes;
use rusqlite::{Connection, params};

use super::drop_range::{self, DropRange};
use super::events::event_id;
use super::{Change, StoreError};
use crate::model::{Seq, SessionId, Timestamp};

/// How far ahead numbers are reserved: one durable write per this many events of a session.
const RESERVED_AT_ONCE: u64 = 65_536;

/// A numbered event on its way to its row.
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

/// Learns what became of appended events. Called on the writer's thread: must not block.
pub trait CommitObserver: Send + Sync {
    /// Everything up to this number is in the store.
    fn committed(&self, through: Seq);
    /// The store will never take these events: a defect.
    fn rejected(&self, error: &StoreError);
}

/// Events and changes of one session that belong in one transaction.
pub struct Append {
    /// Whose.
    pub session: SessionId,
    /// When.
    pub time: Timestamp,
    /// In order.
    pub events: Vec<EventRow>,
    /// Blocks that end with these events.
    pub ended_blocks: Vec<EndedBlock>,
    /// What else changes.
    pub changes: Vec<Change>,
    /// Who is told.
    pub observer: Arc<dyn CommitObserver>,
}

impl Append {
    pub(super) fn weight(&self) -> usize {
        1 + self.events.len() + self.changes.len()
    }

    /// The number reserved for this session so far is not enough, so the transaction must survive a power cut.
    pub(super) fn last_seq(&self) -> Option<Seq> {
        self.events.last().map(|event| event.seq)
    }

    pub(super) fn write(&self, connection: &Connection) -> rusqlite::Result<()> {
        let mut insert =
            connection.prepare_cached("INSERT INTO event (id, time, block, body) VALUES (?1, ?2, ?3, ?4)")?;
        for event in &self.events {
            insert.execute(params![
                event_id(self.session, event.seq),
                event.time.as_millis(),
                event.block,
                &event.body[..]
            ])?;
        }
        for block in &self.ended_blocks {
            drop_range::drop_or_defer(
                connection,
                DropRange {
                    first: event_id(self.session, block.start),
                    last: event_id(self.session, block.end),
                    block: Some(block.start),
                },
                block.deltas,
            )?;
        }
        for change in &self.changes {
            change.write(connection, self.session)?;
        }
        connection
            .prepare_cached("UPDATE session SET updated_at = ?2 WHERE id = ?1")?
            .execute(params![self.session.number(), self.time.as_millis()])?;
        Ok(())
    }

    /// Reserves numbers beyond those of this append; gives the new bound.
    pub(super) fn reserve(&self, connection: &Connection, last: Seq) -> rusqlite::Result<Seq> {
        let bound = last + RESERVED_AT_ONCE;
        connection
            .prepare_cached("UPDATE session SET seq_reserved = ?2 WHERE id = ?1")?
            .execute(params![self.session.number(), bound])?;
        Ok(bound)
    }
}
