//! What retention asks: which session was closed first, and how much is in use.

use rusqlite::{Connection, OptionalExtension, params};

use crate::model::{SessionId, Timestamp};

/// The session that was closed first, if it was closed before that moment.
pub(super) fn longest_closed(connection: &Connection, before: Timestamp) -> rusqlite::Result<Option<SessionId>> {
    connection
        .prepare_cached(
            "SELECT id FROM session WHERE closed_at IS NOT NULL AND closed_at < ?1 ORDER BY closed_at LIMIT 1",
        )?
        .query_row(params![before.as_millis()], |row| Ok(SessionId::from_number(row.get(0)?)))
        .optional()
}

/// How many bytes of the database are in use. Pages of dropped rows count as free once they are dropped.
pub(super) fn used_bytes(connection: &Connection) -> rusqlite::Result<u64> {
    let figure = |name: &str| connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, u64>(0));
    Ok((figure("page_count")? - figure("freelist_count")?) * figure("page_size")?)
}
