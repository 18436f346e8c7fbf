//! What differs between two moments of a folder: the list of files, the diff of one, and all of it as a patch.

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::FolderError;
use super::change_list::ChangeKind;
use super::changes::FileDiff;
use super::git::{Call, Git, bytes_of_path};
use super::raw_diff::{TreeChange, parse_raw};
use super::snapshot::{Snapshot, take};
use super::snapshot_store::SnapshotStore;
use crate::model::hex;
use crate::process::Captured;

/// At most this many files are listed.
const MOST_CHANGES: usize = 2_000;
/// The most output of git that is read for the list.
const LIST_BYTES: usize = 8 * 1024 * 1024;
/// The most that is read of one file.
const DIFF_BYTES: usize = 2 * 1024 * 1024;
/// The longest target of a symbolic link.
const LINK_BYTES: usize = 16 * 1024;

/// Fixes the output whatever the settings of the repository say, and runs no program that they name.
const DIFF_FLAGS: [&str; 7] = [
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-relative",
    "--find-renames",
    // Comparing every new file with every deleted one takes long when there are many.
    "-l400",
    "--submodule=short",
];

/// Since when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Since {
    /// The last commit.
    LastCommit,
    /// A moment of which there is a snapshot.
    Snapshot(Snapshot),
}

/// Until when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Until {
    /// Now.
    Now,
    /// A moment of which there is a snapshot.
    Snapshot(Snapshot),
}

/// What differs between two moments.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The top of the repository.
    pub repository: PathBuf,
    /// The current branch, if there is one.
    pub branch: Option<String>,
    /// Sorted by path.
    pub files: Vec<TreeChange>,
    /// Whether there are more.
    pub truncated: bool,
    before: String,
    after: String,
    /// The objects that stand in for large files.
    large: Vec<String>,
    only_below: Option<PathBuf>,
}

/// Compares two moments of the repository of a folder. `folder` has its symbolic links resolved.
pub async fn compare(
    folder: &Path,
    roots: &[PathBuf],
    store: &SnapshotStore,
    since: &Since,
    until: &Until,
) -> Result<Comparison, FolderError> {
    // Also for two earlier moments: what is known of the repository now decides what may be shown.
    let now = take(folder, roots, store).await?;
    let git = store.git(Git::of(folder).await?, None).await?;
    let (before, large_before) = match since {
        Since::LastCommit => (now.head.clone(), Vec::new()),
        Since::Snapshot(snapshot) => (snapshot.tree.clone(), snapshot.large.clone()),
    };
    let (after, large_after) = match until {
        Until::Now => (now.snapshot.tree.clone(), now.snapshot.large.clone()),
        Until::Snapshot(snapshot) => (snapshot.tree.clone(), snapshot.large.clone()),
    };
    let mut comparison = Comparison {
        repository: git.top.clone(),
        branch: now.branch,
        files: Vec::new(),
        truncated: false,
        before,
        after,
        large: [large_before, large_after].concat(),
        only_below: now.only_below,
    };
    let answer = comparison.diff_tree(&git, &["-r", "-z", "--raw", "--numstat"], None, LIST_BYTES).await?;
    if !answer.complete {
        return Err(FolderError::TooMuch("too many files differ to list them".to_owned()));
    }
    let mut files = parse_raw(&answer.output);
    if *since == Since::LastCommit {
        for file in files.iter_mut().filter(|file| file.change.kind == ChangeKind::Added) {
            let is_nested = file.after.is_repository();
            let mut listed = bytes_of_path(&file.change.path);
            listed.extend(is_nested.then_some(b'/'));
            let listed = super::git::path_of_bytes(&listed);
            if now.untracked.contains(&listed) {
                (file.change.kind, file.change.path) = (ChangeKind::Untracked, listed);
            }
        }
        // One without a commit has no place in a tree.
        let known = |path: &PathBuf| files.iter().any(|file| file.change.path == *path);
        let missing: Vec<PathBuf> = now.nested.into_iter().filter(|path| !known(path)).collect();
        files.extend(missing.into_iter().map(nested));
    }
    files.sort_by(|one, two| one.change.path.cmp(&two.change.path));
    comparison.truncated = files.len() > MOST_CHANGES;
    files.truncate(MOST_CHANGES);
    comparison.files = files;
    Ok(comparison)
}

/// A repository without a commit inside the repository.
fn nested(path: PathBuf) -> TreeChange {
    let change = super::Change { path, old_path: None, kind: ChangeKind::Untracked, added: None, removed: None };
    TreeChange { change, before: super::TreeEntry::default(), after: super::TreeEntry::default() }
}

impl Comparison {
    /// The file with this path, as the list shows it.
    pub fn file(&self, path: &str) -> Result<&TreeChange, FolderError> {
        let listed = self.files.iter().find(|file| file.change.shown_path() == path);
        listed.ok_or_else(|| FolderError::NotChanged(path.to_owned()))
    }

    /// The earlier of the two moments.
    pub(super) fn base(&self) -> Snapshot {
        let repository = self.repository.to_string_lossy().into_owned();
        Snapshot { tree: self.before.clone(), repository, large: self.large.clone() }
    }

    /// Whether it contains only a note of what is in a file.
    pub(super) fn is_large(&self, file: &TreeChange) -> bool {
        self.large.contains(&file.before.id) || self.large.contains(&file.after.id)
    }

    /// The diff of one of its files.
    pub async fn diff(&self, folder: &Path, store: &SnapshotStore, file: &TreeChange) -> Result<FileDiff, FolderError> {
        if bytes_of_path(&file.change.path).ends_with(b"/") {
            return Ok(FileDiff::Unshown("A nested repository; its changes are not shown here.".to_owned()));
        }
        if self.is_large(file) {
            return Ok(FileDiff::Unshown("Too large to compare, or not readable.".to_owned()));
        }
        let git = store.git(Git::of(folder).await?, None).await?;
        if file.before.is_missing() && file.after.is_link() {
            let call = Call { byte_limit: LINK_BYTES, ..Call::new(["cat-file", "blob", file.after.id.as_str()]) };
            let target = git.call(call).await?.output;
            let target = String::from_utf8_lossy(&target).into_owned();
            return Ok(FileDiff::Unshown(format!("A symbolic link to {target}.")));
        }
        let answer = self.unified(&git, Some(file), &[], DIFF_BYTES).await?;
        let text = String::from_utf8_lossy(&answer.output).into_owned();
        let is_binary = text.lines().any(|line| line.starts_with("Binary files "));
        if file.before.is_missing() && is_binary && !text.contains("\n@@ ") {
            return Ok(FileDiff::Unshown("A new binary file.".to_owned()));
        }
        Ok(FileDiff::Unified { text, complete: answer.complete })
    }

    /// The unified diff of one file, or of all.
    pub(super) async fn unified(
        &self,
        git: &Git,
        file: Option<&TreeChange>,
        flags: &[&str],
        byte_limit: usize,
    ) -> Result<Captured, FolderError> {
        let flags = [&["-r", "-p", "--unified=3", "--src-prefix=a/", "--dst-prefix=b/"], flags].concat();
        let mut answer = self.diff_tree(git, &flags, file, byte_limit).await?;
        if let Some(file) = file.filter(|file| self.has_more_below(file)) {
            // git takes a path for everything below it, too.
            let listed = self.diff_tree(git, &["-r", "-z", "--raw"], Some(file), LIST_BYTES).await?;
            answer.output = only_part(&parse_raw(&listed.output), file, &answer.output);
        }
        Ok(answer)
    }

    /// Whether there are changed files below the path of a file: one of both is in the place of the other.
    fn has_more_below(&self, file: &TreeChange) -> bool {
        let paths = self.paths(Some(file));
        let is_below = |path: &Path| paths.iter().any(|above| path != *above && path.starts_with(above));
        let moved = |other: &TreeChange| other.change.old_path.as_deref().is_some_and(is_below);
        self.files.iter().any(|other| is_below(&other.change.path) || moved(other))
    }

    async fn diff_tree(
        &self,
        git: &Git,
        flags: &[&str],
        file: Option<&TreeChange>,
        byte_limit: usize,
    ) -> Result<Captured, FolderError> {
        let paths = self.paths(file);
        git.call(Call { byte_limit, paths: &paths, ..self.diff_call(flags) }).await
    }

    /// The comparison as a git command, without paths.
    pub(super) fn diff_call(&self, flags: &[&str]) -> Call<'static> {
        let words = ["diff-tree"].into_iter().chain(flags.iter().copied()).chain(DIFF_FLAGS);
        Call::new(words).with(self.before.as_str()).with(self.after.as_str())
    }

    pub(super) fn paths<'a>(&'a self, file: Option<&'a TreeChange>) -> Vec<&'a Path> {
        match file {
            Some(file) => {
                let paths = [Some(file.change.path.as_path()), file.change.old_path.as_deref()];
                paths.into_iter().flatten().collect()
            }
            None => self.only_below.as_deref().into_iter().collect(),
        }
    }
}

/// The part of a diff that belongs to one file. The parts are in the order of the list.
fn only_part(listed: &[TreeChange], file: &TreeChange, diff: &[u8]) -> Vec<u8> {
    let mut parts: Vec<Vec<u8>> = Vec::new();
    for line in diff.split_inclusive(|byte| *byte == b'\n') {
        match parts.last_mut() {
            Some(part) if !line.starts_with(b"diff --git ") => part.extend(line),
            _ => parts.push(line.to_vec()),
        }
    }
    // What becomes another kind of thing is removed and added.
    let count = |file: &TreeChange| {
        let kinds = [&file.before, &file.after].map(|entry| entry.mode.get(..3).unwrap_or_default());
        let is_there = !file.before.is_missing() && !file.after.is_missing();
        if is_there && kinds[0] != kinds[1] { 2 } else { 1 }
    };
    let position = listed.iter().position(|one| one.change.path == file.change.path).unwrap_or(0);
    let skipped: usize = listed[..position].iter().map(count).sum();
    parts.into_iter().skip(skipped).take(count(file)).flatten().collect()
}

impl TreeChange {
    /// A name for exactly this change: another one of the same file has another name.
    pub fn state(&self) -> String {
        let mut hash = Sha256::new();
        let old_path = self.change.old_path.as_deref().map(bytes_of_path).unwrap_or_default();
        let parts = [&self.before, &self.after].map(|entry| format!("{} {}", entry.mode, entry.id).into_bytes());
        for part in [bytes_of_path(&self.change.path), old_path].iter().chain(&parts) {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        hex(&hash.finalize()[..16])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_in_the_place_of_a_folder_has_its_own_part_of_the_diff() {
        let listed = parse_raw(
            b":100644 120000 aaa bbb T\0a\0:000000 100644 000 ccc A\0src\0:100644 000000 ddd 000 D\0src/main\0",
        );
        let diff = b"diff --git a/a b/a\n-one\ndiff --git a/a b/a\n+two\ndiff --git a/src b/src\n+file\n\
            diff --git a/src/main b/src/main\n-main\n";
        let part = |position: usize| String::from_utf8(only_part(&listed, &listed[position], diff)).expect("text");
        assert_eq!(part(0), "diff --git a/a b/a\n-one\ndiff --git a/a b/a\n+two\n");
        assert_eq!(part(1), "diff --git a/src b/src\n+file\n");
        assert_eq!(part(2), "diff --git a/src/main b/src/main\n-main\n");
    }
}
