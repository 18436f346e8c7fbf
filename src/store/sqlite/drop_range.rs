//! Dropping many rows without keeping other sessions waiting: long ranges go in slices, between transactions, and are
//! recorded in the store until they are gone.

use rusqlite::{Connection, OptionalExtension, params};

/// Ranges with fewer rows than this go in the transaction that ends them.
const AT_ONCE: u64 = 4_096;
/// Rows that one slice drops.
const SLICE: i64 = 2_048;

/// Rows of `event` from `first` to `last`; with `block`, only the deltas of that block.
#[derive(Clone, Copy, Debug)]
pub(super) struct DropRange {
    pub first: i64,
    pub last: i64,
    pub block: Option<u64>,
}

pub(super) fn drop_or_defer(connection: &Connection, range: DropRange, rows: u64) -> rusqlite::Result<()> {
    if rows == 0 {
        return Ok(());
    }
    if rows < AT_ONCE {
        connection
            .prepare_cached("DELETE FROM event WHERE id BETWEEN ?1 AND ?2 AND (?3 IS NULL OR block = ?3)")?
            .execute(params![range.first, range.last, range.block])?;
    } else {
        defer(connection, range)?;
    }
    Ok(())
}

pub(super) fn defer(connection: &Connection, range: DropRange) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT INTO dropped_range (first, last, block) VALUES (?1, ?2, ?3)")?
        .execute(params![range.first, range.last, range.block])?;
    Ok(())
}

/// Drops one slice of the oldest deferred range. Returns whether there may be more.
pub(super) fn drop_slice(connection: &Connection) -> rusqlite::Result<bool> {
    let oldest = connection
        .prepare_cached("SELECT id, first, last, block FROM dropped_range ORDER BY id LIMIT 1")?
        .query_row([], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?, row.get::<_, Option<u64>>(3)?))
        })
        .optional()?;
    let Some((id, first, last, block)) = oldest else {
        return Ok(false);
    };
    // The end of the slice is found by counting rows, so that a slice's cost does not depend on gaps.
    let end: Option<i64> = connection
        .prepare_cached("SELECT id FROM event WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT 1 OFFSET ?3")?
        .query_row(params![first, last, SLICE], |row| row.get(0))
        .optional()?;
    connection
        .prepare_cached("DELETE FROM event WHERE id BETWEEN ?1 AND ?2 AND (?3 IS NULL OR block = ?3)")?
        .execute(params![first, end.unwrap_or(last), block])?;
    match end {
        Some(end) => {
            connection
                .prepare_cached("UPDATE dropped_range SET first = ?2 WHERE id = ?1")?
                .execute(params![id, end])?;
        }
        None => {
            connection.prepare_cached("DELETE FROM dropped_range WHERE id = ?1")?.execute([id])?;
        }
    }
    Ok(true)
}

/// Whether ranges wait to be dropped.
pub(super) fn any_deferred(connection: &Connection) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT 1 FROM dropped_range LIMIT 1")?.exists([])
}
