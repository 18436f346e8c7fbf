//! Reverting a change: what a file, or one hunk of it, was before. Nothing is written here.

use std::ffi::OsString;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::FolderError;
use super::change_list::ChangeKind;
use super::comparison::Comparison;
use super::git::{Call, Git, bytes_of_path, path_of_bytes};
use super::raw_diff::{TreeChange, TreeEntry};
use super::snapshot_store::SnapshotStore;
use super::worktree::{self, Content};

/// A larger file is not reverted, because no copy of it is kept.
pub const LARGEST_REVERT: u64 = 16 * 1024 * 1024;
/// The longest diff that a hunk is taken from; as much as is shown.
const DIFF_BYTES: usize = 2 * 1024 * 1024;

/// One path of a revert: what is there, and what was there before the change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevertedPath {
    /// Below the top of the repository.
    pub path: PathBuf,
    /// What is there now, and is kept.
    pub now: Content,
    /// What is put there.
    pub then: Content,
}

impl Comparison {
    /// Why the change of a file cannot be reverted, if that is so.
    pub async fn reason_against_revert(
        &self,
        folder: &Path,
        store: &SnapshotStore,
        file: &TreeChange,
    ) -> Result<Option<String>, FolderError> {
        if let Some(reason) = self.plain_reason_against_revert(file) {
            return Ok(Some(reason.to_owned()));
        }
        if file.before.is_missing() || file.before.is_link() {
            return Ok(None);
        }
        let git = store.git(Git::of(folder).await?, None).await?;
        filter_reason(&git, file.change.old_path.as_ref().unwrap_or(&file.change.path)).await
    }

    /// The same, as far as the comparison tells.
    fn plain_reason_against_revert(&self, file: &TreeChange) -> Option<&'static str> {
        if file.before.is_repository() || file.after.is_repository() || bytes_of_path(&file.change.path).ends_with(b"/")
        {
            Some("it is another repository; use git there")
        } else if self.is_large(file) {
            Some("it is too large to keep a copy, or not readable")
        } else {
            None
        }
    }

    /// What reverting a file, or one hunk of it, puts in its place. Fails if what is there now is not what was compared.
    pub async fn reverted(
        &self,
        folder: &Path,
        roots: &[PathBuf],
        store: &SnapshotStore,
        path: &str,
        hunk: Option<usize>,
    ) -> Result<Vec<RevertedPath>, FolderError> {
        let file = self.file(path)?;
        let refused = |reason: &str| FolderError::NotRevertible { path: path.to_owned(), reason: reason.to_owned() };
        if let Some(reason) = self.plain_reason_against_revert(file) {
            return Err(refused(reason));
        }
        let (new_path, old_path) = (&file.change.path, file.change.old_path.as_ref());
        let mut paths = vec![new_path.clone()];
        paths.extend(old_path.cloned());
        let before = read_all(&self.repository, &paths).await?;
        // Compared again between two looks at the files: what the second one finds is what was compared.
        let since = super::Since::Snapshot(self.base());
        let now = super::compare(folder, roots, store, &since, &super::Until::Now).await?;
        if now.file(path).map(TreeChange::state).ok() != Some(file.state()) {
            return Err(FolderError::ChangedSince(path.to_owned()));
        }
        let after = read_all(&self.repository, &paths).await?;
        if before != after {
            return Err(FolderError::ChangedSince(path.to_owned()));
        }
        let git = store.git(Git::of(folder).await?, None).await?;
        let mut contents = after.into_iter();
        let at_new = contents.next().unwrap_or(Content::Missing);
        let reverted = |path: &PathBuf, now: Content, then: Content| RevertedPath { path: path.clone(), now, then };
        if let Some(hunk) = hunk {
            let then = self.without_hunk(&git, file, &at_new, hunk).await?;
            return Ok(vec![reverted(new_path, at_new, then)]);
        }
        if let Some(old_path) = old_path.filter(|_| file.change.kind == ChangeKind::Renamed) {
            let at_old = contents.next().unwrap_or(Content::Missing);
            if at_old != Content::Missing {
                return Err(refused("there is a file at its old path"));
            }
            let then = content(&git, &file.before, old_path, &at_new).await?;
            return Ok(vec![reverted(old_path, at_old, then), reverted(new_path, at_new, Content::Missing)]);
        }
        let then = content(&git, &file.before, new_path, &at_new).await?;
        Ok(vec![reverted(new_path, at_new, then)])
    }

    /// The file without what one hunk changed. Lines are counted in the diff and taken from the files themselves, so that
    /// line endings stay as they are.
    async fn without_hunk(
        &self,
        git: &Git,
        file: &TreeChange,
        now: &Content,
        hunk: usize,
    ) -> Result<Content, FolderError> {
        let path = file.change.shown_path();
        let refused = |reason: &str| FolderError::NotRevertible { path: path.clone(), reason: reason.to_owned() };
        let Content::File { bytes, mode } = now else { return Err(refused("only hunks of files can be reverted")) };
        if file.before.is_missing() || file.before.is_link() {
            return Err(refused("a new file has no hunks to revert; revert the file"));
        }
        let old_path = file.change.old_path.as_ref().unwrap_or(&file.change.path);
        let Content::File { bytes: old, .. } = content(git, &file.before, old_path, now).await? else {
            return Err(refused("only hunks of files can be reverted"));
        };
        let diff = self.unified(git, Some(file), &[], DIFF_BYTES).await?;
        let ranges = hunk_ranges(&diff.output);
        let Some((old_lines, new_lines)) = ranges.get(hunk) else {
            return Err(refused("there is no such hunk"));
        };
        let (old, new) = (lines(&old), lines(bytes));
        let (Some(then), Some(head), Some(tail)) =
            (old.get(old_lines.clone()), new.get(..new_lines.start), new.get(new_lines.end..))
        else {
            return Err(refused("its lines are not those of the diff"));
        };
        Ok(Content::File { bytes: [head, then, tail].concat().concat(), mode: *mode })
    }
}

async fn read_all(top: &Path, paths: &[PathBuf]) -> Result<Vec<Content>, FolderError> {
    let (top, paths) = (top.to_owned(), paths.to_vec());
    let read = move || {
        let one =
            |path: &PathBuf| worktree::read(&top, path, LARGEST_REVERT).map_err(|source| refusal(&top, path, source));
        paths.iter().map(one).collect()
    };
    tokio::task::spawn_blocking(read).await.unwrap_or_else(|_| Err(FolderError::NotChanged(String::new())))
}

/// Puts contents at their paths, and takes back what is done if one fails. Blocks.
pub fn put(top: &Path, contents: &[(&Path, &Content, &Content)]) -> Result<(), FolderError> {
    for (position, (path, content, _)) in contents.iter().enumerate() {
        if let Err(source) = worktree::write(top, path, content) {
            for (path, _, before) in contents[..position].iter().rev() {
                let _ = worktree::write(top, path, before);
            }
            return Err(refusal(top, path, source));
        }
    }
    Ok(())
}

/// What is at a path below the top of a repository. Blocks.
pub fn content_at(top: &Path, path: &Path) -> Result<Content, FolderError> {
    worktree::read(top, path, LARGEST_REVERT).map_err(|source| refusal(top, path, source))
}

/// What an error of the file system means for a revert.
fn refusal(top: &Path, path: &Path, source: io::Error) -> FolderError {
    let reason = match source.kind() {
        io::ErrorKind::InvalidInput | io::ErrorKind::IsADirectory => "something else is in its place",
        io::ErrorKind::NotADirectory => "something else is in the place of its folder",
        io::ErrorKind::FileTooLarge => "it is too large to keep a copy",
        _ => return FolderError::Unwritable { path: top.join(path), source },
    };
    FolderError::NotRevertible { path: path.to_string_lossy().into_owned(), reason: reason.to_owned() }
}

/// An object as the file it was: with the line endings and the permissions of `like`.
async fn content(git: &Git, entry: &TreeEntry, path: &Path, like: &Content) -> Result<Content, FolderError> {
    if entry.is_missing() {
        return Ok(Content::Missing);
    }
    let limit = usize::try_from(LARGEST_REVERT).unwrap_or(usize::MAX);
    let too_large = || FolderError::NotRevertible {
        path: path.to_string_lossy().into_owned(),
        reason: "it was too large to keep a copy".to_owned(),
    };
    if entry.is_link() {
        let call = Call { byte_limit: limit, ..Call::new(["cat-file", "blob", entry.id.as_str()]) };
        return Ok(Content::Link(path_of_bytes(&git.call(call).await?.output)));
    }
    if let Some(reason) = filter_reason(git, path).await? {
        return Err(FolderError::NotRevertible { path: path.to_string_lossy().into_owned(), reason });
    }
    let mut named = OsString::from("--path=");
    named.push(path);
    let call = Call::new(["cat-file", "--filters"]).with(named).with(entry.id.as_str());
    let answer = git.call(Call { byte_limit: limit, ..call }).await?;
    if !answer.complete {
        return Err(too_large());
    }
    let mut bytes = answer.output;
    if has_only_lf(like) && has_crlf(&bytes) {
        // git would write CRLF, because it is so configured, and the file that is there has none.
        let call = Call { byte_limit: limit, ..Call::new(["cat-file", "blob", entry.id.as_str()]) };
        let stored = git.call(call).await?;
        if stored.complete && stored.output == with_lf(&bytes) {
            bytes = stored.output;
        }
    }
    Ok(Content::File { bytes, mode: permissions(like, entry.is_executable()) })
}

fn has_only_lf(content: &Content) -> bool {
    matches!(content, Content::File { bytes, .. } if bytes.contains(&b'\n') && !has_crlf(bytes))
}

fn has_crlf(bytes: &[u8]) -> bool {
    bytes.windows(2).any(|pair| pair == b"\r\n")
}

fn with_lf(bytes: &[u8]) -> Vec<u8> {
    let ends_line = |position: usize| bytes.get(position + 1) == Some(&b'\n');
    let kept = bytes.iter().enumerate().filter(|(position, byte)| **byte != b'\r' || !ends_line(*position));
    kept.map(|(_, byte)| *byte).collect()
}

/// Why a file cannot be written as git has it: a filter turns that into what is in the file, and none is run here.
async fn filter_reason(git: &Git, path: &Path) -> Result<Option<String>, FolderError> {
    let answer = git.run(&["check-attr", "-z", "filter"], &[path], 64 * 1024).await?;
    let filter = answer.output.split(|byte| *byte == 0).nth(2).unwrap_or_default();
    if !git.has_filter(filter) {
        return Ok(None);
    }
    Ok(Some(format!(
        "git stores it through the filter {:?}, which Flightdeck does not run; use git restore",
        String::from_utf8_lossy(filter)
    )))
}

/// The permissions of a file that is written: those it has, apart from whether it is a program.
fn permissions(like: &Content, executable: bool) -> u32 {
    let mode = if let Content::File { mode, .. } = like { *mode } else { 0o644 };
    // Whoever may read a program may run it.
    if executable { mode | (mode & 0o444) >> 2 } else { mode & !0o111 }
}

/// Lines with their ends.
fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}

/// For each hunk of a diff of one file, its lines in the old and in the new file, counted from 0.
fn hunk_ranges(diff: &[u8]) -> Vec<(Range<usize>, Range<usize>)> {
    let mut ranges = Vec::new();
    let (mut old_left, mut new_left) = (0, 0);
    for line in diff.split(|byte| *byte == b'\n') {
        // A line of a hunk may look like the beginning of another one.
        if old_left > 0 || new_left > 0 {
            match line.first() {
                Some(b'+') => new_left = usize::saturating_sub(new_left, 1),
                Some(b'-') => old_left = usize::saturating_sub(old_left, 1),
                Some(b'\\') => {}
                _ => (old_left, new_left) = (old_left.saturating_sub(1), new_left.saturating_sub(1)),
            }
            continue;
        }
        if let Some((old, new)) = hunk_header(line) {
            (old_left, new_left) = (old.len(), new.len());
            ranges.push((old, new));
        }
    }
    ranges
}

/// `@@ -1,3 +1,4 @@`. A range without lines is named by the line before it.
fn hunk_header(line: &[u8]) -> Option<(Range<usize>, Range<usize>)> {
    let text = String::from_utf8_lossy(line);
    let (ranges, _) = text.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let range = |text: &str| {
        let (start, count) = text.split_once(',').unwrap_or((text, "1"));
        let (start, count) = (start.parse::<usize>().ok()?, count.parse::<usize>().ok()?);
        let start = if count == 0 { start } else { start.checked_sub(1)? };
        Some(start..start.checked_add(count)?)
    };
    Some((range(old)?, range(new)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_are_counted_by_their_own_lines() {
        let diff =
            b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@ fn\n a\n-@@ -9 +9 @@\n+b\n+c\n@@ -7,0 +9 @@\n+d\n\
            \\ No newline at end of file\n@@ -9 +11,0 @@\n-e\n";
        assert_eq!(hunk_ranges(diff), [(0..2, 0..3), (7..7, 8..9), (8..9, 11..11)]);
        assert_eq!(hunk_ranges(b"@@ -0,5 +1 @@\n@@ nonsense\n"), []);
    }

    #[test]
    fn a_file_keeps_its_permissions_apart_from_being_a_program() {
        let file = |mode| Content::File { bytes: Vec::new(), mode };
        assert_eq!(permissions(&file(0o640), true), 0o750);
        assert_eq!(permissions(&file(0o755), false), 0o644);
        assert_eq!((permissions(&Content::Missing, false), permissions(&Content::Missing, true)), (0o644, 0o755));
    }
}
