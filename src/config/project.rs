//! A project's own file.

use std::path::{Path, PathBuf};

use super::repository_root;

const NAME: &str = ".flightdeck.toml";

/// The nearest `.flightdeck.toml` at or above a folder.
pub(super) fn project_file(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().map(|folder| folder.join(NAME)).find(|file| file.is_file())
}

/// The file of a folder's project: the one that counts, else the one that would, in the root of its repository.
pub(super) fn project_file_to_write(folder: &Path) -> PathBuf {
    project_file(folder).unwrap_or_else(|| repository_root(folder).join(NAME))
}
