//! Moving committed pages from the WAL into the database, on its own thread, so that a commit does not wait for it
//! unless the WAL has reached its bound.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;

use super::read_pool::ReadPool;

/// A checkpoint is due after this many rows, or this many bytes. A row is a fraction of a page, mostly.
const ROWS_BETWEEN: usize = 4_000;
const BYTES_BETWEEN: usize = 8 * 1024 * 1024;

/// When the writer waits, and for how long readers may finish first.
#[derive(Clone, Copy, Debug)]
pub(super) struct WalBound {
    /// Beyond this size of the WAL the writer waits until it is emptied.
    pub bytes: u64,
    /// Readers that take longer are interrupted.
    pub patience: Duration,
}

impl Default for WalBound {
    fn default() -> Self {
        // Above `journal_size_limit`, to which an emptied WAL is cut.
        Self { bytes: 256 * 1024 * 1024, patience: Duration::from_secs(5) }
    }
}

pub(super) struct Checkpointer {
    due: Option<Sender<Request>>,
    thread: Option<JoinHandle<()>>,
    wal: PathBuf,
    bound: WalBound,
    rows: usize,
    bytes: usize,
}

enum Request {
    /// Moves what no reader needs.
    Passive,
    /// Empties the WAL, after interrupting readers if need be; answered when it is done.
    Empty(Sender<()>),
}

impl Checkpointer {
    pub fn start(database: &Path, pool: Arc<ReadPool>, bound: WalBound) -> Result<Self, crate::store::Cause> {
        let connection = Connection::open(database)?;
        connection.pragma_update(None, "wal_autocheckpoint", 0)?;
        connection.busy_timeout(bound.patience)?;
        let (due, requests) = mpsc::channel();
        let thread = std::thread::Builder::new()
            .name("checkpoint".to_owned())
            .spawn(move || serve(&connection, &requests, &pool, bound))?;
        let mut wal = database.as_os_str().to_owned();
        wal.push("-wal");
        Ok(Self { due: Some(due), thread: Some(thread), wal: wal.into(), bound, rows: 0, bytes: 0 })
    }

    /// Called by the writer after each commit.
    pub fn wrote(&mut self, rows: usize, bytes: usize) {
        self.rows += rows;
        self.bytes += bytes;
        let enough = usize::try_from(self.bound.bytes / 4).map_or(BYTES_BETWEEN, |bytes| bytes.min(BYTES_BETWEEN));
        if self.rows < ROWS_BETWEEN && self.bytes < enough {
            return;
        }
        (self.rows, self.bytes) = (0, 0);
        let Some(due) = &self.due else { return };
        let size = std::fs::metadata(&self.wal).map_or(0, |file| file.len());
        if size <= self.bound.bytes {
            // The thread lives as long as the writer.
            let _ = due.send(Request::Passive);
            return;
        }
        let (done, finished) = mpsc::channel();
        if due.send(Request::Empty(done)).is_ok() {
            // An error means that the thread is gone, so there is nothing to wait for.
            let _ = finished.recv();
        }
    }

    /// Ends the thread; the last connection to close empties the WAL.
    pub fn end(mut self) {
        self.due = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the checkpoint thread panicked");
        }
    }
}

fn serve(connection: &Connection, requests: &Receiver<Request>, pool: &ReadPool, bound: WalBound) {
    for request in requests {
        match request {
            Request::Passive => {
                checkpoint(connection, "PASSIVE");
            }
            Request::Empty(done) => {
                if !checkpoint(connection, "TRUNCATE") {
                    tracing::warn!("interrupting a slow read because the WAL has reached its limit");
                    pool.interrupt();
                    // An interrupted read ends soon, but not at once.
                    let patience = |time| connection.busy_timeout(time).is_ok();
                    if patience(super::writer::BUSY_TIMEOUT) {
                        checkpoint(connection, "TRUNCATE");
                        patience(bound.patience);
                    }
                }
                let _ = done.send(());
            }
        }
    }
}

/// Runs a checkpoint. Returns whether it was not blocked.
fn checkpoint(connection: &Connection, mode: &str) -> bool {
    let busy: rusqlite::Result<bool> =
        connection.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |row| row.get(0));
    match busy {
        Ok(busy) => !busy,
        Err(error) => {
            tracing::warn!(%error, "could not checkpoint the database; retrying later");
            false
        }
    }
}
