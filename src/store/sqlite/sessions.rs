//! Sessions: creating, finding, listing and deleting them.

use std::path::{Path, PathBuf};

use rusqlite::types::{Type, Value, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::events::{LAST_OF_KIND, next_seq, seq_of};
use super::reservation::Reservation;
use super::runs::delete_stream;
use super::{Sqlite, prompts, requests, retention, tasks};
use crate::model::{PromptId, Seq, SessionId, SessionOrigin, SessionProfile, SessionState, SessionSummary, Timestamp};
use crate::store::{
    Answer, Creation, NewSessionRecord, SessionFacts, SessionFilter, SessionRecords, StoreError, StoredSession,
};

const COLUMNS: &str =
    "id, title, runtime, model, effort, working_directory, permissions, system_prompt, options, state,
    state_detail, created_at, updated_at, closed_at,
    (SELECT max(event.id) FROM event WHERE event.id BETWEEN session.id << 40 AND (session.id << 40) + (1 << 40) - 1),
    (SELECT count(*) FROM request WHERE request.session = session.id AND decision IS NULL), budget, origin,
    title_is_given, job, last_turn, seen_seq";

/// As the index of sessions by job has it.
pub(super) const OF_JOB: &str = "job IS NOT NULL AND json_extract(job, '$.jobId') = ?4";

impl SessionRecords for Sqlite {
    fn create_session(&self, new: NewSessionRecord) -> Answer<'_, Creation> {
        let created = self.write_durably(move |connection| create(connection, &new));
        Box::pin(async move {
            match created.await? {
                Created::Number(number) => {
                    let id = u32::try_from(number).ok().filter(|id| *id < LAST_OF_KIND);
                    Ok(Creation::New(SessionId::from_number(id.ok_or(StoreError::NoMoreIds)?)))
                }
                Created::Not(answer) => Ok(answer),
            }
        })
    }

    fn session_by_creation_key(&self, key: String) -> Answer<'_, Option<(SessionId, String)>> {
        self.read(move |connection| by_key(connection, &key))
    }

    fn session(&self, id: SessionId) -> Answer<'_, Option<SessionSummary>> {
        self.read(move |connection| find(connection, id))
    }

    fn load_session(&self, id: SessionId) -> Answer<'_, Option<StoredSession>> {
        self.read(move |connection| {
            let Some(summary) = find(connection, id)? else {
                return Ok(None);
            };
            let number = id.number();
            let optional = |row: &Row<'_>, column| row.get::<_, Option<String>>(column);
            let (agent_session_id, turn, usage, context, told, continuation, prompt_floor, loss, commands) = connection
                .query_row(
                    "SELECT agent_session_id, turn, usage, context, budget_told, continuation, prompt_floor, loss,
                     commands FROM session WHERE id = ?1",
                    [number],
                    |row| {
                        let (turn, usage, context) = (optional(row, 1)?, optional(row, 2)?, optional(row, 3)?);
                        let (told, continuation) = (optional(row, 4)?, optional(row, 5)?);
                        Ok((
                            row.get(0)?,
                            turn,
                            usage,
                            context,
                            told,
                            continuation,
                            row.get::<_, u32>(6)?,
                            optional(row, 7)?,
                            optional(row, 8)?,
                        ))
                    },
                )?;
            let last_prompt: u32 = connection.query_row(
                "SELECT coalesce(max(number), 0) FROM prompt WHERE session = ?1",
                [number],
                |row| row.get(0),
            )?;
            Ok(Some(StoredSession {
                next_seq: next_seq(connection, id.into())?,
                next_prompt: PromptId::from_number(last_prompt.max(prompt_floor) + 1),
                agent_session_id,
                turn: turn.and_then(|json| serde_json::from_str(&json).ok()),
                queued: prompts::queued(connection, id)?,
                requests: requests::open(connection, id)?,
                last_prompt,
                usage: usage.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default(),
                context: context.and_then(|json| serde_json::from_str(&json).ok()),
                budget_notified: told.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default(),
                continuation: continuation.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default(),
                loss: loss.and_then(|json| serde_json::from_str(&json).ok()),
                commands: commands.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default(),
                summary,
            }))
        })
    }

    fn sessions(&self, filter: SessionFilter) -> Answer<'_, Vec<SessionSummary>> {
        self.read(move |connection| {
            let before = filter.after.map_or(i64::MAX, |id| i64::from(id.number()));
            let state = filter.state.map(SessionState::as_str);
            let job = filter.job.map(|id| id.to_string());
            // Only conditions that are asked for, so that the right index is used.
            let in_state = if state.is_some() { "state = ?3" } else { "?3 IS NULL" };
            let of_job = if job.is_some() { OF_JOB } else { "?4 IS NULL" };
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM session WHERE id < ?1 AND {in_state} AND {of_job} ORDER BY id DESC LIMIT ?2"
            ))?;
            statement.query_map(params![before, filter.limit, state, job], summary)?.collect()
        })
    }

    fn agent_sessions(&self, runtime: String) -> Answer<'_, Vec<(String, SessionId)>> {
        self.read(move |connection| {
            connection
                .prepare_cached(
                    "SELECT agent_session_id, id FROM session WHERE runtime = ?1 AND agent_session_id IS NOT NULL
                     ORDER BY id DESC",
                )?
                .query_map([runtime], |row| Ok((row.get(0)?, SessionId::from_number(row.get(1)?))))?
                .collect()
        })
    }

    fn recent_working_directories(&self, limit: usize) -> Answer<'_, Vec<PathBuf>> {
        self.read(move |connection| {
            connection
                .prepare_cached(
                    "SELECT working_directory FROM session WHERE working_directory IS NOT NULL
                     GROUP BY working_directory ORDER BY max(id) DESC LIMIT ?1",
                )?
                .query_map([limit], |row| Ok(path(row, 0)?.unwrap_or_default()))?
                .collect()
        })
    }

    fn unfinished_sessions(&self) -> Answer<'_, Vec<SessionId>> {
        self.read(|connection| {
            connection
                .prepare_cached(
                    "SELECT id FROM session WHERE turn IS NOT NULL
                        OR id IN (SELECT session FROM request WHERE decision IS NULL) ORDER BY id",
                )?
                .query_map([], |row| Ok(SessionId::from_number(row.get(0)?)))?
                .collect()
        })
    }

    fn settle_states(&self) -> Answer<'_, ()> {
        self.write(|connection| {
            connection
                .execute(
                    "UPDATE session SET state = 'ready', state_detail = NULL
                     WHERE turn IS NULL AND state IN ('starting', 'working', 'waiting', 'recovering')
                        AND id NOT IN (SELECT session FROM request WHERE decision IS NULL)",
                    [],
                )
                .map(drop)
        })
    }

    fn mark_seen(&self, id: SessionId, through: Seq) -> Answer<'_, ()> {
        self.write(move |connection| {
            connection
                .prepare_cached("UPDATE session SET seen_seq = ?2 WHERE id = ?1 AND seen_seq < ?2")?
                .execute(params![id.number(), through])
                .map(drop)
        })
    }

    fn sessions_with_queued_prompts(&self) -> Answer<'_, Vec<SessionId>> {
        self.read(|connection| {
            connection
                .prepare_cached(
                    "SELECT DISTINCT session FROM prompt JOIN session ON session.id = prompt.session
                     WHERE prompt.state = 'queued' AND session.state <> 'closed'",
                )?
                .query_map([], |row| Ok(SessionId::from_number(row.get(0)?)))?
                .collect()
        })
    }

    fn session_counts(&self) -> Answer<'_, Vec<(SessionState, u64)>> {
        self.read(|connection| {
            connection
                .prepare_cached("SELECT state, count(*) FROM session GROUP BY state")?
                .query_map([], |row| Ok((state_of(row, 0)?, row.get(1)?)))?
                .collect()
        })
    }

    fn longest_closed(&self, before: Timestamp) -> Answer<'_, Option<SessionId>> {
        self.read(move |connection| retention::longest_closed(connection, before))
    }

    fn delete_session(&self, id: SessionId) -> Answer<'_, ()> {
        self.forget_pending_appends(id.into());
        let deleted = self.write(move |connection| {
            tasks::delete_of_session(connection, id)?;
            delete_stream(connection, id.into())?;
            for table in ["prompt", "request", "blob_use"] {
                connection.execute(&format!("DELETE FROM {table} WHERE session = ?1"), [id.number()])?;
            }
            connection.execute("DELETE FROM session WHERE id = ?1", [id.number()]).map(drop)
        });
        Box::pin(async move {
            deleted.await?;
            self.forget_in_index(id).await
        })
    }
}

/// All sessions, newest first, as a search needs them.
pub(super) fn facts(connection: &Connection) -> rusqlite::Result<Vec<SessionFacts>> {
    connection
        .prepare_cached(
            "SELECT id, title, runtime, working_directory, created_at, updated_at FROM session ORDER BY id DESC",
        )?
        .query_map([], |row| {
            Ok(SessionFacts {
                id: SessionId::from_number(row.get(0)?),
                title: row.get(1)?,
                runtime: row.get(2)?,
                working_directory: path(row, 3)?,
                created_at: Timestamp::from_millis(row.get(4)?),
                updated_at: Timestamp::from_millis(row.get(5)?),
            })
        })?
        .collect()
}

enum Created {
    Number(i64),
    Not(Creation),
}

fn create(connection: &Connection, new: &NewSessionRecord) -> rusqlite::Result<Created> {
    if let Some(key) = &new.key
        && let Some((id, fingerprint)) = by_key(connection, &key.key)?
    {
        let same = fingerprint == key.fingerprint;
        return Ok(Created::Not(if same { Creation::Known(id) } else { Creation::KeyReused }));
    }
    let profile = &new.profile;
    let inserted = connection.execute(
        "INSERT INTO session (title, runtime, model, effort, working_directory, permissions, system_prompt,
            options, state, created_at, updated_at, budget, origin, creation_key, creation_fingerprint,
            title_is_given, job)
         SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?10, ?12, ?13, ?14, ?15, ?16, ?17
         WHERE (SELECT count(*) FROM session WHERE state <> 'closed') < ?11",
        params![
            profile.title,
            profile.runtime,
            profile.model,
            profile.effort,
            profile.working_directory.as_deref().map(path_value),
            serde_json::to_string(&profile.permissions).expect("plain values"),
            profile.system_prompt,
            serde_json::to_string(&profile.options).expect("plain values"),
            new.state.as_str(),
            new.now.as_millis(),
            new.most_open,
            serde_json::to_string(&profile.budget).expect("plain values"),
            new.origin.as_str(),
            new.key.as_ref().map(|key| &key.key),
            new.key.as_ref().map(|key| &key.fingerprint),
            profile.title_is_given,
            new.job.as_ref().map(|job| serde_json::to_string(job).expect("plain values")),
        ],
    )?;
    if inserted == 0 {
        return Ok(Created::Not(Creation::TooMany));
    }
    let number = connection.last_insert_rowid();
    if let Ok(id) = u32::try_from(number) {
        Reservation::NEW.save(connection, SessionId::from_number(id).into())?;
    }
    Ok(Created::Number(number))
}

fn by_key(connection: &Connection, key: &str) -> rusqlite::Result<Option<(SessionId, String)>> {
    connection
        .prepare_cached("SELECT id, creation_fingerprint FROM session WHERE creation_key = ?1")?
        .query_row([key], |row| Ok((SessionId::from_number(row.get(0)?), row.get(1)?)))
        .optional()
}

/// A path as text if it is valid Unicode, else as bytes, so that it is stored exactly.
pub(super) fn path_value(path: &Path) -> Value {
    match path.to_str() {
        Some(text) => Value::Text(text.to_owned()),
        None => path_bytes(path),
    }
}

#[cfg(unix)]
fn path_bytes(path: &Path) -> Value {
    use std::os::unix::ffi::OsStrExt;
    Value::Blob(path.as_os_str().as_bytes().to_owned())
}

#[cfg(not(unix))]
fn path_bytes(path: &Path) -> Value {
    // Unpaired surrogates, which are rare in names of folders.
    Value::Text(path.to_string_lossy().into_owned())
}

pub(super) fn path(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<PathBuf>> {
    match row.get_ref(column)? {
        ValueRef::Null => Ok(None),
        ValueRef::Text(text) => Ok(Some(PathBuf::from(String::from_utf8_lossy(text).into_owned()))),
        ValueRef::Blob(bytes) => Ok(Some(path_of_bytes(bytes))),
        other => Err(rusqlite::Error::InvalidColumnType(column, "working_directory".to_owned(), other.data_type())),
    }
}

#[cfg(unix)]
fn path_of_bytes(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

#[cfg(not(unix))]
fn path_of_bytes(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

fn find(connection: &Connection, id: SessionId) -> rusqlite::Result<Option<SessionSummary>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM session WHERE id = ?1"))?
        .query_row([id.number()], summary)
        .optional()
}

fn summary(row: &Row<'_>) -> rusqlite::Result<SessionSummary> {
    Ok(SessionSummary {
        id: SessionId::from_number(row.get(0)?),
        profile: SessionProfile {
            title: row.get(1)?,
            title_is_given: row.get(18)?,
            runtime: row.get(2)?,
            model: row.get(3)?,
            effort: row.get(4)?,
            working_directory: path(row, 5)?,
            permissions: from_json(row, 6)?,
            system_prompt: row.get(7)?,
            options: from_json(row, 8)?,
            // Sessions of earlier versions have none.
            budget: row
                .get::<_, Option<String>>(16)?
                .and_then(|json| serde_json::from_str(&json).ok())
                .unwrap_or_default(),
        },
        origin: origin_of(row, 17)?,
        job: row.get::<_, Option<String>>(19)?.and_then(|json| serde_json::from_str(&json).ok()),
        state: state_of(row, 9)?,
        state_detail: row.get(10)?,
        created_at: Timestamp::from_millis(row.get(11)?),
        updated_at: Timestamp::from_millis(row.get(12)?),
        closed_at: row.get::<_, Option<i64>>(13)?.map(Timestamp::from_millis),
        last_seq: row.get::<_, Option<i64>>(14)?.map_or(0, seq_of),
        pending: row.get(15)?,
        last_turn: row.get::<_, Option<String>>(20)?.and_then(|json| serde_json::from_str(&json).ok()),
        seen_seq: row.get::<_, i64>(21)?.unsigned_abs(),
    })
}

fn from_json<T: serde::de::DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    serde_json::from_str(&row.get::<_, String>(column)?).map_err(|error| unreadable(column, error))
}

fn state_of(row: &Row<'_>, column: usize) -> rusqlite::Result<SessionState> {
    row.get::<_, String>(column)?.parse().map_err(|error: String| unreadable(column, error))
}

pub(super) fn origin_of(row: &Row<'_>, column: usize) -> rusqlite::Result<SessionOrigin> {
    let text: String = row.get(column)?;
    let found = SessionOrigin::ALL.into_iter().find(|origin| origin.as_str() == text);
    found.ok_or_else(|| unreadable(column, format!("unknown origin {text:?}")))
}

pub(super) fn unreadable(column: usize, error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, error.into())
}
