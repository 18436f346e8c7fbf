//! Whether the file that was opened is still the one at its path. `SQLite` keeps writing to a deleted file, and what it
//! writes there is lost when the process ends.

use std::fs;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub(super) struct FileIdentity {
    path: PathBuf,
    identity: Option<Identity>,
}

#[cfg(unix)]
type Identity = (u64, u64);
#[cfg(not(unix))]
type Identity = ();

impl FileIdentity {
    pub fn of(path: &Path) -> Self {
        Self { path: path.to_owned(), identity: identity(path) }
    }

    pub fn is_unchanged(&self) -> bool {
        identity(&self.path) == self.identity
    }
}

#[cfg(unix)]
fn identity(path: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

#[cfg(not(unix))]
fn identity(path: &Path) -> Option<Identity> {
    // Open files cannot be deleted or replaced there.
    fs::metadata(path).ok().map(drop)
}
