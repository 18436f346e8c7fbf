//! Looking up prompts by the caller's own key or by number.

use rusqlite::{OptionalExtension, Row, params};

use super::{Store, StoreError};
use crate::model::{PromptOutcome, SessionId};

/// A prompt that was accepted before.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownPrompt {
    /// Its number within the session.
    pub number: u32,
    /// What it asked for.
    pub text: String,
    /// What a repetition with the same key must match.
    pub fingerprint: String,
    /// How its turn ended, if it has.
    pub outcome: Option<PromptOutcome>,
}

impl Store {
    /// The prompt that was sent with that key.
    pub async fn prompt_by_key(&self, session: SessionId, key: String) -> Result<Option<KnownPrompt>, StoreError> {
        self.read(move |connection| {
            connection
                .prepare_cached(
                    "SELECT number, text, fingerprint, outcome FROM prompt WHERE session = ?1 AND idempotency_key = ?2",
                )?
                .query_row(params![session.number(), key], known)
                .optional()
        })
        .await
    }

    /// The prompt with that number.
    pub async fn prompt(&self, session: SessionId, number: u32) -> Result<Option<KnownPrompt>, StoreError> {
        self.read(move |connection| {
            connection
                .prepare_cached(
                    "SELECT number, text, fingerprint, outcome FROM prompt WHERE session = ?1 AND number = ?2",
                )?
                .query_row(params![session.number(), number], known)
                .optional()
        })
        .await
    }
}

fn known(row: &Row<'_>) -> rusqlite::Result<KnownPrompt> {
    Ok(KnownPrompt {
        number: row.get(0)?,
        text: row.get(1)?,
        fingerprint: row.get(2)?,
        outcome: row.get::<_, Option<String>>(3)?.and_then(|json| serde_json::from_str(&json).ok()),
    })
}
