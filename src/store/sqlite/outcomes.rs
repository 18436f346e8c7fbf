//! Outcomes of all sessions, numbered in the order in which turns ended.

use rusqlite::{Connection, OptionalExtension, params};

use crate::model::SessionId;
use crate::store::{Append, Change, OutcomeSeq, StoredOutcome};

/// How far ahead numbers are reserved: one durable commit per this many turns.
const RESERVED_AT_ONCE: OutcomeSeq = 1_024;

/// The numbers of outcomes: assigned by the writer, reserved durably like those of events.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OutcomeNumbers {
    pub last: OutcomeSeq,
    reserved: OutcomeSeq,
}

impl OutcomeNumbers {
    pub fn load(connection: &Connection) -> rusqlite::Result<Self> {
        let last: OutcomeSeq =
            connection.query_row("SELECT coalesce(max(outcome_seq), 0) FROM prompt", [], |row| row.get(0))?;
        let kept = |key: &str| -> rusqlite::Result<OutcomeSeq> {
            let text: Option<String> =
                connection.query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| row.get(0)).optional()?;
            Ok(text.and_then(|text| text.parse().ok()).unwrap_or(0))
        };
        Ok(Self { last: last.max(kept("outcome_floor")?), reserved: kept("outcome_reserved")? })
    }

    /// The reservation that is needed before this many more outcomes, if today's is too low.
    pub fn reservation_for(&self, more: u64) -> Option<OutcomeSeq> {
        (more > 0 && self.last + more > self.reserved).then(|| self.last + more + RESERVED_AT_ONCE)
    }

    pub fn reserve(connection: &Connection, bound: OutcomeSeq) -> rusqlite::Result<()> {
        connection
            .prepare_cached("INSERT OR REPLACE INTO meta (key, value) VALUES ('outcome_reserved', ?1)")?
            .execute([bound.to_string()])
            .map(drop)
    }

    /// Everything is committed: these numbers are used.
    pub fn committed(&mut self, last: OutcomeSeq, reserved: Option<OutcomeSeq>) {
        self.last = last;
        self.reserved = reserved.unwrap_or(self.reserved);
    }
}

/// After a power cut: numbers continue above everything that was reserved. A session that is deleted takes its outcomes
/// with it, so the last number is kept apart from them.
pub(super) fn jump(connection: &Connection) -> rusqlite::Result<()> {
    connection
        .execute(
            "INSERT OR REPLACE INTO meta (key, value) SELECT 'outcome_floor', value FROM meta
             WHERE key = 'outcome_reserved'",
            [],
        )
        .map(drop)
}

/// Keeps the last number, for the next start: the newest outcome may be deleted with its session.
pub(super) fn note_last(connection: &Connection, last: OutcomeSeq) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO meta (key, value) VALUES ('outcome_floor', ?1)")?
        .execute([last.to_string()])
        .map(drop)
}

/// How many outcomes an append has.
pub(super) fn count(append: &Append) -> u64 {
    append.changes.iter().filter(|change| matches!(change, Change::PromptEnded(..))).count() as u64
}

pub(super) fn after(connection: &Connection, after: OutcomeSeq, limit: usize) -> rusqlite::Result<Vec<StoredOutcome>> {
    let mut statement = connection.prepare_cached(
        "SELECT outcome_seq, session, outcome FROM prompt WHERE outcome_seq > ?1 ORDER BY outcome_seq LIMIT ?2",
    )?;
    let mut rows = statement.query(params![after, limit])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let json: String = row.get(2)?;
        let outcome = serde_json::from_str(&json).map_err(|error| {
            rusqlite::Error::FromSqlConversionFailure(2, rusqlite::types::Type::Text, Box::new(error))
        })?;
        found.push(StoredOutcome { seq: row.get(0)?, session: SessionId::from_number(row.get(1)?), outcome });
    }
    Ok(found)
}
