//! Copies of what reverts replaced, so that each can be undone.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::ReviewError;
use crate::folder::{Content, FolderError, RevertedPath, content_at, put};
use crate::model::{Timestamp, hex};
use crate::private_file::{Durability, read_json, write, write_json};

/// The newest reverts are kept, as long as their copies are not larger than this together.
const MOST_REVERTS: usize = 100;
const MOST_BYTES: u64 = 256 * 1024 * 1024;

/// A revert that can be undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeptRevert {
    /// Its number within the session.
    pub number: u64,
    /// The file, as it was shown.
    pub path: String,
    /// The hunk, counted from 0; the whole file if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hunk: Option<usize>,
    /// When.
    pub at: Timestamp,
    /// The top of the repository, in hexadecimal digits.
    repository: String,
    paths: Vec<KeptPath>,
}

/// A path, and what was and is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct KeptPath {
    /// In hexadecimal digits, because it may not be UTF-8.
    path: String,
    before: KeptContent,
    after: KeptContent,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum KeptContent {
    Missing,
    File { hash: String, mode: u32 },
    Link { target: String },
}

impl KeptContent {
    fn of(content: &Content) -> Self {
        match content {
            Content::Missing => Self::Missing,
            Content::File { bytes, mode } => Self::File { hash: hex(&Sha256::digest(bytes)), mode: *mode },
            Content::Link(target) => Self::Link { target: path_hex(target) },
        }
    }
}

/// A revert that is about to be made.
pub(super) struct NewRevert<'a> {
    pub path: &'a str,
    pub hunk: Option<usize>,
    pub at: Timestamp,
    pub repository: &'a Path,
    pub paths: &'a [RevertedPath],
}

/// The copies of one session.
pub(super) struct KeptReverts {
    folder: PathBuf,
}

impl KeptReverts {
    pub fn in_folder(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// What can be undone, newest first. Blocks.
    pub fn list(&self) -> Vec<KeptRevert> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let records =
            entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "json"));
        let mut reverts: Vec<KeptRevert> = records.filter_map(|path| read_json(&path).ok().flatten()).collect();
        reverts.sort_by_key(|revert| std::cmp::Reverse(revert.number));
        reverts
    }

    /// Keeps copies and then makes a revert. Blocks.
    pub fn revert(&self, new: &NewRevert<'_>) -> Result<KeptRevert, ReviewError> {
        let number = self.list().first().map_or(1, |newest| newest.number + 1);
        let path = |reverted: &RevertedPath| KeptPath {
            path: path_hex(&reverted.path),
            before: KeptContent::of(&reverted.now),
            after: KeptContent::of(&reverted.then),
        };
        let kept = KeptRevert {
            number,
            path: new.path.to_owned(),
            hunk: new.hunk,
            at: new.at,
            repository: path_hex(new.repository),
            paths: new.paths.iter().map(path).collect(),
        };
        let failed = |source| ReviewError::Keep { path: self.folder.clone(), source };
        std::fs::create_dir_all(&self.folder).map_err(failed)?;
        for (position, reverted) in new.paths.iter().enumerate() {
            if let Content::File { bytes, .. } = &reverted.now {
                write(&self.copy(number, position), bytes, Durability::PowerCut).map_err(failed)?;
            }
        }
        write_json(&self.record(number), &kept).map_err(failed)?;
        let changes: Vec<(&Path, &Content, &Content)> =
            new.paths.iter().map(|reverted| (reverted.path.as_path(), &reverted.then, &reverted.now)).collect();
        if let Err(error) = put(new.repository, &changes) {
            self.forget(&kept);
            return Err(error.into());
        }
        self.keep_few();
        Ok(kept)
    }

    /// Puts back what a revert replaced, unless it has changed since. `is_allowed` says whether a file may be written.
    /// Blocks.
    pub fn undo(&self, number: u64, is_allowed: impl Fn(&Path) -> bool) -> Result<KeptRevert, ReviewError> {
        let kept: Option<KeptRevert> = read_json(&self.record(number)).ok().flatten();
        let kept = kept.ok_or(ReviewError::NotKept(number))?;
        let top = path_of_hex(&kept.repository);
        let (mut changes, mut is_done, mut is_undone) = (Vec::new(), true, true);
        for (position, path) in kept.paths.iter().enumerate() {
            let place = path_of_hex(&path.path);
            if !is_allowed(&top.join(&place)) {
                let reason = "the folder is outside the configured roots now".to_owned();
                return Err(FolderError::NotRevertible { path: kept.path, reason }.into());
            }
            let now = content_at(&top, &place)?;
            is_done &= KeptContent::of(&now) == path.after;
            is_undone &= KeptContent::of(&now) == path.before;
            changes.push((place, self.content(number, position, &path.before)?, now));
        }
        // It may be undone already, if the server was killed before it could forget the copy.
        if !is_undone {
            if !is_done {
                return Err(FolderError::ChangedSince(kept.path).into());
            }
            // In the other direction: a rename removes the old path last.
            let changes: Vec<(&Path, &Content, &Content)> =
                changes.iter().rev().map(|(path, then, now)| (path.as_path(), then, now)).collect();
            put(&top, &changes)?;
        }
        self.forget(&kept);
        Ok(kept)
    }

    fn content(&self, number: u64, position: usize, kept: &KeptContent) -> Result<Content, ReviewError> {
        match kept {
            KeptContent::Missing => Ok(Content::Missing),
            KeptContent::Link { target } => Ok(Content::Link(path_of_hex(target))),
            KeptContent::File { hash, mode } => {
                let path = self.copy(number, position);
                let failed = |source| ReviewError::Unkept { path: path.clone(), source };
                let bytes = std::fs::read(&path).map_err(failed)?;
                if hex(&Sha256::digest(&bytes)) != *hash {
                    return Err(failed(std::io::Error::other("it is damaged")));
                }
                Ok(Content::File { bytes, mode: *mode })
            }
        }
    }

    /// Deletes the oldest copies beyond the limits.
    fn keep_few(&self) {
        let mut bytes = 0;
        for (position, kept) in self.list().iter().enumerate() {
            bytes += self.bytes(kept);
            if position >= MOST_REVERTS || (position > 0 && bytes > MOST_BYTES) {
                self.forget(kept);
            }
        }
    }

    fn bytes(&self, kept: &KeptRevert) -> u64 {
        let size = |position| std::fs::metadata(self.copy(kept.number, position)).map_or(0, |file| file.len());
        (0..kept.paths.len()).map(size).sum()
    }

    /// The record first: copies that nothing names do no harm.
    fn forget(&self, kept: &KeptRevert) {
        let _ = std::fs::remove_file(self.record(kept.number));
        for position in 0..kept.paths.len() {
            let _ = std::fs::remove_file(self.copy(kept.number, position));
        }
    }

    fn record(&self, number: u64) -> PathBuf {
        self.folder.join(format!("{number}.json"))
    }

    fn copy(&self, number: u64, position: usize) -> PathBuf {
        self.folder.join(format!("{number}-{position}.copy"))
    }
}

fn path_hex(path: &Path) -> String {
    hex(path.as_os_str().as_encoded_bytes())
}

#[cfg(unix)]
fn path_of_hex(digits: &str) -> PathBuf {
    let name: std::ffi::OsString = std::os::unix::ffi::OsStringExt::from_vec(bytes_of_hex(digits));
    PathBuf::from(name)
}

#[cfg(not(unix))]
fn path_of_hex(digits: &str) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(&bytes_of_hex(digits)).into_owned())
}

fn bytes_of_hex(digits: &str) -> Vec<u8> {
    let pairs = digits.as_bytes().chunks_exact(2);
    pairs.filter_map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn file(text: &str) -> Content {
        Content::File { bytes: text.as_bytes().to_vec(), mode: 0o644 }
    }

    fn change(path: &str, now: Content, then: Content) -> RevertedPath {
        RevertedPath { path: PathBuf::from(path), now, then }
    }

    struct Place {
        _root: tempfile::TempDir,
        top: PathBuf,
        kept: KeptReverts,
    }

    impl Place {
        fn new() -> Self {
            let root = tempfile::tempdir().expect("a folder");
            let top = root.path().join("top");
            std::fs::create_dir(&top).expect("made");
            let kept = KeptReverts::in_folder(root.path().join("kept"));
            Self { _root: root, top, kept }
        }

        fn revert(&self, paths: &[RevertedPath]) -> KeptRevert {
            let at = Timestamp::from_millis(1);
            let new = NewRevert { path: "shown", hunk: None, at, repository: &self.top, paths };
            self.kept.revert(&new).expect("reverted")
        }

        fn undo(&self, number: u64) -> Result<KeptRevert, ReviewError> {
            self.kept.undo(number, |_| true)
        }

        fn text(&self, path: &str) -> Option<String> {
            std::fs::read_to_string(self.top.join(path)).ok()
        }
    }

    #[test]
    fn what_was_replaced_comes_back_unless_it_changed_since() {
        let place = Place::new();
        std::fs::write(place.top.join("a"), "new").expect("written");
        let first = place.revert(&[change("a", file("new"), file("old"))]);
        assert_eq!((place.text("a").as_deref(), place.kept.list().len()), (Some("old"), 1));
        std::fs::write(place.top.join("a"), "somebody's").expect("written");
        assert!(matches!(place.undo(first.number), Err(ReviewError::Folder(FolderError::ChangedSince(_)))));
        assert_eq!(place.text("a").as_deref(), Some("somebody's"));
        std::fs::write(place.top.join("a"), "old").expect("written");
        assert!(place.kept.undo(first.number, |_| false).is_err(), "not allowed any more");
        place.undo(first.number).expect("undone");
        assert_eq!((place.text("a").as_deref(), place.kept.list().len()), (Some("new"), 0));
        assert!(matches!(place.undo(first.number), Err(ReviewError::NotKept(_))));
        assert_eq!(std::fs::read_dir(place.kept.folder).expect("there").count(), 0, "no copy is left");
    }

    #[test]
    fn a_rename_is_reverted_and_undone_with_both_of_its_paths() {
        let place = Place::new();
        std::fs::write(place.top.join("new"), "text").expect("written");
        let paths =
            [change("folder/old", Content::Missing, file("text")), change("new", file("text"), Content::Missing)];
        let reverted = place.revert(&paths);
        assert_eq!((place.text("folder/old").as_deref(), place.text("new")), (Some("text"), None));
        place.undo(reverted.number).expect("undone");
        assert_eq!((place.text("folder/old"), place.text("new").as_deref()), (None, Some("text")));
    }

    #[test]
    fn a_damaged_copy_is_not_put_back_and_old_ones_are_dropped() {
        let place = Place::new();
        std::fs::write(place.top.join("a"), "new").expect("written");
        let reverted = place.revert(&[change("a", file("new"), file("old"))]);
        std::fs::write(place.kept.copy(reverted.number, 0), "damaged").expect("written");
        assert!(matches!(place.undo(reverted.number), Err(ReviewError::Unkept { .. })));
        for _ in 0..MOST_REVERTS {
            place.revert(&[change("a", file("old"), file("old"))]);
        }
        let left = place.kept.list();
        assert_eq!((left.len(), left[0].number, left[MOST_REVERTS - 1].number), (MOST_REVERTS, 101, 2));
    }

    #[test]
    fn a_revert_that_fails_halfway_changes_nothing_and_keeps_nothing() {
        let place = Place::new();
        std::fs::write(place.top.join("a"), "new").expect("written");
        let paths = [change("a", file("new"), file("old")), change(".git/config", Content::Missing, file("x"))];
        let at = Timestamp::from_millis(1);
        let new = NewRevert { path: "a", hunk: None, at, repository: &place.top, paths: &paths };
        assert!(place.kept.revert(&new).is_err());
        assert_eq!((place.text("a").as_deref(), place.kept.list().len()), (Some("new"), 0));
    }
}
