//! What changed in a repository.

use std::path::PathBuf;

use serde::Serialize;

/// How a file changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// Its content or mode.
    Modified,
    /// New, and git knows of it.
    Added,
    /// Gone.
    Deleted,
    /// Called otherwise.
    Renamed,
    /// New, and git does not know of it.
    Untracked,
}

/// One file that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Below the top of the repository; bytes, where it is not text.
    pub path: PathBuf,
    /// What it was called before, if it was renamed.
    pub old_path: Option<PathBuf>,
    /// How it changed.
    pub kind: ChangeKind,
    /// Lines added; unknown for binary files and for some new ones.
    pub added: Option<u64>,
    /// Lines removed.
    pub removed: Option<u64>,
}

/// Everything that changed since the last commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeList {
    /// The top of the repository.
    pub repository: PathBuf,
    /// The branch, if it is on one.
    pub branch: Option<String>,
    /// In the order of their paths.
    pub changes: Vec<Change>,
    /// Whether there are more.
    pub truncated: bool,
}

impl Change {
    /// The path as JSON can hold it.
    pub fn shown_path(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }
}
