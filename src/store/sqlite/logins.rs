//! Browsers that are logged in, identified by hashes of their cookies and secrets.

use rusqlite::{Connection, params};

use crate::model::Timestamp;
use crate::store::StoredLogin;

/// Keeps a login until it expires; removes those that have expired.
pub(super) fn add(connection: &Connection, login: &StoredLogin, now: Timestamp) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM login WHERE expires_at <= ?1", [now.as_millis()])?;
    connection
        .execute(
            "INSERT OR REPLACE INTO login (hash, secret, expires_at) VALUES (?1, ?2, ?3)",
            params![login.cookie_hash, login.secret_hash, login.expires_at.as_millis()],
        )
        .map(drop)
}

/// The browsers that are logged in.
pub(super) fn all(connection: &Connection, now: Timestamp) -> rusqlite::Result<Vec<StoredLogin>> {
    connection
        .prepare_cached("SELECT hash, secret, expires_at FROM login WHERE expires_at > ?1")?
        .query_map([now.as_millis()], |row| {
            Ok(StoredLogin {
                cookie_hash: row.get(0)?,
                secret_hash: row.get(1)?,
                expires_at: Timestamp::from_millis(row.get(2)?),
            })
        })?
        .collect()
}
