//! Where portal readers are, so that they go on after a restart.

use rusqlite::params;

use super::{Store, StoreError};
use crate::model::{Seq, SessionId, Timestamp};

/// A reader's place in a session's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReaderPosition {
    /// Whose log.
    pub session: SessionId,
    /// The reader's token; empty for the shared cursor.
    pub token: String,
    /// The number of the last event it got.
    pub position: Seq,
    /// It was told that the session is closed.
    pub done: bool,
    /// When it last read.
    pub seen_at: Timestamp,
}

impl Store {
    /// The readers of a session.
    pub async fn reader_positions(&self, session: SessionId) -> Result<Vec<ReaderPosition>, StoreError> {
        self.read(move |connection| {
            connection
                .prepare_cached("SELECT token, position, done, seen_at FROM reader WHERE session = ?1")?
                .query_map([session.number()], |row| {
                    Ok(ReaderPosition {
                        session,
                        token: row.get(0)?,
                        position: row.get(1)?,
                        done: row.get(2)?,
                        seen_at: Timestamp::from_millis(row.get(3)?),
                    })
                })?
                .collect()
        })
        .await
    }

    /// Saves where readers are. A reader of a session that is gone is not saved.
    pub async fn save_reader_positions(&self, positions: Vec<ReaderPosition>) -> Result<(), StoreError> {
        self.write(move |connection| {
            let mut save = connection.prepare_cached(
                "INSERT INTO reader (session, token, position, done, seen_at)
                 SELECT ?1, ?2, ?3, ?4, ?5 WHERE EXISTS (SELECT 1 FROM session WHERE id = ?1)
                 ON CONFLICT (session, token) DO UPDATE SET position = ?3, done = ?4, seen_at = ?5",
            )?;
            for reader in &positions {
                save.execute(params![
                    reader.session.number(),
                    reader.token,
                    reader.position,
                    reader.done,
                    reader.seen_at.as_millis()
                ])?;
            }
            Ok(())
        })
        .await
    }

    /// Forgets readers with a token that have not read since that moment.
    pub async fn expire_readers(&self, before: Timestamp) -> Result<(), StoreError> {
        self.write(move |connection| {
            connection.execute("DELETE FROM reader WHERE token <> '' AND seen_at < ?1", [before.as_millis()]).map(drop)
        })
        .await
    }
}
