//! Changes of a session that are committed together with events.

use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::usage::{self, UsageReport};
use crate::model::{
    Attachment, BudgetNews, ContextUsage, OpenRequest, PermissionPolicy, PromptOutcome, Seq, SessionBudget, SessionId,
    SessionState, Timestamp, Usage, hex,
};

/// A turn that has begun and not ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenTurn {
    /// Its id.
    pub turn_id: String,
    /// The number of its prompt within the session.
    pub prompt: u32,
    /// Its events have higher numbers than this one.
    pub after: Seq,
}

/// A prompt that was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedPrompt {
    /// Its number within the session.
    pub number: u32,
    /// The caller's own key, to make a repetition harmless.
    pub idempotency_key: Option<String>,
    /// What to do.
    pub text: String,
    /// What came along.
    pub attachments: Vec<Attachment>,
}

impl QueuedPrompt {
    /// What a repetition with the same key must match.
    pub fn fingerprint(text: &str, attachments: &[Attachment]) -> String {
        hex(&Sha256::digest(json(&(text, attachments))))
    }
}

/// Something that changes with an append.
#[derive(Clone, Debug)]
pub enum Change {
    /// What the session is doing.
    State(SessionState, Option<String>),
    /// Its title.
    Title(String),
    /// Its model and effort.
    Model(String, Option<String>),
    /// Its permissions.
    Permissions(PermissionPolicy),
    /// The agent's own id for it.
    AgentSession(Option<String>),
    /// Its open turn.
    Turn(Option<OpenTurn>),
    /// It was closed, or reopened.
    ClosedAt(Option<Timestamp>),
    /// A prompt was accepted.
    PromptAccepted(QueuedPrompt),
    /// A prompt's turn began.
    PromptStarted(u32),
    /// A prompt waits again: the agent did not take it.
    PromptPutBack(u32),
    /// A prompt's turn is over.
    PromptEnded(u32, PromptOutcome),
    /// A request waits for a person.
    RequestOpened(OpenRequest),
    /// A request has its one answer.
    RequestClosed {
        /// Which.
        request_id: String,
        /// What was said.
        decision: String,
        /// Who said it.
        by: String,
    },
    /// An event refers to a blob.
    BlobUsed {
        /// Its hash.
        hash: String,
        /// Its media type.
        mime: String,
        /// Its size in bytes.
        size: u64,
    },
    /// Readers that were told of the close may read again.
    ReadersReopened,
    /// What it has cost so far.
    Usage(Usage),
    /// The agent reported figures; they are added to those of its day.
    UsageReported(UsageReport),
    /// Its own limits.
    Budget(SessionBudget),
    /// Which limits it has been told of.
    BudgetTold(BudgetNews),
    /// How full the agent's memory is.
    Context(ContextUsage),
}

fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("plain values")
}

impl Change {
    pub(super) fn write(&self, connection: &Connection, session: SessionId) -> rusqlite::Result<()> {
        let id = session.number();
        let execute = |sql: &str, parameters: &[&dyn rusqlite::ToSql]| {
            connection.prepare_cached(sql)?.execute(parameters).map(drop)
        };
        match self {
            Self::State(state, detail) => execute(
                "UPDATE session SET state = ?2, state_detail = ?3 WHERE id = ?1",
                params![id, state.as_str(), detail],
            ),
            Self::Title(title) => execute("UPDATE session SET title = ?2 WHERE id = ?1", params![id, title]),
            Self::Model(model, effort) => {
                execute("UPDATE session SET model = ?2, effort = ?3 WHERE id = ?1", params![id, model, effort])
            }
            Self::Permissions(policy) => {
                execute("UPDATE session SET permissions = ?2 WHERE id = ?1", params![id, json(policy)])
            }
            Self::AgentSession(agent) => {
                execute("UPDATE session SET agent_session_id = ?2 WHERE id = ?1", params![id, agent])
            }
            Self::Turn(turn) => {
                execute("UPDATE session SET turn = ?2 WHERE id = ?1", params![id, turn.as_ref().map(json)])
            }
            Self::ClosedAt(moment) => execute(
                "UPDATE session SET closed_at = ?2 WHERE id = ?1",
                params![id, moment.map(Timestamp::as_millis)],
            ),
            Self::PromptAccepted(prompt) => execute(
                "INSERT INTO prompt (session, number, idempotency_key, fingerprint, text, attachments, state)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'queued')",
                params![
                    id,
                    prompt.number,
                    prompt.idempotency_key,
                    QueuedPrompt::fingerprint(&prompt.text, &prompt.attachments),
                    prompt.text,
                    json(&prompt.attachments)
                ],
            ),
            Self::PromptStarted(number) => {
                execute("UPDATE prompt SET state = 'running' WHERE session = ?1 AND number = ?2", params![id, number])
            }
            Self::PromptPutBack(number) => {
                execute("UPDATE prompt SET state = 'queued' WHERE session = ?1 AND number = ?2", params![id, number])
            }
            Self::PromptEnded(number, outcome) => execute(
                // The attachments have been sent; keeping them would only fill the disk.
                "UPDATE prompt SET state = 'ended', attachments = '[]', outcome = ?3 WHERE session = ?1 AND number = ?2",
                params![id, number, json(outcome)],
            ),
            Self::RequestOpened(request) => execute(
                "INSERT INTO request (session, id, body) VALUES (?1, ?2, ?3)",
                params![id, request.request_id, json(request)],
            ),
            Self::RequestClosed { request_id, decision, by } => execute(
                "UPDATE request SET decision = ?3, answered_by = ?4 WHERE session = ?1 AND id = ?2",
                params![id, request_id, decision, by],
            ),
            Self::BlobUsed { hash, mime, size } => execute(
                "INSERT OR IGNORE INTO blob_use (session, hash, mime, size) VALUES (?1, ?2, ?3, ?4)",
                params![id, hash, mime, size],
            ),
            Self::Usage(usage) => execute("UPDATE session SET usage = ?2 WHERE id = ?1", params![id, json(usage)]),
            Self::UsageReported(report) => usage::record(connection, session, report),
            Self::Budget(budget) => execute("UPDATE session SET budget = ?2 WHERE id = ?1", params![id, json(budget)]),
            Self::BudgetTold(news) => {
                execute("UPDATE session SET budget_told = ?2 WHERE id = ?1", params![id, json(news)])
            }
            Self::Context(usage) => execute("UPDATE session SET context = ?2 WHERE id = ?1", params![id, json(usage)]),
            Self::ReadersReopened => execute("UPDATE reader SET done = 0 WHERE session = ?1", params![id]),
        }
    }
}
