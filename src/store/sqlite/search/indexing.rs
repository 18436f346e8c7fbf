//! Writing to the index.

use rusqlite::{Connection, OptionalExtension, params};

use super::SearchFile;
use super::expression::column;
use crate::model::{Seq, SessionId};
use crate::store::sqlite::events::{event_id, whole_log};
use crate::store::{IndexBatch, StoreError};

impl SearchFile {
    /// Adds the texts of a batch and the position after it, in one transaction.
    pub(super) fn index(&self, batch: &IndexBatch) -> Result<(), StoreError> {
        let indexed = self.write(|connection, deleted| {
            if deleted.contains(&batch.session) {
                return Ok(None);
            }
            let transaction = connection.unchecked_transaction()?;
            let through = through(&transaction, batch.session)?;
            if through != batch.after {
                // Somebody was faster; what is missing is read from there.
                return Ok(Some(through));
            }
            for text in &batch.texts {
                let id = event_id(batch.session.into(), text.seq);
                transaction
                    .prepare_cached("INSERT INTO document (id, time) VALUES (?1, ?2)")?
                    .execute(params![id, text.time.as_millis()])?;
                transaction
                    .prepare_cached(&format!("INSERT INTO text (rowid, {}) VALUES (?1, ?2)", column(text.text.kind)))?
                    .execute(params![id, text.text.text])?;
            }
            let newest = batch.texts.last();
            transaction
                .prepare_cached(
                    "INSERT INTO position (session, through, newest, newest_time) VALUES (?1, ?2, ?3, ?4)
                     ON CONFLICT (session) DO UPDATE SET through = ?2, newest = coalesce(?3, newest),
                        newest_time = coalesce(?4, newest_time)",
                )?
                .execute(params![
                    batch.session.number(),
                    batch.through,
                    newest.map(|text| text.seq),
                    newest.map(|text| text.time.as_millis())
                ])?;
            transaction.commit()?;
            Ok(Some(batch.through))
        })?;
        match indexed {
            Some(through) => self.backlog.indexed(batch.session, through),
            None => self.backlog.forget(batch.session),
        }
        Ok(())
    }
}

fn through(connection: &Connection, session: SessionId) -> rusqlite::Result<Seq> {
    let through = connection
        .prepare_cached("SELECT through FROM position WHERE session = ?1")?
        .query_row([session.number()], |row| row.get(0))
        .optional()?;
    Ok(through.unwrap_or(0))
}

/// Removes everything of a session.
pub(super) fn remove(connection: &Connection, session: SessionId) -> rusqlite::Result<()> {
    let (first, last) = whole_log(session.into());
    let transaction = connection.unchecked_transaction()?;
    for statement in [
        "DELETE FROM text WHERE rowid IN (SELECT id FROM document WHERE id BETWEEN ?1 AND ?2)",
        "DELETE FROM document WHERE id BETWEEN ?1 AND ?2",
    ] {
        transaction.prepare_cached(statement)?.execute([first, last])?;
    }
    transaction.prepare_cached("DELETE FROM position WHERE session = ?1")?.execute([session.number()])?;
    transaction.commit()
}
