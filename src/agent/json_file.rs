//! Small files of ours that hold one value as JSON: read leniently, written whole or not at all.

use std::io;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The value in a file; `None` when there is no file or it holds something else.
pub(super) fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()
}

/// Writes a value. Two processes may do so at the same moment: the later wins, and nobody reads half of it.
pub(super) fn write<T: Serialize>(path: &Path, value: &T) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let fresh = path.with_extension(format!("{}.new", std::process::id()));
    std::fs::write(&fresh, serde_json::to_string_pretty(value)?)?;
    std::fs::rename(&fresh, path)
}
