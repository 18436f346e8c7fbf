//! Browsers that are logged in, known by a hash of what they hold.

use rusqlite::{Connection, params};

use crate::model::Timestamp;

/// Remembers a browser until it expires; forgets expired ones.
pub(super) fn add(connection: &Connection, hash: &str, now: Timestamp, expires_at: Timestamp) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM login WHERE expires_at <= ?1", [now.as_millis()])?;
    connection
        .execute(
            "INSERT OR REPLACE INTO login (hash, expires_at) VALUES (?1, ?2)",
            params![hash, expires_at.as_millis()],
        )
        .map(drop)
}

/// The browsers that are logged in.
pub(super) fn all(connection: &Connection, now: Timestamp) -> rusqlite::Result<Vec<(String, Timestamp)>> {
    connection
        .prepare_cached("SELECT hash, expires_at FROM login WHERE expires_at > ?1")?
        .query_map([now.as_millis()], |row| Ok((row.get(0)?, Timestamp::from_millis(row.get(1)?))))?
        .collect()
}
