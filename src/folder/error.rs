//! What can go wrong with a folder.

use std::path::PathBuf;

use crate::process::CaptureError;

/// Why a folder has no answer.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The folder cannot be read.
    #[error("the folder {} cannot be read", path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// No git on this machine.
    #[error("git is not installed, or not on the PATH of the server, so changes cannot be shown; install git")]
    NoGit,
    /// Not in a repository.
    #[error("the folder {} is in no git repository, so there is nothing to compare with", .0.display())]
    NoRepository(PathBuf),
    /// git refused.
    #[error("git could not look at {}: {words}", path.display())]
    GitRefused {
        /// Where.
        path: PathBuf,
        /// What it said.
        words: String,
    },
    /// git did not come to an end.
    #[error(transparent)]
    Git(#[from] CaptureError),
    /// The file has no change that could be shown.
    #[error("no change of a file called {0:?} is there; GET …/changes lists those that are")]
    NotChanged(String),
}
