//! Changes of a session that are committed together with events.

use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::usage::{self, UsageReport};
use crate::model::{
    AnsweredBy, Attachment, BudgetNews, ContextUsage, OpenRequest, PermissionPolicy, PromptId, PromptOutcome,
    RequestId, RequestOutcome, Seq, SessionBudget, SessionId, SessionState, Timestamp, TurnId, Usage, hex,
};

/// A turn that has begun and not ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenTurn {
    /// Its id.
    pub turn_id: TurnId,
    /// Its prompt.
    #[serde(with = "prompt_number")]
    pub prompt: PromptId,
    /// Its events have higher numbers than this one.
    pub after: Seq,
}

/// A turn's prompt is stored as a plain number.
mod prompt_number {
    use serde::{Deserialize as _, Deserializer, Serializer};

    use crate::model::PromptId;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
    pub fn serialize<S: Serializer>(prompt: &PromptId, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(prompt.number())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PromptId, D::Error> {
        u32::deserialize(deserializer).map(PromptId::from_number)
    }
}

/// A prompt that was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedPrompt {
    /// Its id.
    pub id: PromptId,
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
    PromptStarted(PromptId),
    /// A prompt waits again: the agent did not take it.
    PromptPutBack(PromptId),
    /// A prompt's turn is over.
    PromptEnded(PromptId, PromptOutcome),
    /// A request waits for a person.
    RequestOpened(OpenRequest),
    /// A request has its one answer.
    RequestClosed {
        /// Which.
        request_id: RequestId,
        /// How.
        outcome: RequestOutcome,
        /// By whom.
        by: AnsweredBy,
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
                    prompt.id.number(),
                    prompt.idempotency_key,
                    QueuedPrompt::fingerprint(&prompt.text, &prompt.attachments),
                    prompt.text,
                    json(&prompt.attachments)
                ],
            ),
            Self::PromptStarted(prompt) => execute(
                "UPDATE prompt SET state = 'running' WHERE session = ?1 AND number = ?2",
                params![id, prompt.number()],
            ),
            Self::PromptPutBack(prompt) => execute(
                "UPDATE prompt SET state = 'queued' WHERE session = ?1 AND number = ?2",
                params![id, prompt.number()],
            ),
            Self::PromptEnded(prompt, outcome) => execute(
                // The attachments have been sent; keeping them would only fill the disk.
                "UPDATE prompt SET state = 'ended', attachments = '[]', outcome = ?3 WHERE session = ?1 AND number = ?2",
                params![id, prompt.number(), json(outcome)],
            ),
            Self::RequestOpened(request) => execute(
                "INSERT INTO request (session, id, body) VALUES (?1, ?2, ?3)",
                params![id, request.request_id.as_str(), json(request)],
            ),
            Self::RequestClosed { request_id, outcome, by } => execute(
                "UPDATE request SET decision = ?3, answered_by = ?4 WHERE session = ?1 AND id = ?2",
                params![id, request_id.as_str(), outcome.as_str(), by.as_str()],
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
