//! Entries of jobs that a person trusts.

use std::path::PathBuf;

use rusqlite::params;

use super::Sqlite;
use super::sessions::{path, path_value};
use crate::model::Timestamp;
use crate::store::{Answer, TrustedEntries, TrustedEntry};

impl TrustedEntries for Sqlite {
    fn trust_entry(&self, entry: TrustedEntry) -> Answer<'_, ()> {
        self.write_durably(move |connection| {
            connection
                .execute(
                    "INSERT OR REPLACE INTO trusted_entry (path, hash, trusted_at) VALUES (?1, ?2, ?3)",
                    params![path_value(&entry.path), entry.hash, entry.trusted_at.as_millis()],
                )
                .map(drop)
        })
    }

    fn is_trusted_entry(&self, path: PathBuf, hash: String) -> Answer<'_, bool> {
        self.read(move |connection| {
            connection
                .prepare_cached("SELECT 1 FROM trusted_entry WHERE path = ?1 AND hash = ?2")?
                .exists(params![path_value(&path), hash])
        })
    }

    fn trusted_entries(&self) -> Answer<'_, Vec<TrustedEntry>> {
        self.read(|connection| {
            let mut entries: Vec<TrustedEntry> = connection
                .prepare_cached("SELECT path, hash, trusted_at FROM trusted_entry")?
                .query_map([], |row| {
                    Ok(TrustedEntry {
                        path: path(row, 0)?.unwrap_or_else(PathBuf::new),
                        hash: row.get(1)?,
                        trusted_at: Timestamp::from_millis(row.get(2)?),
                    })
                })?
                .collect::<rusqlite::Result<_>>()?;
            // Paths have an order of their own.
            entries.sort_by(|one, two| one.path.cmp(&two.path));
            Ok(entries)
        })
    }

    fn forget_trusted_entry(&self, path: PathBuf) -> Answer<'_, bool> {
        self.write_durably(move |connection| {
            Ok(connection.execute("DELETE FROM trusted_entry WHERE path = ?1", params![path_value(&path)])? > 0)
        })
    }
}
