//! What jobs and tasks outside jobs have in common: how far they have come, and a stream.

use rusqlite::{Connection, Row, params};

use super::change::misplaced;
use super::drop_range::{self, DropRange};
use super::events::{stream_key, whole_log};
use super::positions;
use super::sessions::unreadable;
use crate::model::{JobStatus, StreamId, Timestamp};
use crate::store::{Change, RunState};

/// The columns of a [`RunState`], in the order in which [`state`] reads them.
pub(super) const COLUMNS: &str = "status, error, started_at, ended_at, is_settled";

/// Reads a state whose first column has this position.
pub(super) fn state(row: &Row<'_>, first: usize) -> rusqlite::Result<RunState> {
    let status: String = row.get(first)?;
    Ok(RunState {
        status: status.parse::<JobStatus>().map_err(|error| unreadable(first, error))?,
        error: row.get(first + 1)?,
        started_at: Timestamp::from_millis(row.get(first + 2)?),
        ended_at: row.get::<_, Option<i64>>(first + 3)?.map(Timestamp::from_millis),
        is_settled: row.get(first + 4)?,
    })
}

/// Writes a change of a row with these columns.
pub(super) fn write_change(
    connection: &Connection,
    table: &str,
    id: u32,
    stream: StreamId,
    change: &Change,
) -> rusqlite::Result<()> {
    match change {
        Change::RunStatus { status, error, ended_at } => connection
            .prepare_cached(&format!(
                "UPDATE {table} SET status = ?2, error = ?3, ended_at = ?4, is_settled = 0 WHERE id = ?1"
            ))?
            .execute(params![id, status.as_str(), error, ended_at.map(Timestamp::as_millis)])
            .map(drop),
        // A retry may have come first: then the run goes on.
        Change::RunSettled => connection
            .prepare_cached(&format!("UPDATE {table} SET is_settled = 1 WHERE id = ?1 AND ended_at IS NOT NULL"))?
            .execute([id])
            .map(drop),
        Change::ReadersReopened => positions::reopen(connection, stream),
        // Only the commit is another one.
        Change::PersonDecided => Ok(()),
        _ => Err(misplaced(stream)),
    }
}

/// Deletes a log, its numbers and its readers. The events themselves go later, in slices.
pub(super) fn delete_stream(connection: &Connection, stream: StreamId) -> rusqlite::Result<()> {
    let (first, last) = whole_log(stream);
    drop_range::defer(connection, DropRange { first, last, block: None })?;
    let key = stream_key(stream);
    connection.prepare_cached("DELETE FROM reader WHERE stream = ?1")?.execute([key])?;
    connection.prepare_cached("DELETE FROM stream WHERE id = ?1")?.execute([key]).map(drop)
}
