//! The file of the index: opened when it is first needed, and replaced when it cannot be used.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, ErrorCode, OpenFlags};
use tokio::sync::Semaphore;

use crate::model::SessionId;
use crate::store::folder::private_file;
use crate::store::sqlite::error::described;
use crate::store::sqlite::writer::BUSY_TIMEOUT;
use crate::store::{IndexBacklog, StoreError};

/// Raised with every change of the tables or of what is indexed: an index of another version is built again.
const VERSION: i64 = 1;
/// Searches at the same time; more wait.
const AT_ONCE: usize = 2;

/// `text` has one column per kind, so that a search can be limited to some and kinds can weigh differently. Prefixes of
/// three letters have an index of their own; it takes as much room as a third of the rest, and makes a search while
/// somebody types a hundred times faster.
const TABLES: &str = "
    CREATE VIRTUAL TABLE text USING fts5(prompt, message, reasoning, call, output, content='', contentless_delete=1,
        tokenize='unicode61 remove_diacritics 2', prefix='3');
    CREATE TABLE document (id INTEGER PRIMARY KEY, time INTEGER NOT NULL);
    -- How far a session is indexed, and the newest event with a text. That event is never removed alone, so it tells
    -- whether this is still the log that was indexed.
    CREATE TABLE position (
        session INTEGER PRIMARY KEY,
        through INTEGER NOT NULL,
        newest INTEGER,
        newest_time INTEGER
    );
";

pub(in crate::store::sqlite) struct SearchFile {
    path: PathBuf,
    writer: Mutex<Writer>,
    readers: Mutex<Vec<Connection>>,
    pub(super) searches: Arc<Semaphore>,
    /// The file must be replaced.
    is_damaged: AtomicBool,
    pub(in crate::store::sqlite) backlog: Arc<IndexBacklog>,
}

#[derive(Default)]
pub(super) struct Writer {
    connection: Option<Connection>,
    /// Sessions that were deleted: what was read of them before is not indexed any more.
    pub deleted: HashSet<SessionId>,
    is_closed: bool,
}

/// How a read of an index that was deleted fails.
fn is_missing(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::CannotOpen)
}

impl SearchFile {
    pub fn new(path: PathBuf) -> Self {
        Self {
            path,
            writer: Mutex::default(),
            readers: Mutex::default(),
            searches: Arc::new(Semaphore::new(AT_ONCE)),
            is_damaged: AtomicBool::new(false),
            backlog: Arc::default(),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes a deleted session from the index, for good.
    pub fn forget(&self, session: SessionId) {
        let mut writer = self.lock();
        writer.deleted.insert(session);
        self.backlog.forget(session);
        // An index that nobody has opened is compared with the sessions when it is.
        if let Some(connection) = &writer.connection
            && let Err(error) = super::indexing::remove(connection, session)
        {
            tracing::warn!(%error, %session, "could not remove a deleted session from the search index");
            self.backlog.restart();
        }
    }

    /// Closes the file. Nothing is indexed or found afterwards.
    pub fn close(&self) {
        let mut writer = self.lock();
        writer.is_closed = true;
        writer.connection = None;
        self.lock_readers().clear();
    }

    /// Deletes an index that is damaged; it is built again from the logs.
    pub(super) fn replace_if_damaged(&self) -> Result<(), StoreError> {
        if !self.is_damaged.load(Ordering::Relaxed) {
            return Ok(());
        }
        let mut writer = self.lock();
        tracing::warn!(path = %self.path.display(), "the search index is damaged; building it again");
        writer.connection = None;
        self.lock_readers().clear();
        remove_files(&self.path).map_err(|error| StoreError::Disk(error.into()))?;
        self.is_damaged.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// Runs with the connection that writes.
    pub(super) fn write<T>(
        &self,
        work: impl FnOnce(&Connection, &mut HashSet<SessionId>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let mut writer = self.lock();
        if writer.is_closed {
            return Err(StoreError::Closed);
        }
        if writer.connection.is_none() {
            writer.connection = Some(open(&self.path).map_err(|error| self.described(error))?);
        }
        let Writer { connection: Some(connection), deleted, .. } = &mut *writer else {
            return Err(StoreError::Closed);
        };
        work(connection, deleted).map_err(|error| self.described(error))
    }

    /// Runs with a connection that reads. An index that does not exist yet has nothing.
    pub(super) fn read<T: Default>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        if !self.backlog.is_compared() {
            return Ok(T::default());
        }
        let idle = self.lock_readers().pop();
        let opened = idle.map_or_else(|| open_for_reading(&self.path), Ok);
        let connection =
            opened.map_err(|error| if is_missing(&error) { self.damaged(error) } else { self.described(error) })?;
        let outcome = work(&connection).map_err(|error| self.described(error));
        if !matches!(outcome, Err(StoreError::Damaged { .. })) {
            self.lock_readers().push(connection);
        }
        outcome
    }

    /// As for the database, except that a text that is there twice is damage too: the index is not what its positions say.
    fn described(&self, error: rusqlite::Error) -> StoreError {
        use ErrorCode::{ConstraintViolation, DatabaseCorrupt, NotADatabase};
        match error.sqlite_error_code() {
            Some(ConstraintViolation | DatabaseCorrupt | NotADatabase) => self.damaged(error),
            _ => described(error, &self.path),
        }
    }

    /// Records the damage: the indexer replaces the file.
    fn damaged(&self, error: rusqlite::Error) -> StoreError {
        self.is_damaged.store(true, Ordering::Relaxed);
        self.backlog.restart();
        StoreError::Damaged { path: self.path.clone(), source: error.into() }
    }

    fn lock(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_readers(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens the index for writing. One of another version is replaced.
fn open(path: &Path) -> rusqlite::Result<Connection> {
    let refused = |error: io::Error| rusqlite::Error::ToSqlConversionFailure(error.into());
    if !path.exists() {
        // Private before `SQLite` opens it: its companions inherit the mode.
        drop(private_file(path).map_err(refused)?);
    }
    let connection = connect(path)?;
    if version(&connection)? == VERSION {
        return Ok(connection);
    }
    drop(connection);
    remove_files(path).and_then(|()| private_file(path)).map(drop).map_err(refused)?;
    let connection = connect(path)?;
    let transaction = connection.unchecked_transaction()?;
    transaction.execute_batch(TABLES)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()?;
    Ok(connection)
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "journal_size_limit", 16 * 1024 * 1024)?;
    connection.pragma_update(None, "cache_size", -4_096)?;
    Ok(connection)
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

fn open_for_reading(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "cache_size", -8_192)?;
    Ok(connection)
}

fn remove_files(path: &Path) -> io::Result<()> {
    for companion in ["", "-wal", "-shm"] {
        let mut file = path.as_os_str().to_owned();
        file.push(companion);
        match fs::remove_file(PathBuf::from(file)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}
