//! Sessions: making, finding, listing and deleting them.

use std::path::PathBuf;

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::drop_range::{self, DropRange};
use super::events::{LAST_SESSION, seq_of, whole_log};
use super::{OpenTurn, QueuedPrompt, Store, StoreError};
use crate::model::{
    BudgetNews, ContextUsage, OpenRequest, PromptId, Seq, SessionId, SessionProfile, SessionState, SessionSummary,
    Timestamp, Usage,
};

/// Which sessions to list, newest first.
#[derive(Clone, Copy, Debug)]
pub struct SessionFilter {
    /// Only those in this state.
    pub state: Option<SessionState>,
    /// Only those that are older than this one.
    pub after: Option<SessionId>,
    /// At most that many.
    pub limit: usize,
}

/// Everything needed to go on with a session after a restart.
#[derive(Clone, Debug)]
pub struct StoredSession {
    /// What lists show.
    pub summary: SessionSummary,
    /// The number of its next event.
    pub next_seq: Seq,
    /// The agent's own id for it.
    pub agent_session_id: Option<String>,
    /// A turn that was running when the server ended.
    pub turn: Option<OpenTurn>,
    /// Prompts that wait.
    pub queued: Vec<QueuedPrompt>,
    /// Requests that wait for a person.
    pub requests: Vec<OpenRequest>,
    /// The number of its last prompt.
    pub last_prompt: u32,
    /// What it has cost so far.
    pub usage: Usage,
    /// How full the agent's memory is, as it last said.
    pub context: Option<ContextUsage>,
    /// Which limits it has been told of.
    pub budget_told: BudgetNews,
}

const COLUMNS: &str =
    "id, title, runtime, model, effort, working_directory, permissions, system_prompt, options, state,
    state_detail, created_at, updated_at, closed_at,
    (SELECT max(event.id) FROM event WHERE event.id BETWEEN session.id << 40 AND (session.id << 40) + (1 << 40) - 1),
    (SELECT count(*) FROM request WHERE request.session = session.id AND decision IS NULL), budget";

impl Store {
    /// Makes a session, unless that many are open; then there is none. Its id survives a power cut.
    pub async fn create_session(
        &self,
        profile: SessionProfile,
        state: SessionState,
        now: Timestamp,
        most_open: usize,
    ) -> Result<Option<SessionId>, StoreError> {
        let id = self
            .write_durably(move |connection| {
                let inserted = connection.execute(
                    "INSERT INTO session (title, runtime, model, effort, working_directory, permissions, system_prompt,
                        options, state, created_at, updated_at, budget)
                     SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?10, ?12
                     WHERE (SELECT count(*) FROM session WHERE state <> 'closed') < ?11",
                    params![
                        profile.title,
                        profile.runtime,
                        profile.model,
                        profile.effort,
                        profile.working_directory.as_ref().map(|path| path.to_string_lossy().into_owned()),
                        serde_json::to_string(&profile.permissions).expect("plain values"),
                        profile.system_prompt,
                        serde_json::to_string(&profile.options).expect("plain values"),
                        state.as_str(),
                        now.as_millis(),
                        most_open,
                        serde_json::to_string(&profile.budget).expect("plain values"),
                    ],
                )?;
                Ok((inserted > 0).then(|| connection.last_insert_rowid()))
            })
            .await?;
        let Some(id) = id else { return Ok(None) };
        let id = u32::try_from(id).ok().filter(|id| *id < LAST_SESSION).ok_or(StoreError::NoMoreIds)?;
        Ok(Some(SessionId::from_number(id)))
    }

    /// A session as lists show it.
    pub async fn session(&self, id: SessionId) -> Result<Option<SessionSummary>, StoreError> {
        self.read(move |connection| find(connection, id)).await
    }

    /// A session with everything needed to go on.
    pub async fn load_session(&self, id: SessionId) -> Result<Option<StoredSession>, StoreError> {
        self.read(move |connection| {
            let Some(summary) = find(connection, id)? else {
                return Ok(None);
            };
            let number = id.number();
            let optional = |row: &Row<'_>, column| row.get::<_, Option<String>>(column);
            let (agent_session_id, turn, floor, usage, context, told) = connection.query_row(
                "SELECT agent_session_id, turn, seq_floor, usage, context, budget_told FROM session WHERE id = ?1",
                [number],
                |row| {
                    let (turn, usage, context) = (optional(row, 1)?, optional(row, 3)?, optional(row, 4)?);
                    Ok((row.get(0)?, turn, row.get::<_, u64>(2)?, usage, context, optional(row, 5)?))
                },
            )?;
            Ok(Some(StoredSession {
                next_seq: summary.last_seq.max(floor) + 1,
                agent_session_id,
                turn: turn.and_then(|json| serde_json::from_str(&json).ok()),
                queued: queued_prompts(connection, id)?,
                requests: open_requests(connection, id)?,
                last_prompt: connection.query_row(
                    "SELECT coalesce(max(number), 0) FROM prompt WHERE session = ?1",
                    [number],
                    |row| row.get(0),
                )?,
                usage: usage.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default(),
                context: context.and_then(|json| serde_json::from_str(&json).ok()),
                budget_told: told.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default(),
                summary,
            }))
        })
        .await
    }

    /// A page of sessions, newest first.
    pub async fn sessions(&self, filter: SessionFilter) -> Result<Vec<SessionSummary>, StoreError> {
        self.read(move |connection| {
            let before = filter.after.map_or(i64::MAX, |id| i64::from(id.number()));
            let state = filter.state.map(SessionState::as_str);
            let condition = if state.is_some() { "state = ?3" } else { "?3 IS NULL" };
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM session WHERE id < ?1 AND {condition} ORDER BY id DESC LIMIT ?2"
            ))?;
            statement.query_map(params![before, filter.limit, state], summary)?.collect()
        })
        .await
    }

    /// The agents' own ids of a runtime's sessions, with ours.
    pub async fn agent_sessions(&self, runtime: String) -> Result<Vec<(String, SessionId)>, StoreError> {
        self.read(move |connection| {
            connection
                .prepare_cached(
                    "SELECT agent_session_id, id FROM session WHERE runtime = ?1 AND agent_session_id IS NOT NULL
                     ORDER BY id DESC",
                )?
                .query_map([runtime], |row| Ok((row.get(0)?, SessionId::from_number(row.get(1)?))))?
                .collect()
        })
        .await
    }

    /// The folders of the newest sessions, each once, newest first.
    pub async fn recent_working_directories(&self, limit: usize) -> Result<Vec<PathBuf>, StoreError> {
        self.read(move |connection| {
            connection
                .prepare_cached(
                    "SELECT working_directory FROM session WHERE working_directory IS NOT NULL
                     GROUP BY working_directory ORDER BY max(id) DESC LIMIT ?1",
                )?
                .query_map([limit], |row| Ok(PathBuf::from(row.get::<_, String>(0)?)))?
                .collect()
        })
        .await
    }

    /// Sessions whose turn was running when the server ended.
    pub async fn sessions_with_open_turn(&self) -> Result<Vec<SessionId>, StoreError> {
        self.read(|connection| {
            connection
                .prepare_cached("SELECT id FROM session WHERE turn IS NOT NULL ORDER BY id")?
                .query_map([], |row| Ok(SessionId::from_number(row.get(0)?)))?
                .collect()
        })
        .await
    }

    /// Sessions without an open turn cannot be working, whatever the last run noted before it ended.
    pub async fn settle_states(&self) -> Result<(), StoreError> {
        self.write(|connection| {
            connection
                .execute(
                    "UPDATE session SET state = 'ready', state_detail = NULL
                     WHERE turn IS NULL AND state IN ('starting', 'working', 'waiting', 'recovering')",
                    [],
                )
                .map(drop)
        })
        .await
    }

    /// Open sessions with prompts that wait.
    pub async fn sessions_with_queued_prompts(&self) -> Result<Vec<SessionId>, StoreError> {
        self.read(|connection| {
            connection
                .prepare_cached(
                    "SELECT DISTINCT session FROM prompt JOIN session ON session.id = prompt.session
                     WHERE prompt.state = 'queued' AND session.state <> 'closed'",
                )?
                .query_map([], |row| Ok(SessionId::from_number(row.get(0)?)))?
                .collect()
        })
        .await
    }

    /// How many prompts wait, over all sessions.
    pub async fn queued_prompt_count(&self) -> Result<u64, StoreError> {
        self.read(|connection| {
            connection
                .prepare_cached("SELECT count(*) FROM prompt WHERE state = 'queued'")?
                .query_row([], |row| row.get(0))
        })
        .await
    }

    /// How many sessions are in each state.
    pub async fn session_counts(&self) -> Result<Vec<(SessionState, u64)>, StoreError> {
        self.read(|connection| {
            connection
                .prepare_cached("SELECT state, count(*) FROM session GROUP BY state")?
                .query_map([], |row| Ok((state_of(row, 0)?, row.get(1)?)))?
                .collect()
        })
        .await
    }

    /// Forgets a session and all that belongs to it. The session's actor must be gone.
    pub async fn delete_session(&self, id: SessionId) -> Result<(), StoreError> {
        self.forget_pending_appends(id);
        self.write(move |connection| {
            let (first, last) = whole_log(id);
            drop_range::defer(connection, DropRange { first, last, block: None })?;
            for table in ["prompt", "request", "reader", "blob_use"] {
                connection.execute(&format!("DELETE FROM {table} WHERE session = ?1"), [id.number()])?;
            }
            connection.execute("DELETE FROM session WHERE id = ?1", [id.number()]).map(drop)
        })
        .await?;
        self.remove_unused_blobs().await
    }
}

fn find(connection: &Connection, id: SessionId) -> rusqlite::Result<Option<SessionSummary>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM session WHERE id = ?1"))?
        .query_row([id.number()], summary)
        .optional()
}

fn queued_prompts(connection: &Connection, id: SessionId) -> rusqlite::Result<Vec<QueuedPrompt>> {
    connection
        .prepare_cached(
            "SELECT number, idempotency_key, text, attachments FROM prompt
             WHERE session = ?1 AND state = 'queued' ORDER BY number",
        )?
        .query_map([id.number()], |row| {
            Ok(QueuedPrompt {
                id: PromptId::from_number(row.get(0)?),
                idempotency_key: row.get(1)?,
                text: row.get(2)?,
                attachments: serde_json::from_str(&row.get::<_, String>(3)?).unwrap_or_default(),
            })
        })?
        .collect()
}

fn open_requests(connection: &Connection, id: SessionId) -> rusqlite::Result<Vec<OpenRequest>> {
    let bodies: Vec<String> = connection
        .prepare_cached("SELECT body FROM request WHERE session = ?1 AND decision IS NULL ORDER BY id")?
        .query_map([id.number()], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    Ok(bodies.iter().filter_map(|body| serde_json::from_str(body).ok()).collect())
}

fn summary(row: &Row<'_>) -> rusqlite::Result<SessionSummary> {
    Ok(SessionSummary {
        id: SessionId::from_number(row.get(0)?),
        profile: SessionProfile {
            title: row.get(1)?,
            runtime: row.get(2)?,
            model: row.get(3)?,
            effort: row.get(4)?,
            working_directory: row.get::<_, Option<String>>(5)?.map(PathBuf::from),
            permissions: from_json(row, 6)?,
            system_prompt: row.get(7)?,
            options: from_json(row, 8)?,
            // Sessions of earlier versions have none.
            budget: row
                .get::<_, Option<String>>(16)?
                .and_then(|json| serde_json::from_str(&json).ok())
                .unwrap_or_default(),
        },
        state: state_of(row, 9)?,
        state_detail: row.get(10)?,
        created_at: Timestamp::from_millis(row.get(11)?),
        updated_at: Timestamp::from_millis(row.get(12)?),
        closed_at: row.get::<_, Option<i64>>(13)?.map(Timestamp::from_millis),
        last_seq: row.get::<_, Option<i64>>(14)?.map_or(0, seq_of),
        pending: row.get(15)?,
    })
}

fn from_json<T: serde::de::DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    serde_json::from_str(&row.get::<_, String>(column)?).map_err(|error| unreadable(column, error))
}

fn state_of(row: &Row<'_>, column: usize) -> rusqlite::Result<SessionState> {
    row.get::<_, String>(column)?.parse().map_err(|error: String| unreadable(column, error))
}

fn unreadable(column: usize, error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, error.into())
}
