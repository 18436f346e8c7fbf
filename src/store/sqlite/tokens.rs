//! Tokens with scopes.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::Sqlite;
use crate::model::{Scope, Timestamp, TokenId};
use crate::store::{Answer, NewToken, Revocation, StoredToken, TokenRecords};

const COLUMNS: &str = "id, hash, name, scopes, created_at, expires_at, last_used_at, revoked_at";

impl TokenRecords for Sqlite {
    fn add_token(&self, new: NewToken) -> Answer<'_, TokenId> {
        self.write_durably(move |connection| {
            connection.execute(
                "INSERT INTO token (hash, name, scopes, created_at, expires_at) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![
                    new.hash,
                    new.name,
                    new.scopes.iter().map(|scope| scope.as_str()).collect::<Vec<_>>().join(" "),
                    new.created_at.as_millis(),
                    new.expires_at.map(Timestamp::as_millis)
                ],
            )?;
            connection
                .query_row("SELECT id FROM token WHERE hash = ?1", [new.hash], |row| row.get(0))
                .map(TokenId::from_number)
        })
    }

    fn tokens(&self) -> Answer<'_, Vec<StoredToken>> {
        self.read(|connection| {
            connection
                .prepare_cached(&format!("SELECT {COLUMNS} FROM token ORDER BY id DESC"))?
                .query_map([], stored)?
                .collect()
        })
    }

    fn revoke_token(&self, id: TokenId, now: Timestamp) -> Answer<'_, Revocation> {
        self.write_durably(move |connection| {
            let revoked = connection.execute(
                "UPDATE token SET revoked_at = ?2 WHERE id = ?1 AND revoked_at IS NULL",
                params![id.number(), now.as_millis()],
            )?;
            Ok(match (find(connection, id)?, revoked) {
                (None, _) => Revocation::NotFound,
                (Some(token), 0) => Revocation::Earlier(token),
                (Some(token), _) => Revocation::Revoked(token),
            })
        })
    }

    fn note_token_use(&self, id: TokenId, at: Timestamp) {
        // The writer has the job already; nobody waits for its result.
        drop(self.write(move |connection| {
            connection
                .prepare_cached("UPDATE token SET last_used_at = max(coalesce(last_used_at, ?2), ?2) WHERE id = ?1")?
                .execute(params![id.number(), at.as_millis()])
                .map(drop)
        }));
    }
}

fn find(connection: &Connection, id: TokenId) -> rusqlite::Result<Option<StoredToken>> {
    connection.query_row(&format!("SELECT {COLUMNS} FROM token WHERE id = ?1"), [id.number()], stored).optional()
}

fn stored(row: &Row<'_>) -> rusqlite::Result<StoredToken> {
    let moment = |column: &str| row.get::<_, Option<i64>>(column).map(|millis| millis.map(Timestamp::from_millis));
    Ok(StoredToken {
        id: TokenId::from_number(row.get("id")?),
        token: NewToken {
            hash: row.get("hash")?,
            name: row.get("name")?,
            // A scope of a later version is unknown here, so it opens nothing.
            scopes: row.get::<_, String>("scopes")?.split(' ').filter_map(|word| Scope::named(word).ok()).collect(),
            created_at: Timestamp::from_millis(row.get("created_at")?),
            expires_at: moment("expires_at")?,
        },
        last_used_at: moment("last_used_at")?,
        revoked_at: moment("revoked_at")?,
    })
}
