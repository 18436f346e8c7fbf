//! The files of a folder by name: those that git knows or would add, or else what a short walk finds.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::FolderError;
use super::file_match::Query;
use super::git::Git;

/// At most this many files are known of a folder.
const MOST_FILES: usize = 100_000;
/// The most output of git that is read.
const MOST_BYTES: usize = 8 * 1024 * 1024;
/// A walk ends after this many entries, this deep, or after this time.
const MOST_ENTRIES: usize = 50_000;
const DEEPEST: usize = 16;
const LONGEST_WALK: Duration = Duration::from_secs(2);
/// Folders that hold what programs made, not people.
const SKIPPED: [&str; 6] = [".git", ".hg", ".svn", "node_modules", "target", "__pycache__"];

/// The files of a folder as they were at one moment.
#[derive(Debug)]
pub struct FileIndex {
    folder: PathBuf,
    /// Relative to the folder.
    paths: Vec<Box<str>>,
    truncated: bool,
}

impl FileIndex {
    /// Reads the names of all files. `folder` has its symbolic links resolved.
    pub async fn of(folder: &Path) -> Result<Self, FolderError> {
        match Git::of(folder).await {
            Ok(git) => Self::of_repository(&git, folder).await,
            Err(FolderError::NoRepository(_) | FolderError::NoGit | FolderError::GitRefused { .. }) => {
                let walked = folder.to_owned();
                let unreadable = || FolderError::Unreadable {
                    path: folder.to_owned(),
                    source: std::io::Error::other("reading it was interrupted"),
                };
                tokio::task::spawn_blocking(move || Self::walk(walked)).await.map_err(|_| unreadable())?
            }
            Err(error) => Err(error),
        }
    }

    /// What git tracks, and what it would add: nothing that is ignored.
    async fn of_repository(git: &Git, folder: &Path) -> Result<Self, FolderError> {
        let arguments = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
        let answer = git.run(&arguments, &[folder], MOST_BYTES).await?;
        let below = folder.strip_prefix(&git.top).unwrap_or(Path::new("")).to_string_lossy().replace('\\', "/");
        let prefix = if below.is_empty() { String::new() } else { format!("{below}/") };
        let mut output = answer.output.as_slice();
        if !answer.complete {
            // The last name is cut off.
            output = &output[..output.iter().rposition(|byte| *byte == 0).unwrap_or(0)];
        }
        let names = output.split(|byte| *byte == 0).filter_map(|name| std::str::from_utf8(name).ok());
        let own = names.filter_map(|name| name.strip_prefix(&prefix));
        // A nested repository is listed as a folder.
        let mut paths: Vec<Box<str>> = own.filter(|name| is_usable(name)).map(Into::into).collect();
        paths.sort_unstable();
        // A file with conflicts is listed once for each side.
        paths.dedup();
        let truncated = !answer.complete || paths.len() > MOST_FILES;
        paths.truncate(MOST_FILES);
        Ok(Self { folder: folder.to_owned(), paths, truncated })
    }

    /// Folders near the top come first, so that a large tree is cut off far from it. Links are not followed.
    fn walk(folder: PathBuf) -> Result<Self, FolderError> {
        let began = Instant::now();
        let unreadable = |source| FolderError::Unreadable { path: folder.clone(), source };
        let first = std::fs::read_dir(&folder).map_err(unreadable)?;
        let mut left = VecDeque::from([(String::new(), 0, first)]);
        let (mut paths, mut entries, mut truncated) = (Vec::new(), 0, false);
        'walk: while let Some((prefix, depth, listing)) = left.pop_front() {
            // An entry that disappears meanwhile is skipped.
            for entry in listing.flatten() {
                entries += 1;
                if entries > MOST_ENTRIES || (entries % 256 == 0 && began.elapsed() > LONGEST_WALK) {
                    truncated = true;
                    break 'walk;
                }
                let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else { continue };
                if kind.is_file() && is_usable(&name) {
                    paths.push(format!("{prefix}{name}").into_boxed_str());
                } else if kind.is_dir() && !SKIPPED.contains(&name.as_str()) {
                    if depth >= DEEPEST {
                        truncated = true;
                    } else if let Ok(listing) = std::fs::read_dir(entry.path()) {
                        left.push_back((format!("{prefix}{name}/"), depth + 1, listing));
                    }
                }
            }
        }
        paths.sort_unstable();
        Ok(Self { folder, paths, truncated })
    }

    /// Whether the folder has more files than are known here.
    pub fn is_truncated(&self) -> bool {
        self.truncated
    }

    /// The files that match best and are still there. Blocks.
    pub fn find(&self, text: &str, limit: usize) -> Vec<String> {
        let query = Query::new(text);
        let mut found: Vec<_> = self.paths.iter().filter_map(|path| Some((query.rank(path)?, path))).collect();
        found.sort_unstable();
        let exists = |path: &str| self.folder.join(path).symlink_metadata().is_ok();
        found.into_iter().map(|(_, path)| path.to_string()).filter(|path| exists(path)).take(limit).collect()
    }
}

/// Whether a path can be written into a prompt.
fn is_usable(path: &str) -> bool {
    !path.is_empty() && !path.ends_with('/') && !path.contains(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_with(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for file in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(path, "x").expect("written");
        }
        folder
    }

    fn git(folder: &Path, arguments: &[&str]) {
        let run = std::process::Command::new("git").args(arguments).current_dir(folder).output().expect("git runs");
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    }

    async fn index(folder: &Path) -> FileIndex {
        FileIndex::of(&folder.canonicalize().expect("resolved")).await.expect("read")
    }

    #[tokio::test]
    async fn a_folder_without_a_repository_is_walked() {
        let folder = folder_with(&["a.txt", "src/lib.rs", "node_modules/x/index.js", "src/.hidden", "line\nbreak"]);
        #[cfg(unix)]
        std::os::unix::fs::symlink("/etc", folder.path().join("link")).expect("linked");
        let index = index(folder.path()).await;
        assert_eq!(index.find("", 10), ["a.txt", "src/.hidden", "src/lib.rs"]);
        assert!(!index.is_truncated());
    }

    #[tokio::test]
    async fn of_a_repository_tracked_and_new_files_are_found_and_ignored_ones_are_not() {
        let folder = folder_with(&["a.txt", "deep/b.txt", "deep/gone.txt", "deep/new.txt", "deep/out.log"]);
        git(folder.path(), &["init", "--quiet"]);
        std::fs::write(folder.path().join(".gitignore"), "*.log\n").expect("written");
        git(folder.path(), &["add", "a.txt", "deep/b.txt", "deep/gone.txt"]);
        std::fs::remove_file(folder.path().join("deep/gone.txt")).expect("removed");
        let all = index(folder.path()).await;
        assert_eq!(all.find("txt", 10), ["a.txt", "deep/b.txt", "deep/new.txt"]);
        assert!(all.find("log", 10).is_empty());
        let below = index(&folder.path().join("deep")).await;
        assert_eq!(below.find("", 10), ["b.txt", "new.txt"], "paths are relative to the session's folder");
    }

    #[tokio::test]
    async fn a_missing_folder_is_an_error() {
        let folder = folder_with(&[]);
        let gone = folder.path().join("gone");
        assert!(FileIndex::of(&gone).await.is_err());
    }
}
