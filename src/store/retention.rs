//! Forgetting old sessions, where the configuration says so. Only closed sessions are ever forgotten.

use std::time::Duration;

use rusqlite::{OptionalExtension, params};

use super::{Store, StoreError};
use crate::model::{SessionId, Timestamp};

/// What is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// Sessions closed longer ago than this are forgotten.
    pub max_age: Option<Duration>,
    /// While the database holds more than this, the sessions closed longest ago are forgotten.
    pub max_bytes: Option<u64>,
}

impl Store {
    /// The session that was closed first, if it was closed before that moment.
    pub async fn longest_closed(&self, before: Timestamp) -> Result<Option<SessionId>, StoreError> {
        self.read(move |connection| {
            connection
                .prepare_cached(
                    "SELECT id FROM session WHERE closed_at IS NOT NULL AND closed_at < ?1 ORDER BY closed_at LIMIT 1",
                )?
                .query_row(params![before.as_millis()], |row| Ok(SessionId::from_number(row.get(0)?)))
                .optional()
        })
        .await
    }

    /// How many bytes of the database are in use. Pages of dropped rows count as free once they are dropped.
    pub async fn used_bytes(&self) -> Result<u64, StoreError> {
        self.settle().await?;
        self.read(|connection| {
            let figure = |name: &str| connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, u64>(0));
            Ok((figure("page_count")? - figure("freelist_count")?) * figure("page_size")?)
        })
        .await
    }
}
