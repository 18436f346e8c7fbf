//! Browsers that are logged in, known by a hash of what they hold.

use rusqlite::params;

use super::{Store, StoreError};
use crate::model::Timestamp;

impl Store {
    /// Remembers a browser until then; forgets those whose time is over.
    pub async fn add_login(&self, hash: String, now: Timestamp, expires_at: Timestamp) -> Result<(), StoreError> {
        self.write(move |connection| {
            connection.execute("DELETE FROM login WHERE expires_at <= ?1", [now.as_millis()])?;
            connection
                .execute(
                    "INSERT OR REPLACE INTO login (hash, expires_at) VALUES (?1, ?2)",
                    params![hash, expires_at.as_millis()],
                )
                .map(drop)
        })
        .await
    }

    /// The browsers that are logged in.
    pub async fn logins(&self, now: Timestamp) -> Result<Vec<(String, Timestamp)>, StoreError> {
        self.read(move |connection| {
            connection
                .prepare_cached("SELECT hash, expires_at FROM login WHERE expires_at > ?1")?
                .query_map([now.as_millis()], |row| Ok((row.get(0)?, Timestamp::from_millis(row.get(1)?))))?
                .collect()
        })
        .await
    }
}
