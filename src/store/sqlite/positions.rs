//! Where portal readers are, and which browsers are logged in.

use rusqlite::{Connection, params};

use super::events::stream_key;
use super::{Sqlite, logins};
use crate::model::{StreamId, Timestamp};
use crate::store::{Answer, ReaderPosition, ReaderRecords, StoredLogin};

impl ReaderRecords for Sqlite {
    fn reader_positions(&self, stream: StreamId) -> Answer<'_, Vec<ReaderPosition>> {
        self.read(move |connection| {
            connection
                .prepare_cached("SELECT token, position, done, seen_at FROM reader WHERE stream = ?1")?
                .query_map([stream_key(stream)], |row| {
                    Ok(ReaderPosition {
                        stream,
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
                "INSERT INTO reader (stream, token, position, done, seen_at) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT (stream, token) DO UPDATE SET position = ?3, done = ?4, seen_at = ?5",
            )?;
            for reader in &positions {
                if has_owner(connection, reader.stream)? {
                    save.execute(params![
                        stream_key(reader.stream),
                        reader.token,
                        reader.position,
                        reader.done,
                        reader.seen_at.as_millis()
                    ])?;
                }
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

/// Whether the session, job or task is still there.
fn has_owner(connection: &Connection, stream: StreamId) -> rusqlite::Result<bool> {
    let (table, id) = match stream {
        StreamId::Session(id) => ("session", id.number()),
        StreamId::Job(id) => ("job", id.number()),
        StreamId::Task(id) => ("task", id.number()),
    };
    connection.prepare_cached(&format!("SELECT 1 FROM {table} WHERE id = ?1"))?.exists([id])
}

/// Readers that were notified of the close may read again.
pub(super) fn reopen(connection: &Connection, stream: StreamId) -> rusqlite::Result<()> {
    connection.prepare_cached("UPDATE reader SET done = 0 WHERE stream = ?1")?.execute([stream_key(stream)]).map(drop)
}
