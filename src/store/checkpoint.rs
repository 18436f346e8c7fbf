//! Moving committed pages from the WAL into the database, on a thread of its own, so that a commit never waits for it.

use std::path::Path;
use std::sync::mpsc::{self, Sender};
use std::thread::JoinHandle;

use rusqlite::Connection;

/// Rows after which a checkpoint is due. A row is a fraction of a page, mostly.
const ROWS_BETWEEN: usize = 4_000;
/// Rows after which the writer waits for one: a WAL that is written without pause would else never shrink.
const ROWS_AT_MOST: usize = 200_000;

pub(super) struct Checkpointer {
    due: Option<Sender<Sender<()>>>,
    thread: Option<JoinHandle<()>>,
    rows: usize,
    rows_since_pause: usize,
}

impl Checkpointer {
    pub fn start(database: &Path) -> rusqlite::Result<Self> {
        let connection = Connection::open(database)?;
        connection.pragma_update(None, "wal_autocheckpoint", 0)?;
        let (due, wanted) = mpsc::channel::<Sender<()>>();
        let thread = std::thread::Builder::new()
            .name("checkpoint".to_owned())
            .spawn(move || {
                for done in wanted {
                    let moved: rusqlite::Result<i64> =
                        connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| row.get(0));
                    if let Err(error) = moved {
                        tracing::warn!(%error, "could not checkpoint the database; it is tried again");
                    }
                    let _ = done.send(());
                }
            })
            .ok();
        Ok(Self { due: Some(due), thread, rows: 0, rows_since_pause: 0 })
    }

    /// Called by the writer after each commit.
    pub fn wrote(&mut self, rows: usize) {
        self.rows += rows;
        self.rows_since_pause += rows;
        if self.rows < ROWS_BETWEEN {
            return;
        }
        self.rows = 0;
        let (done, finished) = mpsc::channel();
        let asked = self.due.as_ref().is_some_and(|due| due.send(done).is_ok());
        if self.rows_since_pause >= ROWS_AT_MOST {
            self.rows_since_pause = 0;
            if asked {
                // An error means that the thread is gone, so there is nothing to wait for.
                let _ = finished.recv();
            }
        }
    }

    /// Ends the thread; the last connection to close empties the WAL.
    pub fn end(mut self) {
        self.due = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the checkpoint thread ended in a panic");
        }
    }
}
