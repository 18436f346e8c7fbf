//! Parses the output of `git status` and `git diff --numstat`.

use std::collections::HashMap;
use std::path::PathBuf;

use super::change_list::{Change, ChangeKind};
use super::git::path_of_bytes;
use super::raw_diff::parse_counts;

/// The output of `git status --porcelain=v2 -z --branch`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Status {
    pub branch: Option<String>,
    /// Whether there is a commit to compare with.
    pub has_commit: bool,
    pub changes: Vec<Change>,
}

/// Parses a status; an entry that was cut off at the end is left out.
pub(super) fn parse_status(output: &[u8], complete: bool) -> Status {
    let mut status = Status::default();
    let mut entries: Vec<&[u8]> = output.split(|byte| *byte == 0).collect();
    // Nothing or half an entry follows the last zero byte.
    entries.pop();
    if !complete {
        // The second half of a rename may be missing.
        entries.pop_if(|entry| entry.starts_with(b"2 "));
    }
    let mut entries = entries.into_iter();
    while let Some(entry) = entries.next() {
        match entry.first() {
            Some(b'#') => header(&mut status, &String::from_utf8_lossy(entry)),
            Some(b'1') => push(&mut status, entry, 8, None),
            Some(b'2') => push(&mut status, entry, 9, entries.next()),
            Some(b'u') => push(&mut status, entry, 10, None),
            Some(b'?') => {
                let path = entry.get(2..).unwrap_or_default();
                status.changes.push(change(path, None, ChangeKind::Untracked));
            }
            _ => {}
        }
    }
    status
}

fn header(status: &mut Status, line: &str) {
    if let Some(oid) = line.strip_prefix("# branch.oid ") {
        status.has_commit = oid != "(initial)";
    } else if let Some(name) = line.strip_prefix("# branch.head ") {
        status.branch = (name != "(detached)").then(|| name.to_owned());
    }
}

/// An entry is `KIND XY …fields… PATH`, with a fixed number of fields before the path.
fn push(status: &mut Status, entry: &[u8], fields: usize, old_path: Option<&[u8]>) {
    let Some(path) = entry.splitn(fields + 1, |byte| *byte == b' ').nth(fields) else { return };
    let (index, worktree) = (entry.get(2).copied().unwrap_or(b'.'), entry.get(3).copied().unwrap_or(b'.'));
    let kind = match (index, worktree) {
        (_, b'D') | (b'D', b'.') => ChangeKind::Deleted,
        (b'A' | b'C', _) | (_, b'A') => ChangeKind::Added,
        (b'R', _) | (_, b'R') => ChangeKind::Renamed,
        _ => ChangeKind::Modified,
    };
    let old_path = old_path.filter(|_| kind == ChangeKind::Renamed);
    status.changes.push(change(path, old_path, kind));
}

fn change(path: &[u8], old_path: Option<&[u8]>, kind: ChangeKind) -> Change {
    Change { path: path_of_bytes(path), old_path: old_path.map(path_of_bytes), kind, added: None, removed: None }
}

/// Lines added and removed by path, from `git diff --numstat -z`; `-` stands for a binary file.
pub(super) fn parse_numstat(output: &[u8]) -> HashMap<PathBuf, (Option<u64>, Option<u64>)> {
    let mut entries: Vec<&[u8]> = output.split(|byte| *byte == 0).collect();
    entries.pop();
    parse_counts(entries.into_iter())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_read_with_all_its_kinds_of_entries() {
        let output = b"# branch.oid abc\0# branch.head main\0\
            1 .M N... 100644 100644 100644 aaa bbb src/a file.rs\0\
            1 A. N... 000000 100644 100644 aaa bbb new\n\"name\0\
            1 .D N... 100644 100644 000000 aaa bbb gone\0\
            1 D. N... 100644 000000 000000 aaa bbb staged gone\0\
            2 R. N... 100644 100644 100644 aaa bbb R100 to here\0from there\0\
            u UU N... 1 2 3 4 a b c both\0\
            ? -dash\0? half an ent";
        let status = parse_status(output, false);
        assert_eq!((status.branch.as_deref(), status.has_commit), (Some("main"), true));
        let found: Vec<(String, ChangeKind)> =
            status.changes.iter().map(|change| (change.shown_path(), change.kind)).collect();
        let expected = [
            ("src/a file.rs", ChangeKind::Modified),
            ("new\n\"name", ChangeKind::Added),
            ("gone", ChangeKind::Deleted),
            ("staged gone", ChangeKind::Deleted),
            ("to here", ChangeKind::Renamed),
            ("both", ChangeKind::Modified),
            ("-dash", ChangeKind::Untracked),
        ];
        assert_eq!(found, expected.map(|(path, kind)| (path.to_owned(), kind)));
        assert_eq!(status.changes[4].old_path, Some(PathBuf::from("from there")));
    }

    #[test]
    fn a_new_repository_has_no_commit_and_rubbish_breaks_nothing() {
        let status = parse_status(b"# branch.oid (initial)\0# branch.head main\0", true);
        assert!(!status.has_commit && status.changes.is_empty());
        let detached = parse_status(b"# branch.oid abc\0# branch.head (detached)\0", true);
        assert_eq!(detached.branch, None);
        for output in [&b""[..], b"\0\0", b"1\0", b"2 R.\0", b"u\0", b"?\0", b"2 R. a b c d e f g h", b"\xff\0"] {
            parse_status(output, true);
            parse_status(output, false);
            parse_numstat(output);
        }
        let cut = parse_status(b"2 R. N... 1 2 3 a b R100 new\0old half", false);
        assert_eq!(cut.changes, []);
    }

    #[test]
    fn lines_are_counted_by_path() {
        let counts = parse_numstat(b"1\t2\ta b\0-\t-\tpicture\x003\t0\t\0old\0new\0");
        assert_eq!(counts[&PathBuf::from("a b")], (Some(1), Some(2)));
        assert_eq!(counts[&PathBuf::from("picture")], (None, None));
        assert_eq!(counts[&PathBuf::from("new")], (Some(3), Some(0)));
        assert_eq!(counts.len(), 3);
    }
}
