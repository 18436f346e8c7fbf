//! Writing an append: its events, what their ends drop, and its changes.

use std::collections::HashMap;

use rusqlite::{Connection, params};

use super::drop_range::{self, DropRange};
use super::events::event_id;
use super::{change, jobs, notifications, tasks};
use crate::model::{HappeningSubject, Seq, StreamId};
use crate::store::{Append, Change, OutcomeSeq};

/// Writes an append. Outcomes in it are numbered after `last_outcome`, which becomes the last one.
pub(super) fn write(connection: &Connection, append: &Append, last_outcome: &mut OutcomeSeq) -> rusqlite::Result<()> {
    let starts: HashMap<Seq, Seq> = append.ended_blocks.iter().map(|block| (block.end, block.start)).collect();
    let mut insert = connection.prepare_cached("INSERT INTO event (id, time, block, body) VALUES (?1, ?2, ?3, ?4)")?;
    for event in &append.events {
        // The end of a block refers to its start, as its deltas do.
        let block = event.block.or_else(|| starts.get(&event.seq).copied());
        insert.execute(params![event_id(append.stream, event.seq), event.time.as_millis(), block, &event.body[..]])?;
    }
    for block in &append.ended_blocks {
        let range = DropRange {
            first: event_id(append.stream, block.start),
            // The end itself stays.
            last: event_id(append.stream, block.end) - 1,
            block: Some(block.start),
        };
        drop_range::drop_or_defer(connection, range, block.deltas)?;
    }
    for change in &append.changes {
        if write_for_notifications(connection, append, change)? {
            continue;
        }
        match append.stream {
            StreamId::Session(session) => change::write(connection, session, append.time, change, last_outcome)?,
            StreamId::Job(job) => jobs::write_change(connection, job, change)?,
            StreamId::Task(task) => tasks::write_change(connection, task, change)?,
        }
    }
    if let StreamId::Session(session) = append.stream {
        connection
            .prepare_cached("UPDATE session SET updated_at = ?2 WHERE id = ?1")?
            .execute(params![session.number(), append.time.as_millis()])?;
    }
    Ok(())
}

/// Writes what a change means for notifications. Returns whether it means nothing else.
fn write_for_notifications(connection: &Connection, append: &Append, change: &Change) -> rusqlite::Result<bool> {
    let (stream, time) = (append.stream, append.time);
    let Some(subject) = HappeningSubject::of(stream) else { return Ok(false) };
    match change {
        Change::Happened(happening) => notifications::add(connection, subject, time, happening).map(|()| true),
        Change::HappeningOver(key) => notifications::settle(connection, stream, key, time).map(|()| true),
        Change::RequestClosed { request_id, .. } => {
            notifications::settle(connection, stream, request_id.as_str(), time).map(|()| false)
        }
        Change::RunStatus { ended_at: Some(_), .. } => {
            notifications::settle_all(connection, stream, time).map(|()| false)
        }
        _ => Ok(false),
    }
}

/// How much an append adds to a transaction.
pub(super) fn weight(append: &Append) -> usize {
    1 + append.events.len() + append.changes.len()
}

/// Roughly how many bytes an append writes.
pub(super) fn bytes(append: &Append) -> usize {
    append.events.iter().map(|event| event.body.len()).sum()
}
