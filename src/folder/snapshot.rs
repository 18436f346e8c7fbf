//! Snapshots: everything in a repository's folder that git does not ignore, as a tree in a store of our own.
//!
//! The index of the repository is only read: `git status` names the files that differ from the last commit, and only these
//! are read and written into the store. What large files contain is left out; a note of their size and time stands in
//! for it, so that a change is still noticed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use super::FolderError;
use super::change_list::ChangeKind;
use super::git::{Call, Git, bytes_of_path};
use super::snapshot_store::SnapshotStore;
use super::status::parse_status;

/// A snapshot is refused beyond these.
const MOST_FILES: usize = 10_000;
const MOST_BYTES: u64 = 256 * 1024 * 1024;
/// The content of a larger file is not kept.
const LARGE_FILE: u64 = 16 * 1024 * 1024;
const MOST_LARGE_FILES: usize = 100;
/// Repositories inside the repository whose commits are noted.
const MOST_NESTED: usize = 20;
const STATUS_BYTES: usize = 4 * 1024 * 1024;

/// A folder's content at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    /// The tree, in the snapshot store or the repository.
    pub tree: String,
    /// The top of the repository, as text.
    pub repository: String,
    /// The objects that stand in for large files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub large: Vec<String>,
}

/// A snapshot, and what else was seen when it was taken.
#[derive(Debug)]
pub(super) struct Taken {
    pub snapshot: Snapshot,
    pub branch: Option<String>,
    /// The tree of the last commit, or an empty one.
    pub head: String,
    /// What git does not know.
    pub untracked: BTreeSet<PathBuf>,
    /// Repositories inside the repository, as git lists them: with a slash at the end.
    pub nested: Vec<PathBuf>,
    /// Only what is below this folder may be shown.
    pub only_below: Option<PathBuf>,
}

/// Takes a snapshot of the repository of a folder. `folder` has its symbolic links resolved.
pub async fn snapshot(folder: &Path, roots: &[PathBuf], store: &SnapshotStore) -> Result<Snapshot, FolderError> {
    Ok(take(folder, roots, store).await?.snapshot)
}

pub(super) async fn take(folder: &Path, roots: &[PathBuf], store: &SnapshotStore) -> Result<Taken, FolderError> {
    let git = Git::of(folder).await?;
    let only_below = git.limit(folder, roots);
    let arguments = [
        "status",
        "--porcelain=v2",
        "-z",
        "--branch",
        "--untracked-files=all",
        "--no-renames",
        "--ignore-submodules=dirty",
    ];
    let limited: Vec<&Path> = only_below.as_deref().into_iter().collect();
    let answer = git.run(&arguments, &limited, STATUS_BYTES).await?;
    let status = parse_status(&answer.output, answer.complete);
    if !answer.complete || status.changes.len() > MOST_FILES {
        return Err(too_many_files());
    }
    let untracked = |kind| kind == ChangeKind::Untracked;
    let (nested, changed): (Vec<PathBuf>, Vec<PathBuf>) =
        status.changes.iter().map(|change| change.path.clone()).partition(|path| bytes_of_path(path).ends_with(b"/"));
    let untracked =
        status.changes.iter().filter(|change| untracked(change.kind)).map(|change| change.path.clone()).collect();
    let scratch = store.scratch()?;
    let top = git.top.clone();
    let git = store.git(git, Some(&scratch.path().join("index"))).await?;
    let sorted = {
        let top = top.clone();
        tokio::task::spawn_blocking(move || Sorted::of(&top, changed)).await
    };
    let sorted = sorted.map_err(|_| refused(&top, "reading its files was interrupted"))??;
    let head = if status.has_commit {
        git.call(Call::new(["read-tree", "HEAD"])).await?;
        git.line(Call::new(["rev-parse", "--verify", "HEAD^{tree}"])).await?
    } else {
        git.line(Call::new(["hash-object", "-w", "-t", "tree", "--stdin"])).await?
    };
    let large = fill_index(&git, &sorted, &nested).await?;
    // Parts of a partial clone may be missing, and none is fetched.
    let tree = git.line(Call::new(["write-tree", "--missing-ok"])).await?;
    let repository = top.to_string_lossy().into_owned();
    let snapshot = Snapshot { tree, repository, large };
    Ok(Taken { snapshot, branch: status.branch, head, untracked, nested, only_below })
}

/// Writes what differs from the last commit into the index. Returns the objects that stand in for large files.
async fn fill_index(git: &Git, sorted: &Sorted, nested: &[PathBuf]) -> Result<Vec<String>, FolderError> {
    if !sorted.gone.is_empty() {
        update(git, &["--force-remove", "--stdin"], &sorted.gone).await?;
    }
    let mut large = Vec::new();
    let mut entries = Vec::new();
    for (path, note) in &sorted.large {
        let id = git.line(Call { input: note.as_bytes(), ..Call::new(["hash-object", "-w", "--stdin"]) }).await?;
        entries.extend(format!("100644 {id}\t").into_bytes());
        entries.extend(bytes_of_path(path));
        entries.push(0);
        large.push(id);
    }
    if !entries.is_empty() {
        update(git, &["--add", "--replace", "--index-info"], &entries).await?;
    }
    if !sorted.there.is_empty() {
        update(git, &["--add", "--replace", "--remove", "--stdin"], &sorted.there).await?;
    }
    for folder in nested.iter().take(MOST_NESTED) {
        let mut input = bytes_of_path(folder);
        input.pop();
        input.push(0);
        // One without a commit has nothing to note.
        let _ = update(git, &["--add", "--replace", "--stdin"], &input).await;
    }
    Ok(large)
}

async fn update(git: &Git, flags: &[&str], input: &[u8]) -> Result<(), FolderError> {
    let arguments = ["update-index", "-z"].iter().chain(flags).copied();
    git.call(Call { input, ..Call::new(arguments) }).await?;
    Ok(())
}

/// Changed paths by what is to be done with them; lists for git end each path with a zero byte.
#[derive(Debug, Default)]
struct Sorted {
    there: Vec<u8>,
    gone: Vec<u8>,
    /// With the note that stands in for the content.
    large: Vec<(PathBuf, String)>,
}

impl Sorted {
    fn of(top: &Path, paths: Vec<PathBuf>) -> Result<Self, FolderError> {
        let (mut sorted, mut total) = (Self::default(), 0);
        for path in paths {
            let list = match Found::at(top, &path) {
                Found::Nothing => &mut sorted.gone,
                Found::Small(bytes) => {
                    total += bytes;
                    &mut sorted.there
                }
                Found::Large(note) => {
                    sorted.large.push((path, note));
                    continue;
                }
            };
            list.extend(bytes_of_path(&path));
            list.push(0);
        }
        if total > MOST_BYTES || sorted.large.len() > MOST_LARGE_FILES {
            return Err(FolderError::TooMuch(format!(
                "the files that differ from the last commit take more than {} MB; commit some of them or list them in .gitignore",
                MOST_BYTES / 1024 / 1024
            )));
        }
        Ok(sorted)
    }
}

/// What a snapshot keeps of a path.
enum Found {
    /// No file, or a pipe or the like.
    Nothing,
    /// All of it: that many bytes.
    Small(u64),
    /// This note.
    Large(String),
}

impl Found {
    fn at(top: &Path, path: &Path) -> Self {
        let whole = top.join(path);
        // What is behind a link is not in this folder.
        if has_link_above(top, path) {
            return Self::Nothing;
        }
        let Ok(metadata) = whole.symlink_metadata() else { return Self::Nothing };
        let kind = metadata.file_type();
        if kind.is_symlink() || kind.is_dir() {
            return Self::Small(0);
        }
        if !kind.is_file() {
            return Self::Nothing;
        }
        if metadata.len() > LARGE_FILE || super::new_file::open(&whole).is_err() {
            let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            // With a zero byte, so that nobody takes it for text.
            let note = format!("\0{} bytes, modified {:?}", metadata.len(), modified.unwrap_or_default());
            return Self::Large(note);
        }
        Self::Small(metadata.len())
    }
}

/// Whether one of the folders above a file, below the top, is a symbolic link.
pub(super) fn has_link_above(top: &Path, path: &Path) -> bool {
    let parents = path.ancestors().skip(1).filter(|parent| !parent.as_os_str().is_empty());
    parents.into_iter().any(|parent| top.join(parent).is_symlink())
}

fn too_many_files() -> FolderError {
    FolderError::TooMuch(format!(
        "more than {MOST_FILES} files differ from the last commit; commit some of them or list them in .gitignore"
    ))
}

fn refused(top: &Path, message: &str) -> FolderError {
    FolderError::GitRefused { path: top.to_owned(), message: message.to_owned() }
}

impl Git {
    /// The folder below which alone something may be read, if the repository's top is outside the roots.
    pub(super) fn limit(&self, folder: &Path, roots: &[PathBuf]) -> Option<PathBuf> {
        let is_inside = |root: &PathBuf| root.canonicalize().is_ok_and(|root| self.top.starts_with(root));
        let is_whole = roots.is_empty() || roots.iter().any(is_inside);
        (!is_whole).then(|| folder.to_owned())
    }
}
