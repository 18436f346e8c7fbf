//! Looking up prompts, their outcomes and answered requests.

use rusqlite::{Connection, OptionalExtension, Row, params};
use tokio::sync::watch;

use super::{Sqlite, outcomes, requests};
use crate::model::{PromptId, PromptVerdict, SessionId};
use crate::store::{
    Answer, ClosedRequest, KnownPrompt, OutcomeSeq, PromptRecords, QueuePlace, QueuedPrompt, StoredOutcome,
};

impl PromptRecords for Sqlite {
    fn prompt_by_key(&self, session: SessionId, key: String) -> Answer<'_, Option<KnownPrompt>> {
        self.read(move |connection| {
            connection
                .prepare_cached(
                    "SELECT number, text, fingerprint, outcome FROM prompt WHERE session = ?1 AND idempotency_key = ?2",
                )?
                .query_row(params![session.number(), key], known)
                .optional()
        })
    }

    fn prompt(&self, session: SessionId, number: u32) -> Answer<'_, Option<KnownPrompt>> {
        self.read(move |connection| {
            connection
                .prepare_cached(
                    "SELECT number, text, fingerprint, outcome FROM prompt WHERE session = ?1 AND number = ?2",
                )?
                .query_row(params![session.number(), number], known)
                .optional()
        })
    }

    fn whole_prompt(&self, session: SessionId, number: u32) -> Answer<'_, Option<QueuedPrompt>> {
        self.read(move |connection| {
            connection
                .prepare_cached(&format!("{WHOLE} WHERE session = ?1 AND number = ?2"))?
                .query_row(params![session.number(), number], whole)
                .optional()
        })
    }

    fn prompt_verdicts(&self, session: SessionId) -> Answer<'_, Vec<(u32, PromptVerdict)>> {
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT number, json_extract(outcome, '$.verdict') FROM prompt
                 WHERE session = ?1 AND outcome IS NOT NULL ORDER BY number",
            )?;
            let mut rows = statement.query([session.number()])?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                let verdict = serde_json::from_value(serde_json::Value::String(row.get(1)?)).ok();
                if let Some(verdict) = verdict {
                    found.push((row.get(0)?, verdict));
                }
            }
            Ok(found)
        })
    }

    fn queued_prompt_count(&self) -> Answer<'_, u64> {
        self.read(|connection| {
            connection
                .prepare_cached("SELECT count(*) FROM prompt WHERE state = 'queued'")?
                .query_row([], |row| row.get(0))
        })
    }

    fn open_request_count(&self) -> Answer<'_, u64> {
        self.read(|connection| {
            connection
                .prepare_cached("SELECT count(*) FROM request WHERE decision IS NULL")?
                .query_row([], |row| row.get(0))
        })
    }

    fn outcomes_after(&self, after: OutcomeSeq, limit: usize) -> Answer<'_, Vec<StoredOutcome>> {
        self.read(move |connection| outcomes::after(connection, after, limit))
    }

    fn newest_outcome(&self) -> watch::Receiver<OutcomeSeq> {
        self.newest_outcome.clone()
    }

    fn closed_request(&self, session: SessionId, id: String) -> Answer<'_, Option<ClosedRequest>> {
        self.read(move |connection| requests::closed(connection, session, &id))
    }
}

const WHOLE: &str = "SELECT number, idempotency_key, text, attachments, is_first,
     coalesce(place, number), is_continuation FROM prompt";

fn whole(row: &Row<'_>) -> rusqlite::Result<QueuedPrompt> {
    Ok(QueuedPrompt {
        id: PromptId::from_number(row.get(0)?),
        idempotency_key: row.get(1)?,
        text: row.get(2)?,
        attachments: serde_json::from_str(&row.get::<_, String>(3)?).unwrap_or_default(),
        place: QueuePlace { is_first: row.get(4)?, number: row.get(5)? },
        is_continuation: row.get(6)?,
    })
}

/// Prompts that wait, in the order in which they are sent.
pub(super) fn queued(connection: &Connection, session: SessionId) -> rusqlite::Result<Vec<QueuedPrompt>> {
    connection
        .prepare_cached(&format!("{WHOLE} WHERE session = ?1 AND state = 'queued' ORDER BY is_first DESC, 6"))?
        .query_map([session.number()], whole)?
        .collect()
}

fn known(row: &Row<'_>) -> rusqlite::Result<KnownPrompt> {
    Ok(KnownPrompt {
        number: row.get(0)?,
        text: row.get(1)?,
        fingerprint: row.get(2)?,
        outcome: row.get::<_, Option<String>>(3)?.and_then(|json| serde_json::from_str(&json).ok()),
    })
}
