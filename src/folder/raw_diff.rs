//! Parses the output of `git diff-tree -r -z --raw --numstat`.

use std::collections::HashMap;
use std::path::PathBuf;

use super::change_list::{Change, ChangeKind};
use super::git::path_of_bytes;

/// What is at a path on one side of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeEntry {
    /// The mode that git knows, in octal digits; all zeros if there is nothing.
    pub mode: String,
    /// The object.
    pub id: String,
}

impl TreeEntry {
    /// Whether there is nothing.
    pub fn is_missing(&self) -> bool {
        self.mode.bytes().all(|digit| digit == b'0')
    }

    /// Whether it is a symbolic link.
    pub fn is_link(&self) -> bool {
        self.mode == "120000"
    }

    /// Whether it is the commit of another repository.
    pub fn is_repository(&self) -> bool {
        self.mode == "160000"
    }

    /// Whether it is a program.
    pub fn is_executable(&self) -> bool {
        self.mode == "100755"
    }
}

/// A file that differs between two trees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeChange {
    /// Which, and how.
    pub change: Change,
    /// Before, at the old path.
    pub before: TreeEntry,
    /// After, at the path.
    pub after: TreeEntry,
}

/// Parses a complete output.
pub(super) fn parse_raw(output: &[u8]) -> Vec<TreeChange> {
    let mut parts = output.split(|byte| *byte == 0).peekable();
    let mut changes = Vec::new();
    while let Some(head) = parts.next_if(|part| part.starts_with(b":")) {
        let Some(path) = parts.next() else { break };
        let head = String::from_utf8_lossy(&head[1..]).into_owned();
        let fields: Vec<&str> = head.split(' ').collect();
        let [old_mode, new_mode, old_id, new_id, status] = fields.as_slice() else { continue };
        let entry = |mode: &str, id: &str| TreeEntry { mode: mode.to_owned(), id: id.to_owned() };
        let kind = match status.as_bytes().first() {
            Some(b'A') => ChangeKind::Added,
            Some(b'D') => ChangeKind::Deleted,
            Some(b'R') => ChangeKind::Renamed,
            _ => ChangeKind::Modified,
        };
        let (path, old_path) = if kind == ChangeKind::Renamed {
            let Some(new) = parts.next() else { break };
            (path_of_bytes(new), Some(path_of_bytes(path)))
        } else {
            (path_of_bytes(path), None)
        };
        let change = Change { path, old_path, kind, added: None, removed: None };
        changes.push(TreeChange { change, before: entry(old_mode, old_id), after: entry(new_mode, new_id) });
    }
    let counts = parse_counts(parts);
    for TreeChange { change, .. } in &mut changes {
        if let Some((added, removed)) = counts.get(&change.path) {
            (change.added, change.removed) = (*added, *removed);
        }
    }
    changes
}

type Counts = HashMap<PathBuf, (Option<u64>, Option<u64>)>;

/// Lines added and removed by path; `-` stands for a binary file.
pub(super) fn parse_counts<'a>(mut parts: impl Iterator<Item = &'a [u8]>) -> Counts {
    let mut counts = HashMap::new();
    while let Some(entry) = parts.next() {
        let mut fields = entry.splitn(3, |byte| *byte == b'\t');
        let mut number = || std::str::from_utf8(fields.next()?).ok()?.trim().parse::<u64>().ok();
        let (added, removed) = (number(), number());
        let path = match fields.next() {
            // A rename: the old and the new path follow.
            Some([]) => {
                parts.next();
                parts.next()
            }
            other => other,
        };
        if let Some(path) = path {
            counts.insert(path_of_bytes(path), (added, removed));
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_entry_is_read_with_its_lines() {
        let output = b":100644 100755 aaa bbb M\0a file\0\
            :100644 100644 ccc ddd R090\0old\nname\0new name\0\
            :000000 120000 000 eee A\0link\0\
            :100644 000000 fff 000 D\0gone\0\
            :100644 120000 fff abc T\0turned\0\
            1\t2\ta file\x003\t0\t\0old\nname\0new name\x001\t0\tlink\0-\t-\tgone\0";
        let found = parse_raw(output);
        let short: Vec<_> =
            found.iter().map(|one| (one.change.shown_path(), one.change.kind, one.change.added)).collect();
        let expected = [
            ("a file", ChangeKind::Modified, Some(1)),
            ("new name", ChangeKind::Renamed, Some(3)),
            ("link", ChangeKind::Added, Some(1)),
            ("gone", ChangeKind::Deleted, None),
            ("turned", ChangeKind::Modified, None),
        ];
        assert_eq!(short, expected.map(|(path, kind, added)| (path.to_owned(), kind, added)));
        assert_eq!(found[1].change.old_path, Some(PathBuf::from("old\nname")));
        assert!(found[0].after.is_executable() && !found[0].before.is_executable());
        assert!(found[2].after.is_link() && found[2].before.is_missing() && found[3].after.is_missing());
    }

    #[test]
    fn rubbish_breaks_nothing() {
        for output in [&b""[..], b"\0", b":", b":1 2\0", b":1 2 3 4 R100\0a", b":1 2 3 4 R100\0a\0", b"1\t\t\0\0"] {
            parse_raw(output);
        }
    }
}
