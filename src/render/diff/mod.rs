//! Diffs of files: parsed from unified diffs and patches, or computed from two texts, and shown as tables.

mod file;
mod pair;
mod patch;
mod table;
mod unified;
mod words;

pub(super) use file::FileDiff;
use file::{LineKind, Numbers};
pub(super) use pair::between;
pub(super) use patch::{is_patch, parse_patch};
pub(super) use table::diff_tables;
use table::is_cut;
pub(super) use unified::{is_unified, parse_unified};

use super::cut::Extent;
use super::html::Html;

/// A diff as HTML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderedDiff {
    /// The fragment.
    pub html: Html,
    /// Whether something was left out.
    pub truncated: bool,
}

/// The diff of the file `path`. If it is not `complete`, the text was cut off.
pub fn unified_diff(path: &str, text: &str, complete: bool) -> RenderedDiff {
    let mut files = parse_unified(text);
    if let [file] = files.as_mut_slice() {
        // The path in the diff may be quoted and cut, so `path` is better, except for a rename.
        if !file.path.contains(" → ") {
            path.clone_into(&mut file.path);
        }
    }
    rendered(&files, complete)
}

/// A new file: all of its lines are added.
pub fn new_file(path: &str, text: &str, complete: bool) -> RenderedDiff {
    let mut numbers = Numbers { old: None, new: Some(1) };
    let lines = text.lines().map(|line| numbers.line(LineKind::Added, line)).collect();
    rendered(&[FileDiff { path: path.to_owned(), notes: vec!["New file".to_owned()], lines }], complete)
}

/// A file without lines to show, and the reason.
pub fn file_note(path: &str, note: &str) -> RenderedDiff {
    rendered(&[FileDiff { path: path.to_owned(), notes: vec![note.to_owned()], lines: Vec::new() }], true)
}

fn rendered(files: &[FileDiff], complete: bool) -> RenderedDiff {
    let mut html = diff_tables(files, Extent::All);
    if !complete {
        html.markup("<p class=\"render-note\">The rest is too large to show.</p>");
    }
    let truncated = !complete || is_cut(files, Extent::All);
    RenderedDiff { html, truncated }
}
