//! What changed in a repository.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

/// How a file changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// Its content or mode.
    Modified,
    /// New, and added to git.
    Added,
    /// Deleted.
    Deleted,
    /// Renamed.
    Renamed,
    /// New, and not added to git.
    Untracked,
}

/// One file that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Relative to the top of the repository; bytes, because it may not be UTF-8.
    pub path: PathBuf,
    /// The old path, if it was renamed.
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
    /// The current branch, if there is one.
    pub branch: Option<String>,
    /// Sorted by path.
    pub changes: Vec<Change>,
    /// Whether there are more.
    pub truncated: bool,
}

impl Change {
    /// The path as a JSON string.
    pub fn shown_path(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }
}
