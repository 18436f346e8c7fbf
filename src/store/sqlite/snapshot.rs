//! Copies of the database, taken while it is in use.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};
use rusqlite_migration::SchemaVersion;

use super::error::described;
use super::schema;
use crate::store::StoreError;

/// Writes all that is committed to a new file, as of one moment. The writer is not blocked. Blocks.
pub(in crate::store) fn snapshot(database: &Path, into: &Path) -> Result<(), StoreError> {
    let connection = open(database, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let copied = connection.execute("VACUUM INTO ?1", [into.to_string_lossy()]);
    copied.map(drop).map_err(|error| described(error, into))
}

/// Checks a copy: every page, every index, and that this program knows its schema. Blocks.
pub(in crate::store) fn check_snapshot(copy: &Path) -> Result<(), StoreError> {
    let connection = open(copy, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let describe = |error| described(error, copy);
    let verdict: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0)).map_err(describe)?;
    if verdict != "ok" {
        return Err(StoreError::Damaged { path: copy.to_owned(), source: verdict.into() });
    }
    match schema::MIGRATIONS.current_version(&connection) {
        Ok(SchemaVersion::Inside(_)) => Ok(()),
        Ok(SchemaVersion::Outside(_)) => Err(StoreError::TooNew { path: copy.to_owned() }),
        Ok(SchemaVersion::NoneSet) => {
            Err(StoreError::Damaged { path: copy.to_owned(), source: "it is not a database of Flightdeck".into() })
        }
        Err(error) => Err(StoreError::Statement(error.into())),
    }
}

/// The hashes of all large outputs that sessions in a copy use. Blocks.
pub(in crate::store) fn blobs_of_snapshot(copy: &Path) -> Result<Vec<String>, StoreError> {
    let connection = open(copy, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let read = || -> rusqlite::Result<Vec<String>> {
        let mut statement = connection.prepare("SELECT DISTINCT hash FROM blob_use ORDER BY hash")?;
        statement.query_map([], |row| row.get(0))?.collect()
    };
    read().map_err(|error| described(error, copy))
}

/// Makes numbers continue above those that were reserved when the copy was taken, as after a power cut: readers may have
/// seen events that the copy does not have. Blocks.
pub(in crate::store) fn mark_restored(copy: &Path) -> Result<(), StoreError> {
    let connection = open(copy, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let note = "INSERT OR REPLACE INTO meta (key, value) VALUES ('open_since_boot', 'restored')";
    connection.execute(note, []).map(drop).map_err(|error| described(error, copy))
}

fn open(path: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX);
    let connection = connection.map_err(|error| described(error, path))?;
    connection.busy_timeout(super::writer::BUSY_TIMEOUT).map_err(|error| described(error, path))?;
    Ok(connection)
}
