//! Sessions of agents that captures use.

use rusqlite::params;

use super::Sqlite;
use crate::model::Timestamp;
use crate::store::{Answer, CaptureSession, CaptureSessions};

impl CaptureSessions for Sqlite {
    fn put_capture_session(&self, session: CaptureSession) -> Answer<'_, ()> {
        self.write(move |connection| {
            connection
                .prepare_cached(
                    "INSERT OR REPLACE INTO capture_session (id, runtime, waits_for, expires_at) VALUES (?1, ?2, ?3, ?4)",
                )?
                .execute(params![session.id, session.runtime, session.waits_for, session.expires_at.as_millis()])
                .map(drop)
        })
    }

    fn remove_capture_session(&self, id: String) -> Answer<'_, ()> {
        self.write(move |connection| {
            connection.prepare_cached("DELETE FROM capture_session WHERE id = ?1")?.execute([id]).map(drop)
        })
    }

    fn capture_sessions(&self) -> Answer<'_, Vec<CaptureSession>> {
        self.read(|connection| {
            connection
                .prepare_cached("SELECT id, runtime, waits_for, expires_at FROM capture_session ORDER BY expires_at")?
                .query_map([], |row| {
                    Ok(CaptureSession {
                        id: row.get(0)?,
                        runtime: row.get(1)?,
                        waits_for: row.get(2)?,
                        expires_at: Timestamp::from_millis(row.get(3)?),
                    })
                })?
                .collect()
        })
    }
}
