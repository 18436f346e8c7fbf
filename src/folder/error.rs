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
    /// The file has no changes.
    #[error("the file {0:?} has no changes; GET …/changes lists the files that have")]
    NotChanged(String),
}
