//! Finding texts in the index.

use rusqlite::{Connection, named_params};

use super::SearchFile;
use super::expression::expression;
use crate::model::{SessionId, Timestamp};
use crate::store::sqlite::events::{LAST_OF_KIND, seq_of, whole_log};
use crate::store::{Match, MatchQuery, StoreError};

/// How much a match counts in prompt, message, reasoning, call and output.
const WEIGHTS: &str = "3.0, 2.0, 1.0, 1.5, 1.0";

impl SearchFile {
    /// The newest matches: newer sessions have higher ids, so FTS5 finds them first and stops at the limit. Ranking all
    /// matches of a common word would take seconds.
    pub(super) fn matches(&self, query: &MatchQuery) -> Result<Vec<Match>, StoreError> {
        self.read(|connection| find(connection, query))
    }
}

fn find(connection: &Connection, query: &MatchQuery) -> rusqlite::Result<Vec<Match>> {
    let sessions = query.sessions.as_ref().map(|sessions| {
        let numbers: Vec<String> = sessions.iter().map(|session| session.number().to_string()).collect();
        format!("[{}]", numbers.join(","))
    });
    let ids = || query.sessions.iter().flatten().map(|session| session.number());
    let (lowest, highest) = if query.sessions.is_some() {
        let (Some(lowest), Some(highest)) = (ids().min(), ids().max()) else { return Ok(Vec::new()) };
        (lowest, highest)
    } else {
        (0, LAST_OF_KIND - 1)
    };
    let one_of = if lowest == highest {
        ":sessions IS NOT NULL"
    } else {
        "text.rowid >> 40 IN (SELECT value FROM json_each(:sessions))"
    };
    let one_of = if sessions.is_some() { one_of } else { ":sessions IS NULL" };
    // CROSS JOIN keeps the order: the index first, then the document of each match.
    let mut statement = connection.prepare_cached(&format!(
        "SELECT text.rowid, bm25(text, {WEIGHTS}), document.time FROM text CROSS JOIN document ON document.id = text.rowid
         WHERE text MATCH :expression AND text.rowid BETWEEN :first AND :last AND {one_of}
            AND document.time BETWEEN :from AND :to
         ORDER BY text.rowid DESC LIMIT :limit"
    ))?;
    let matches = statement.query_map(
        named_params! {
            ":expression": expression(&query.terms),
            ":first": whole_log(SessionId::from_number(lowest).into()).0,
            ":last": whole_log(SessionId::from_number(highest).into()).1,
            ":sessions": sessions,
            ":from": query.from.map_or(i64::MIN, Timestamp::as_millis),
            ":to": query.to.as_millis(),
            ":limit": query.limit,
        },
        |row| {
            let id: i64 = row.get(0)?;
            Ok(Match {
                session: SessionId::from_number(u32::try_from(id >> 40).unwrap_or(u32::MAX)),
                seq: seq_of(id),
                // FTS5 writes better matches as lower numbers.
                score: -row.get::<_, f64>(1)?,
                time: Timestamp::from_millis(row.get(2)?),
            })
        },
    )?;
    matches.collect()
}
