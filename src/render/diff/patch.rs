//! Parses patches in the format that models write for `apply_patch`.

use super::file::{DiffLine, FileDiff, LineKind, Numbers};

const BEGIN: &str = "*** Begin Patch";

/// Whether a text is such a patch.
pub(in crate::render) fn is_patch(text: &str) -> bool {
    text.trim_start().starts_with(BEGIN)
}

/// The files of a patch. Its lines have no numbers.
pub(in crate::render) fn parse_patch(text: &str) -> Vec<FileDiff> {
    let mut files: Vec<FileDiff> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with(BEGIN)) {
        let heading = ["*** Add File: ", "*** Update File: ", "*** Delete File: "]
            .into_iter()
            .find_map(|start| Some((start, line.strip_prefix(start)?)));
        if let Some((start, path)) = heading {
            let note = match start {
                "*** Add File: " => Some("New file"),
                "*** Delete File: " => Some("Deleted"),
                _ => None,
            };
            let notes = note.map(str::to_owned).into_iter().collect();
            files.push(FileDiff { path: path.trim().to_owned(), notes, lines: Vec::new() });
            continue;
        }
        let Some(file) = files.last_mut() else { continue };
        if let Some(target) = line.strip_prefix("*** Move to: ") {
            file.path = format!("{} → {}", file.path, target.trim());
            continue;
        }
        if line.starts_with("*** ") {
            continue;
        }
        file.lines.push(match line.chars().next() {
            Some('+') => Numbers::default().line(LineKind::Added, &line[1..]),
            Some('-') => Numbers::default().line(LineKind::Removed, &line[1..]),
            Some(' ') => Numbers::default().line(LineKind::Context, &line[1..]),
            Some('@') => DiffLine { kind: LineKind::Hunk, old: None, new: None, text: line.to_owned() },
            _ => Numbers::default().line(LineKind::Context, line),
        });
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_adds_changes_moves_and_deletes() {
        let text = "*** Begin Patch\n*** Add File: new.ts\n+const a = 1;\n*** Update File: a.py\n*** Move to: b.py\n\
                    @@ def f(x):\n x\n-    return 1\n+    return 2\n*** Delete File: c\n*** End Patch\n";
        assert!(is_patch(text) && !is_patch("--- a\n+++ b\n"));
        let files = parse_patch(text);
        let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["new.ts", "a.py → b.py", "c"]);
        assert_eq!(files[1].lines.len(), 4);
        assert!(files.iter().all(FileDiff::changes_something));
    }
}
