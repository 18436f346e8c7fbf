//! Errors of the store. They contain no type of a database, so every backend reports the same errors.

use std::path::PathBuf;

/// The error of a database or the operating system; only its text matters.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Why an operation of the store failed. A failed transaction changes nothing.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// No room left, on the disk or below the configured limit.
    #[error(
        "there is no room left for the database; free some disk space, delete old sessions, or raise limits.database_bytes"
    )]
    Full(#[source] Cause),
    /// The database may not be written.
    #[error("the database cannot be written; check who owns the data folder and whether its disk is mounted read-only")]
    ReadOnly(#[source] Cause),
    /// The operating system refused.
    #[error("the database could not be read or written because the disk failed; check the disk")]
    Disk(#[source] Cause),
    /// The database's files were deleted, moved or replaced while they were in use.
    #[error(
        "the database file was deleted, moved or replaced while the server was running; put it back, or restart the server"
    )]
    Missing,
    /// The database is damaged.
    #[error("the database {} is damaged; restore a backup, or move it away to start with an empty one", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The database's error.
        #[source]
        source: Cause,
    },
    /// The database has a schema that this program does not know.
    #[error("the database {} was written by a newer Flightdeck; install that version, or choose another folder with --data-dir", path.display())]
    TooNew {
        /// The file.
        path: PathBuf,
    },
    /// The database could not be opened.
    #[error("the database {} could not be opened", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        #[source]
        source: Cause,
    },
    /// A blob could not be read or written. The text names no path because clients see it.
    #[error("a large output could not be read from or written to the data folder")]
    Blob {
        /// The file, for the log.
        path: PathBuf,
        /// The operating system's error.
        #[source]
        source: std::io::Error,
    },
    /// A blob's content is not what was written.
    #[error("the stored output is damaged: its content does not match its hash")]
    BlobDamaged {
        /// The hash that it should have.
        hash: String,
    },
    /// The writer died because of a bug. Nothing can be written until the server is restarted.
    #[error("the database writer stopped unexpectedly; restart the server and try again")]
    WriterDied,
    /// The store was closed because the server is shutting down.
    #[error("the server is shutting down")]
    Closed,
    /// All ids are used up.
    #[error("this database has no ids left; start a new one with --data-dir")]
    NoMoreIds,
    /// Anything else: a bug of ours.
    #[error("the database rejected a statement; this is a bug in Flightdeck")]
    Statement(#[source] Cause),
}

impl StoreError {
    /// Whether the same statement may succeed later, when the disk works again.
    pub fn is_disk_error(&self) -> bool {
        matches!(self, Self::Full(_) | Self::ReadOnly(_) | Self::Disk(_) | Self::Missing | Self::Damaged { .. })
    }

    /// A copy for another caller of the same transaction; the cause is kept as text.
    #[must_use]
    pub fn copy(&self) -> Self {
        let text = |cause: &Cause| Cause::from(cause.to_string());
        match self {
            Self::Full(cause) => Self::Full(text(cause)),
            Self::ReadOnly(cause) => Self::ReadOnly(text(cause)),
            Self::Disk(cause) => Self::Disk(text(cause)),
            Self::Missing => Self::Missing,
            Self::Damaged { path, source } => Self::Damaged { path: path.clone(), source: text(source) },
            Self::TooNew { path } => Self::TooNew { path: path.clone() },
            Self::Open { path, source } => Self::Open { path: path.clone(), source: text(source) },
            Self::Blob { path, source } => {
                Self::Blob { path: path.clone(), source: std::io::Error::new(source.kind(), source.to_string()) }
            }
            Self::BlobDamaged { hash } => Self::BlobDamaged { hash: hash.clone() },
            Self::WriterDied => Self::WriterDied,
            Self::Closed => Self::Closed,
            Self::NoMoreIds => Self::NoMoreIds,
            Self::Statement(cause) => Self::Statement(text(cause)),
        }
    }
}
