//! Happenings and deliveries.

use rusqlite::{Connection, Row, params};
use tokio::sync::watch;

use super::Sqlite;
use super::events::stream_key;
use super::sessions::unreadable;
use crate::model::{Happening, HappeningKind, HappeningSubject, JobId, SessionId, StreamId, Timestamp};
use crate::store::{
    Answer, DeliveryId, DeliveryProgress, DeliveryState, HappeningId, NewDelivery, NotificationRecords, StoredDelivery,
    StoredHappening,
};

const HAPPENING: &str = "session, job, at, key, kind, reason, text, duration_ms";
const DELIVERY: &str = "target, title, folder, state, attempts, due_at, error";

impl NotificationRecords for Sqlite {
    fn happenings(&self, limit: usize) -> Answer<'_, Vec<StoredHappening>> {
        self.read(move |connection| {
            connection
                .prepare_cached(&format!("SELECT id, {HAPPENING} FROM happening ORDER BY id LIMIT ?1"))?
                .query_map([limit], |row| {
                    let (subject, at, happening) = happening(row)?;
                    Ok(StoredHappening { id: row.get(0)?, subject, at, happening })
                })?
                .collect()
        })
    }

    fn happening_count(&self) -> watch::Receiver<u64> {
        self.happenings.clone()
    }

    fn plan_deliveries(&self, id: HappeningId, deliveries: Vec<NewDelivery>) -> Answer<'_, ()> {
        self.write(move |connection| {
            for new in &deliveries {
                // Settled since it was read, or planned before: then there is nothing to copy, or it is there.
                connection
                    .prepare_cached(&format!(
                        "INSERT OR IGNORE INTO delivery (stream, {HAPPENING}, {DELIVERY})
                         SELECT stream, {HAPPENING}, ?2, ?3, ?4, ?5, ?6, ?7, ?8 FROM happening WHERE id = ?1"
                    ))?
                    .execute(params![
                        id,
                        new.target,
                        new.title,
                        new.folder,
                        new.progress.state.as_str(),
                        new.progress.attempts,
                        new.progress.at.as_millis(),
                        new.progress.error
                    ])?;
            }
            connection.prepare_cached("DELETE FROM happening WHERE id = ?1")?.execute([id]).map(drop)
        })
    }

    fn open_deliveries(&self, target: String, limit: usize) -> Answer<'_, Vec<StoredDelivery>> {
        self.read(move |connection| {
            connection
                .prepare_cached(&format!(
                    "SELECT id, {HAPPENING}, {DELIVERY} FROM delivery
                     WHERE target = ?1 AND state IN ('pending', 'held') ORDER BY due_at, id LIMIT ?2"
                ))?
                .query_map(params![target, limit], stored)?
                .collect()
        })
    }

    fn targets_with_open_deliveries(&self) -> Answer<'_, Vec<String>> {
        self.read(|connection| {
            connection
                .prepare_cached("SELECT DISTINCT target FROM delivery WHERE state IN ('pending', 'held')")?
                .query_map([], |row| row.get(0))?
                .collect()
        })
    }

    fn record_deliveries(&self, ids: Vec<DeliveryId>, progress: DeliveryProgress) -> Answer<'_, ()> {
        self.write(move |connection| {
            for id in &ids {
                // One that was superseded meanwhile, and sent nevertheless, was delivered.
                connection
                    .prepare_cached(
                        "UPDATE delivery SET state = ?2, attempts = ?3, due_at = ?4, error = ?5
                         WHERE id = ?1 AND (state IN ('pending', 'held') OR ?2 = 'delivered')",
                    )?
                    .execute(params![
                        id,
                        progress.state.as_str(),
                        progress.attempts,
                        progress.at.as_millis(),
                        progress.error
                    ])?;
            }
            Ok(())
        })
    }

    fn deliveries(&self, before: Option<DeliveryId>, limit: usize) -> Answer<'_, Vec<StoredDelivery>> {
        let before = before.and_then(|id| i64::try_from(id).ok()).unwrap_or(i64::MAX);
        self.read(move |connection| {
            connection
                .prepare_cached(&format!(
                    "SELECT id, {HAPPENING}, {DELIVERY} FROM delivery WHERE id < ?1 ORDER BY id DESC LIMIT ?2"
                ))?
                .query_map(params![before, limit], stored)?
                .collect()
        })
    }

    fn expire_deliveries(&self, before: Timestamp) -> Answer<'_, ()> {
        self.write(move |connection| {
            connection
                .prepare_cached("DELETE FROM delivery WHERE at < ?1 AND state NOT IN ('pending', 'held')")?
                .execute([before.as_millis()])
                .map(drop)
        })
    }
}

/// Writes a happening with the append that it belongs to.
pub(super) fn add(
    connection: &Connection,
    subject: HappeningSubject,
    at: Timestamp,
    happening: &Happening,
) -> rusqlite::Result<()> {
    let (session, job) = match subject {
        HappeningSubject::Session(id) => (Some(id.number()), None),
        HappeningSubject::Job(id) => (None, Some(id.number())),
    };
    connection
        .prepare_cached(&format!(
            "INSERT INTO happening (stream, {HAPPENING}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"
        ))?
        .execute(params![
            stream_key(subject.stream()),
            session,
            job,
            at.as_millis(),
            happening.key,
            happening.kind.as_str(),
            happening.reason,
            happening.text,
            happening.duration_ms
        ])
        .map(drop)
}

/// What a happening asked for is done.
pub(super) fn settle(connection: &Connection, stream: StreamId, key: &str, now: Timestamp) -> rusqlite::Result<()> {
    settle_where(connection, "stream = ?1 AND key = ?2", stream, key, now)
}

/// Whatever a stream asked for is not needed any more.
pub(super) fn settle_all(connection: &Connection, stream: StreamId, now: Timestamp) -> rusqlite::Result<()> {
    settle_where(connection, "stream = ?1 AND kind = ?2", stream, HappeningKind::NeedsYou.as_str(), now)
}

fn settle_where(
    connection: &Connection,
    condition: &str,
    stream: StreamId,
    value: &str,
    now: Timestamp,
) -> rusqlite::Result<()> {
    let stream = stream_key(stream);
    connection.prepare_cached(&format!("DELETE FROM happening WHERE {condition}"))?.execute(params![stream, value])?;
    connection
        .prepare_cached(&format!(
            "UPDATE delivery SET state = 'superseded', due_at = ?3 WHERE {condition} AND state IN ('pending', 'held')"
        ))?
        .execute(params![stream, value, now.as_millis()])
        .map(drop)
}

/// Reads the columns of [`HAPPENING`], which follow the number.
fn happening(row: &Row<'_>) -> rusqlite::Result<(HappeningSubject, Timestamp, Happening)> {
    let session: Option<u32> = row.get(1)?;
    let subject = match session {
        Some(number) => HappeningSubject::Session(SessionId::from_number(number)),
        None => HappeningSubject::Job(JobId::from_number(row.get(2)?)),
    };
    let kind: String = row.get(5)?;
    let happening = Happening {
        key: row.get(4)?,
        kind: kind.parse().map_err(|error: String| unreadable(5, error))?,
        reason: row.get(6)?,
        text: row.get(7)?,
        duration_ms: row.get(8)?,
    };
    Ok((subject, Timestamp::from_millis(row.get(3)?), happening))
}

fn stored(row: &Row<'_>) -> rusqlite::Result<StoredDelivery> {
    let (subject, happened_at, happening) = happening(row)?;
    let state: String = row.get(12)?;
    let state = DeliveryState::named(&state).ok_or_else(|| unreadable(12, format!("unknown state {state:?}")))?;
    let progress = DeliveryProgress {
        state,
        attempts: row.get(13)?,
        at: Timestamp::from_millis(row.get(14)?),
        error: row.get(15)?,
    };
    let delivery = NewDelivery { target: row.get(9)?, title: row.get(10)?, folder: row.get(11)?, progress };
    Ok(StoredDelivery { id: row.get(0)?, subject, happened_at, happening, delivery })
}
