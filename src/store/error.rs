//! What can go wrong with the store, in words.

use std::path::PathBuf;

use rusqlite::ErrorCode;

/// The store could not do what it was asked to. Nothing is half done: a failed transaction leaves no trace.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// No room left, on the disk or below the configured limit.
    #[error(
        "there is no room left for the database; free some disk space, delete old sessions, or raise limits.database_bytes"
    )]
    Full(#[source] rusqlite::Error),
    /// The file may not be written.
    #[error("the database cannot be written; check who owns the data folder and whether its disk is mounted read-only")]
    ReadOnly(#[source] rusqlite::Error),
    /// The operating system refused.
    #[error("the disk refused to read or write the database; check the disk")]
    Disk(#[source] rusqlite::Error),
    /// The file is not what it should be.
    #[error("the database {} is damaged; move it away to start anew or restore a backup of it", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        #[source]
        source: rusqlite::Error,
    },
    /// The file has a schema that this program does not know.
    #[error("the database {} was written by a newer Flightdeck; install that version, or choose another folder with --data-dir", path.display())]
    TooNew {
        /// The file.
        path: PathBuf,
    },
    /// A blob could not be read or written.
    #[error("the file {} could not be read or written", path.display())]
    Blob {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        #[source]
        source: std::io::Error,
    },
    /// The server is shutting down.
    #[error("the server is shutting down")]
    Closed,
    /// All ids are given away.
    #[error("this database has no session ids left; start a new one with --data-dir")]
    NoMoreIds,
    /// Anything else: a defect of ours.
    #[error("the database did not accept a statement; this is a defect of Flightdeck")]
    Statement(#[source] rusqlite::Error),
}

impl StoreError {
    /// Puts an error of SQLite into words.
    pub(super) fn from_sqlite(error: rusqlite::Error, path: &std::path::Path) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::Full(error),
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => Self::ReadOnly(error),
            Some(
                ErrorCode::SystemIoFailure
                | ErrorCode::OutOfMemory
                | ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::FileLockingProtocolFailed,
            ) => Self::Disk(error),
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Damaged { path: path.to_owned(), source: error }
            }
            _ => Self::Statement(error),
        }
    }

    /// Whether the same statement may succeed later, when the disk is better.
    pub fn is_the_disks(&self) -> bool {
        matches!(self, Self::Full(_) | Self::ReadOnly(_) | Self::Disk(_) | Self::Damaged { .. })
    }
}
