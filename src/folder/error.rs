//! What can go wrong with a folder.

use std::path::PathBuf;

use crate::process::CaptureError;

/// Why a folder or its changes cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The folder cannot be read.
    #[error("cannot read the folder {}", path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// git is not installed.
    #[error("cannot show changes: git is not on the server's PATH; install git")]
    NoGit,
    /// Not in a repository.
    #[error("cannot show changes: the folder {} is not in a git repository", .0.display())]
    NoRepository(PathBuf),
    /// git failed.
    #[error("git cannot read {}: {message}", path.display())]
    GitRefused {
        /// Where.
        path: PathBuf,
        /// Its message.
        message: String,
    },
    /// git took too long.
    #[error(transparent)]
    Git(#[from] CaptureError),
    /// There is too much to keep a snapshot of.
    #[error("cannot take a snapshot of the folder: {0}")]
    TooMuch(String),
    /// Something cannot be written.
    #[error("cannot write {}", path.display())]
    Unwritable {
        /// What.
        path: PathBuf,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// A change cannot be reverted.
    #[error("cannot revert {path:?}: {reason}")]
    NotRevertible {
        /// The file.
        path: String,
        /// Why not.
        reason: String,
    },
    /// A file is not as it was shown any more.
    #[error("the file {0:?} has changed since it was shown; look at its changes again")]
    ChangedSince(String),
    /// A patch is too long to copy.
    #[error("the patch is larger than {} MB; copy the patches of single files instead", .limit / 1024 / 1024)]
    PatchTooLarge {
        /// The most bytes.
        limit: usize,
    },
    /// The file has no changes.
    #[error("the file {0:?} has no changes; GET …/changes lists the files that have")]
    NotChanged(String),
}
