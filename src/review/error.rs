//! What can go wrong with a review.

use std::path::PathBuf;

use crate::folder::FolderError;

/// Why changes cannot be shown, reverted or undone.
#[derive(Debug, thiserror::Error)]
pub enum ReviewError {
    /// The folder cannot be read or written.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// There is no snapshot to compare with.
    #[error("{0}")]
    NoSnapshot(String),
    /// No such turn is known.
    #[error("there are no snapshots of {0}; GET …/changes lists the turns that have some")]
    NoTurn(String),
    /// No such revert is kept.
    #[error("there is no revert {0} to undo; GET …/changes lists the reverts that can be undone")]
    NotKept(u64),
    /// The copy cannot be kept, so nothing was reverted.
    #[error("cannot keep a copy in {}, so nothing was changed", path.display())]
    Keep {
        /// Where.
        path: PathBuf,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// A copy cannot be read.
    #[error("cannot read the kept copy {}, so nothing was changed", path.display())]
    Unkept {
        /// Where.
        path: PathBuf,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// The server is stopping.
    #[error("the server is shutting down")]
    ShuttingDown,
}
