//! Comparing the index with the logs. The index may have been copied, restored or left behind by another server, and a
//! power cut may have taken events that are indexed.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, params};

use super::SearchFile;
use super::indexing::remove;
use crate::model::{Seq, SessionId};
use crate::store::StoreError;
use crate::store::sqlite::events::{LAST_OF_KIND, event_id, seq_of};

/// How far a session is indexed.
pub(super) struct Position {
    session: SessionId,
    through: Seq,
    /// The newest event with a text, and its time.
    newest: Option<(Seq, i64)>,
}

/// What a comparison found.
#[derive(Default)]
pub(super) struct Found {
    /// Sessions that are gone, or have another log than the one that was indexed.
    removed: Vec<SessionId>,
    /// Every session: how far it is indexed, and how far its log goes.
    sessions: Vec<(SessionId, Seq, Seq)>,
}

impl SearchFile {
    pub(super) fn positions(&self) -> Result<Vec<Position>, StoreError> {
        self.write(|connection, _| {
            connection
                .prepare("SELECT session, through, newest, newest_time FROM position")?
                .query_map([], |row| {
                    let newest: Option<Seq> = row.get(2)?;
                    let time: Option<i64> = row.get(3)?;
                    Ok(Position {
                        session: SessionId::from_number(row.get(0)?),
                        through: row.get(1)?,
                        newest: newest.zip(time),
                    })
                })?
                .collect()
        })
    }

    /// Removes what is gone, and fills the backlog.
    pub(super) fn apply(&self, found: &Found) -> Result<(), StoreError> {
        self.write(|connection, deleted| {
            for session in &found.removed {
                remove(connection, *session)?;
            }
            for (session, indexed, last) in &found.sessions {
                if !deleted.contains(session) {
                    self.backlog.compared(*session, *indexed, *last);
                }
            }
            self.backlog.finish_comparison();
            Ok(())
        })
    }
}

/// Compares positions with the logs of a database.
pub(super) fn compare(connection: &Connection, positions: Vec<Position>) -> rusqlite::Result<Found> {
    let mut known: HashMap<SessionId, Position> =
        positions.into_iter().map(|position| (position.session, position)).collect();
    let mut found = Found::default();
    let mut statement = connection.prepare(
        "SELECT id, (SELECT max(event.id) FROM event WHERE event.id BETWEEN session.id << 40 AND (session.id << 40) + (1 << 40) - 1)
         FROM session WHERE id < ?1",
    )?;
    let mut rows = statement.query(params![LAST_OF_KIND])?;
    while let Some(row) = rows.next()? {
        let session = SessionId::from_number(row.get(0)?);
        let last = row.get::<_, Option<i64>>(1)?.map_or(0, seq_of);
        let position = known.remove(&session);
        let is_same = match position.as_ref().and_then(|position| position.newest) {
            Some((seq, time)) => time_of(connection, session, seq)? == Some(time),
            None => true,
        };
        if !is_same {
            found.removed.push(session);
        }
        let indexed = position.filter(|_| is_same).map_or(0, |position| position.through);
        found.sessions.push((session, indexed, last));
    }
    found.removed.extend(known.into_keys());
    Ok(found)
}

fn time_of(connection: &Connection, session: SessionId, seq: Seq) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached("SELECT time FROM event WHERE id = ?1")?
        .query_row([event_id(session.into(), seq)], |row| row.get(0))
        .optional()
}
