//! Requests: open ones, and answered ones, to report who answered first.

use rusqlite::{Connection, OptionalExtension, params};

use crate::model::{OpenRequest, SessionId};
use crate::store::ClosedRequest;

/// How a request was closed; `None` when it is unknown or still open.
pub(super) fn closed(connection: &Connection, session: SessionId, id: &str) -> rusqlite::Result<Option<ClosedRequest>> {
    connection
        .prepare_cached(
            "SELECT decision, answered_by FROM request WHERE session = ?1 AND id = ?2 AND decision IS NOT NULL",
        )?
        .query_row(params![session.number(), id], |row| {
            Ok(ClosedRequest { decision: row.get(0)?, by: row.get::<_, Option<String>>(1)?.unwrap_or_default() })
        })
        .optional()
}

/// Open requests, oldest first: by their number, because as texts `request-10` is before `request-9`.
pub(super) fn open(connection: &Connection, session: SessionId) -> rusqlite::Result<Vec<OpenRequest>> {
    let bodies: Vec<String> = connection
        .prepare_cached(
            "SELECT body FROM request WHERE session = ?1 AND decision IS NULL
             ORDER BY CAST(substr(id, length('request-') + 1) AS INTEGER), id",
        )?
        .query_map([session.number()], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    Ok(bodies.iter().filter_map(|body| serde_json::from_str(body).ok()).collect())
}
