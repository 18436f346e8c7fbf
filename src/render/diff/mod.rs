//! Changes of files: read from unified diffs and patches, or found between two texts, and shown as tables.

mod file;
mod pair;
mod patch;
mod table;
mod unified;
mod words;

pub(super) use file::FileDiff;
pub(super) use pair::between;
pub(super) use patch::{is_patch, parse_patch};
pub(super) use table::diff_tables;
pub(super) use unified::{is_unified, parse_unified};

use super::cut::Extent;
use super::html::Html;

/// A unified diff as tables. `path` is shown instead of the names in the diff, where there is one file only.
pub fn unified_diff(text: &str, path: Option<&str>, extent: Extent) -> Html {
    let mut files = parse_unified(text);
    if let ([file], Some(path)) = (files.as_mut_slice(), path) {
        path.clone_into(&mut file.path);
    }
    diff_tables(&files, extent)
}
