//! Looking up requests that have their answer, to say who was first.

use rusqlite::{OptionalExtension, params};

use super::{Store, StoreError};
use crate::model::SessionId;

/// A request that was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClosedRequest {
    /// What was said.
    pub decision: String,
    /// Who said it.
    pub by: String,
}

impl Store {
    /// What became of a request; `None` when it is unknown or still open.
    pub async fn closed_request(&self, session: SessionId, id: String) -> Result<Option<ClosedRequest>, StoreError> {
        self.read(move |connection| {
            connection
                .prepare_cached(
                    "SELECT decision, answered_by FROM request
                     WHERE session = ?1 AND id = ?2 AND decision IS NOT NULL",
                )?
                .query_row(params![session.number(), id], |row| {
                    Ok(ClosedRequest {
                        decision: row.get(0)?,
                        by: row.get::<_, Option<String>>(1)?.unwrap_or_default(),
                    })
                })
                .optional()
        })
        .await
    }
}
