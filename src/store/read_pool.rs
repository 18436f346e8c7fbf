//! Connections for reading: in WAL mode they see the last commit and never hold up the writer.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rusqlite::{Connection, OpenFlags};

/// Connections kept for the next reader; more are opened when more read at once.
const KEPT: usize = 4;
/// Page cache per connection, in KiB: the operating system caches the file anyway.
const CACHE_KIB: i64 = 512;

#[derive(Debug)]
pub(super) struct ReadPool {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
}

impl ReadPool {
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), idle: Mutex::new(Vec::new()) }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn with<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> rusqlite::Result<T> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => self.open()?,
        };
        let outcome = work(&connection);
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < KEPT {
            idle.push(connection);
        }
        outcome
    }

    /// Closes what is idle, so that the last one to close can tidy the WAL away.
    pub fn close(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn open(&self) -> rusqlite::Result<Connection> {
        let connection = Connection::open_with_flags(
            &self.path,
            OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
        )?;
        connection.busy_timeout(super::writer::BUSY_TIMEOUT)?;
        connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
        Ok(connection)
    }
}
