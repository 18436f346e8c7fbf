//! What changed since the last commit: the list of files, and the diff of one file.

use std::path::{Path, PathBuf};

use super::FolderError;
use super::change_list::{Change, ChangeKind, ChangeList};
use super::git::Git;
use super::new_file::{self, NewFile};
use super::status::{Status, parse_numstat, parse_status};

/// At most this many files are listed.
const MOST_CHANGES: usize = 2_000;
/// The most output of git that is read for the list.
const STATUS_BYTES: usize = 4 * 1024 * 1024;
/// The most that is read of one file.
const DIFF_BYTES: usize = 2 * 1024 * 1024;
/// New files whose lines are counted, and how large they may be.
const COUNTED_FILES: usize = 200;
const COUNTED_BYTES: usize = 256 * 1024;

/// Compares only the commits of submodules; otherwise git would run another git in each.
const SUBMODULES: &str = "--ignore-submodules=dirty";

/// The change of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileDiff {
    /// A unified diff, perhaps cut off.
    Unified {
        /// As git writes it.
        text: String,
        /// Whether that is all.
        complete: bool,
    },
    /// A new file: all of its lines are added.
    New {
        /// Its beginning, or all of it.
        text: String,
        /// Whether that is all.
        complete: bool,
    },
    /// There are no lines to show, for this reason.
    Unshown(String),
}

/// What changed in the repository of a folder; only below the folder if the repository's top is outside the roots.
/// `folder` has its symbolic links resolved.
pub async fn changes(folder: &Path, roots: &[PathBuf]) -> Result<ChangeList, FolderError> {
    let git = Git::of(folder).await?;
    let (mut status, mut truncated) = status(&git, folder, roots).await?;
    if status.has_commit {
        count_lines(&git, &mut status.changes).await?;
    }
    status.changes.sort_by(|one, two| one.path.cmp(&two.path));
    truncated |= status.changes.len() > MOST_CHANGES;
    status.changes.truncate(MOST_CHANGES);
    let repository = git.top.clone();
    let changes = count_lines_of_new_files(repository.clone(), status.changes, status.has_commit).await;
    Ok(ChangeList { repository, branch: status.branch, changes, truncated })
}

/// The change of one of the files that [`changes`] lists, by its path there. Any other path is refused.
pub async fn file_diff(folder: &Path, roots: &[PathBuf], path: &str) -> Result<FileDiff, FolderError> {
    let git = Git::of(folder).await?;
    let (status, _) = status(&git, folder, roots).await?;
    let listed = status.changes.iter().find(|change| change.shown_path() == path);
    let change = listed.ok_or_else(|| FolderError::NotChanged(path.to_owned()))?;
    if path.ends_with('/') {
        return Ok(FileDiff::Unshown("A nested repository; its changes are not shown here.".to_owned()));
    }
    if change.kind == ChangeKind::Untracked || !status.has_commit {
        return new_file_diff(git.top.join(&change.path)).await;
    }
    let mut paths: Vec<&Path> = vec![&change.path];
    paths.extend(change.old_path.as_deref());
    let arguments = [&["diff"], DIFF_FLAGS.as_slice(), &["--src-prefix=a/", "--dst-prefix=b/", "HEAD"]].concat();
    let answer = git.run(&arguments, &paths, DIFF_BYTES).await?;
    if answer.output.is_empty() {
        // Removed again, or changed back, since it was listed.
        return Err(FolderError::NotChanged(path.to_owned()));
    }
    Ok(FileDiff::Unified { text: String::from_utf8_lossy(&answer.output).into_owned(), complete: answer.complete })
}

/// Runs no program that the repository names, and fixes the output format whatever its settings say.
const DIFF_FLAGS: [&str; 8] = [
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-relative",
    "--find-renames",
    "--submodule=short",
    SUBMODULES,
    "--unified=3",
];

async fn status(git: &Git, folder: &Path, roots: &[PathBuf]) -> Result<(Status, bool), FolderError> {
    let arguments =
        ["status", "--porcelain=v2", "-z", "--branch", "--untracked-files=all", "--find-renames", SUBMODULES];
    let limit = git.limit(folder, roots);
    let paths: Vec<&Path> = limit.as_deref().into_iter().collect();
    let answer = git.run(&arguments, &paths, STATUS_BYTES).await?;
    let status = parse_status(&answer.output, answer.complete);
    if !answer.complete && status.changes.is_empty() {
        let message = "a path is too long to show".to_owned();
        return Err(FolderError::GitRefused { path: git.top.clone(), message });
    }
    Ok((status, !answer.complete))
}

async fn count_lines(git: &Git, changes: &mut [Change]) -> Result<(), FolderError> {
    let arguments = [&["diff", "--numstat", "-z"], DIFF_FLAGS.as_slice(), &["HEAD"]].concat();
    let answer = git.run(&arguments, &[], STATUS_BYTES).await?;
    let counts = parse_numstat(&answer.output);
    for change in changes {
        if let Some((added, removed)) = counts.get(&change.path) {
            (change.added, change.removed) = (*added, *removed);
        }
    }
    Ok(())
}

async fn count_lines_of_new_files(top: PathBuf, changes: Vec<Change>, has_commit: bool) -> Vec<Change> {
    let counted = changes.clone();
    let count = move || {
        let mut changes = counted;
        let is_new = |change: &&mut Change| change.kind == ChangeKind::Untracked || !has_commit;
        for change in changes.iter_mut().filter(is_new).take(COUNTED_FILES) {
            if let Some(NewFile::Text { text, complete: true }) = new_file::read(&top.join(&change.path), COUNTED_BYTES)
            {
                (change.added, change.removed) = (Some(text.lines().count() as u64), Some(0));
            }
        }
        changes
    };
    tokio::task::spawn_blocking(count).await.unwrap_or(changes)
}

async fn new_file_diff(path: PathBuf) -> Result<FileDiff, FolderError> {
    let shown = path.to_string_lossy().into_owned();
    let read = tokio::task::spawn_blocking(move || new_file::read(&path, DIFF_BYTES)).await.ok().flatten();
    Ok(match read {
        Some(NewFile::Text { text, complete }) => FileDiff::New { text, complete },
        Some(NewFile::Link(target)) => FileDiff::Unshown(format!("A symbolic link to {target}.")),
        Some(NewFile::Binary) => FileDiff::Unshown("A new binary file.".to_owned()),
        None => return Err(FolderError::NotChanged(shown)),
    })
}
