//! Rules for all sessions in a folder.

use std::path::PathBuf;

use rusqlite::{Connection, Row, params};

use super::backend::Sqlite;
use super::sessions::{path, path_value};
use crate::model::{FolderRule, Timestamp};
use crate::store::{Answer, FolderRuleRecords, StoredFolderRule};

/// Adds a rule, unless the folder has it.
pub(super) fn add(connection: &Connection, new: &FolderRule, now: Timestamp) -> rusqlite::Result<()> {
    let rule = serde_json::to_string(&new.rule).expect("plain values");
    connection
        .prepare_cached("INSERT OR IGNORE INTO folder_rule (folder, rule, added_at) VALUES (?1, ?2, ?3)")?
        .execute(params![path_value(&new.folder), rule, now.as_millis()])
        .map(drop)
}

impl FolderRuleRecords for Sqlite {
    fn folder_rules(&self) -> Answer<'_, Vec<StoredFolderRule>> {
        self.read(|connection| {
            connection
                .prepare_cached("SELECT id, folder, rule, added_at FROM folder_rule ORDER BY id")?
                .query_map([], stored)?
                .collect()
        })
    }

    fn remove_folder_rule(&self, id: u64) -> Answer<'_, bool> {
        // No number that a caller may send is larger than what the database can hold.
        let id = i64::try_from(id).unwrap_or(i64::MAX);
        self.write_durably(move |connection| Ok(connection.execute("DELETE FROM folder_rule WHERE id = ?1", [id])? > 0))
    }
}

fn stored(row: &Row<'_>) -> rusqlite::Result<StoredFolderRule> {
    let rule: String = row.get(2)?;
    let rule = serde_json::from_str(&rule)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(2, rusqlite::types::Type::Text, error.into()))?;
    Ok(StoredFolderRule {
        id: row.get(0)?,
        rule: FolderRule { folder: path(row, 1)?.unwrap_or_else(PathBuf::new), rule },
        added_at: Timestamp::from_millis(row.get(3)?),
    })
}
