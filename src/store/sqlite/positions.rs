//! Where portal readers are, and which browsers are logged in.

use rusqlite::params;

use super::{Sqlite, logins};
use crate::model::{SessionId, Timestamp};
use crate::store::{Answer, ReaderPosition, ReaderRecords, StoredLogin};

impl ReaderRecords for Sqlite {
    fn reader_positions(&self, session: SessionId) -> Answer<'_, Vec<ReaderPosition>> {
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
    }

    fn save_reader_positions(&self, positions: Vec<ReaderPosition>) -> Answer<'_, ()> {
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
    }

    fn expire_readers(&self, before: Timestamp) -> Answer<'_, ()> {
        self.write(move |connection| {
            connection.execute("DELETE FROM reader WHERE token <> '' AND seen_at < ?1", [before.as_millis()]).map(drop)
        })
    }

    fn add_login(&self, login: StoredLogin, now: Timestamp) -> Answer<'_, ()> {
        self.write(move |connection| logins::add(connection, &login, now))
    }

    fn logins(&self, now: Timestamp) -> Answer<'_, Vec<StoredLogin>> {
        self.read(move |connection| logins::all(connection, now))
    }
}
