//! The log of captured calls.

use rusqlite::{Row, params};

use super::Sqlite;
use crate::model::{Timestamp, Usage};
use crate::store::{Answer, CaptureCall, CaptureCallId, CaptureRecords, CaptureUsage, StoredCaptureCall};

/// Calls that one transaction deletes, so that nobody else waits long.
const DELETED_AT_ONCE: usize = 2_048;

impl CaptureRecords for Sqlite {
    fn add_capture_call(&self, call: CaptureCall) {
        let usage = serde_json::to_string(&call.usage).expect("plain values");
        // The writer has the job already and commits it with whatever else is queued; nobody waits for its result.
        drop(self.write(move |connection| {
            connection
                .prepare_cached(
                    "INSERT INTO capture_call (at, token_id, dialect, model, mode, tools, outcome, error, usage, duration_ms)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
                )?
                .execute(params![
                    call.at.as_millis(),
                    call.token_id,
                    call.dialect,
                    call.model,
                    call.mode,
                    call.tools,
                    call.outcome,
                    call.error,
                    usage,
                    call.duration_ms
                ])
                .map(drop)
        }));
    }

    fn capture_calls(&self, before: Option<CaptureCallId>, limit: usize) -> Answer<'_, Vec<StoredCaptureCall>> {
        // SQLite's numbers are signed.
        let before = before.and_then(|id| i64::try_from(id).ok()).unwrap_or(i64::MAX);
        self.read(move |connection| {
            connection
                .prepare_cached(
                    "SELECT id, at, token_id, dialect, model, mode, tools, outcome, error, usage, duration_ms
                     FROM capture_call WHERE id < ?1 ORDER BY id DESC LIMIT ?2",
                )?
                .query_map(params![before, limit], stored)?
                .collect()
        })
    }

    fn capture_usage(&self) -> Answer<'_, Vec<CaptureUsage>> {
        self.read(|connection| {
            connection
                .prepare_cached(
                    "SELECT token_id, count(*), sum(usage ->> 'costUsd'), sum(usage ->> 'inputTokens'),
                            sum(usage ->> 'outputTokens'), sum(usage ->> 'cacheRead'), sum(usage ->> 'cacheCreation'),
                            sum(usage ->> 'durationMs'), sum(usage ->> 'numTurns'), sum(usage ->> 'premiumRequests'),
                            sum(usage ->> 'credits')
                     FROM capture_call GROUP BY token_id ORDER BY token_id",
                )?
                .query_map([], |row| {
                    let usage = Usage {
                        cost_usd: row.get(2)?,
                        input_tokens: row.get(3)?,
                        output_tokens: row.get(4)?,
                        cache_read: row.get(5)?,
                        cache_creation: row.get(6)?,
                        duration_ms: row.get(7)?,
                        num_turns: row.get(8)?,
                        premium_requests: row.get(9)?,
                        credits: row.get(10)?,
                        model: None,
                        code_changes: None,
                    };
                    Ok(CaptureUsage { token_id: row.get(0)?, calls: row.get(1)?, usage })
                })?
                .collect()
        })
    }

    fn expire_capture_calls(&self, before: Timestamp) -> Answer<'_, ()> {
        Box::pin(async move {
            loop {
                let deleted = self.write(move |connection| {
                    connection
                        .prepare_cached(
                            "DELETE FROM capture_call WHERE id IN
                             (SELECT id FROM capture_call WHERE at < ?1 ORDER BY at LIMIT ?2)",
                        )?
                        .execute(params![before.as_millis(), DELETED_AT_ONCE])
                });
                if deleted.await? < DELETED_AT_ONCE {
                    return Ok(());
                }
            }
        })
    }
}

fn stored(row: &Row<'_>) -> rusqlite::Result<StoredCaptureCall> {
    let usage: String = row.get(9)?;
    let unreadable = |error| rusqlite::Error::FromSqlConversionFailure(9, rusqlite::types::Type::Text, Box::new(error));
    Ok(StoredCaptureCall {
        id: row.get(0)?,
        call: CaptureCall {
            at: Timestamp::from_millis(row.get(1)?),
            token_id: row.get(2)?,
            dialect: row.get(3)?,
            model: row.get(4)?,
            mode: row.get(5)?,
            tools: row.get(6)?,
            outcome: row.get(7)?,
            error: row.get(8)?,
            usage: serde_json::from_str(&usage).map_err(unreadable)?,
            duration_ms: row.get(10)?,
        },
    })
}
