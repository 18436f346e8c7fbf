//! A project's own file.

use std::path::{Path, PathBuf};

use super::repository_root;

const NAME: &str = ".flightdeck.toml";

/// The nearest `.flightdeck.toml` at or above a folder.
pub(super) fn project_file(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().map(|folder| folder.join(NAME)).find(|file| file.is_file())
}

/// The project's file for a folder: the nearest one, or else a new one in the root of the repository.
pub(super) fn project_file_to_write(folder: &Path) -> PathBuf {
    project_file(folder).unwrap_or_else(|| repository_root(folder).join(NAME))
}
