//! Connections for reading: in WAL mode they see the last commit and never block the writer.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, InterruptHandle, OpenFlags};

/// Connections kept for the next reader.
const KEPT: usize = 4;
/// Reads at the same time; more wait. Each takes a thread, a connection and its cache.
pub(super) const AT_ONCE: usize = 8;
/// Page cache per connection, in KiB: the operating system caches the file anyway.
const CACHE_KIB: i64 = 512;

pub(super) struct ReadPool {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    idle: Vec<Connection>,
    /// How to interrupt the reads that are running.
    running: HashMap<u64, InterruptHandle>,
    last: u64,
}

impl ReadPool {
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), state: Mutex::default() }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn with<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> rusqlite::Result<T> {
        let idle = self.lock().idle.pop();
        let connection = match idle {
            Some(connection) => connection,
            None => self.open()?,
        };
        let running = {
            let mut state = self.lock();
            state.last += 1;
            let number = state.last;
            state.running.insert(number, connection.get_interrupt_handle());
            number
        };
        let outcome = work(&connection);
        let mut state = self.lock();
        state.running.remove(&running);
        if state.idle.len() < KEPT {
            state.idle.push(connection);
        }
        outcome
    }

    /// Makes the reads that are running fail: one that takes minutes would keep the WAL from being emptied.
    pub fn interrupt(&self) {
        self.lock().running.values().for_each(InterruptHandle::interrupt);
    }

    /// Closes idle connections, so that the last one to close can remove the WAL.
    pub fn close(&self) {
        self.lock().idle.clear();
    }

    #[cfg(test)]
    pub fn running(&self) -> usize {
        self.lock().running.len()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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
