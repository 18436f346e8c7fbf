//! Browsers that are logged in, known by hashes of what they hold.

use rusqlite::params;

use super::{Store, StoreError};
use crate::model::Timestamp;

/// A browser that is logged in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredLogin {
    /// The hash of its cookie.
    pub cookie_hash: String,
    /// The hash of the secret in its page's storage.
    pub secret_hash: String,
    /// When it must log in again.
    pub expires_at: Timestamp,
}

impl Store {
    /// Keeps a login until it expires; removes those that have expired.
    pub async fn add_login(&self, login: StoredLogin, now: Timestamp) -> Result<(), StoreError> {
        self.write(move |connection| {
            connection.execute("DELETE FROM login WHERE expires_at <= ?1", [now.as_millis()])?;
            connection
                .execute(
                    "INSERT OR REPLACE INTO login (hash, secret, expires_at) VALUES (?1, ?2, ?3)",
                    params![login.cookie_hash, login.secret_hash, login.expires_at.as_millis()],
                )
                .map(drop)
        })
        .await
    }

    /// The browsers that are logged in.
    pub async fn logins(&self, now: Timestamp) -> Result<Vec<StoredLogin>, StoreError> {
        self.read(move |connection| {
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
        })
        .await
    }
}
