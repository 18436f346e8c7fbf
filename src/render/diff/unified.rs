//! Parses unified diffs, from git and other tools, and from models that count lines wrongly.

use super::file::{DiffLine, FileDiff, LineKind, Numbers};

/// Whether a text is a unified diff: it has a header near its beginning.
pub(in crate::render) fn is_unified(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).take(20).peekable();
    while let Some(line) = lines.next() {
        let next_is = |lines: &mut std::iter::Peekable<_>, start: &str| {
            lines.peek().is_some_and(|next: &&str| next.starts_with(start))
        };
        if line.starts_with("diff --git ") || (line.starts_with("--- ") && next_is(&mut lines, "+++ ")) {
            return true;
        }
    }
    false
}

/// The files of a diff. Lines that belong to no file are left out.
pub(in crate::render) fn parse_unified(text: &str) -> Vec<FileDiff> {
    let mut reader = Reader::default();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let names_follow = lines.peek().is_some_and(|next| next.starts_with("+++ "));
        reader.line(line, names_follow);
    }
    reader.finish()
}

#[derive(Default)]
struct Reader {
    files: Vec<FileDiff>,
    /// The names of the current file.
    old: Option<String>,
    new: Option<String>,
    hunk: Option<Hunk>,
}

/// The position in a hunk, and how many lines it still has by its own count.
struct Hunk {
    numbers: Numbers,
    old_left: usize,
    new_left: usize,
}

impl Reader {
    fn line(&mut self, line: &str, names_follow: bool) {
        // A removed line that begins with two dashes looks like a file name, so the hunk's own count comes first.
        let inside = self.hunk.as_ref().is_some_and(|hunk| hunk.old_left > 0 || hunk.new_left > 0);
        let is_header = line.starts_with("diff --git ") || (line.starts_with("@@ ") && hunk_header(line).is_some());
        if (inside && !is_header) || (self.hunk.is_some() && !starts_something(line, names_follow)) {
            self.hunk_line(line);
        } else {
            self.header_line(line, names_follow);
        }
    }

    fn header_line(&mut self, line: &str, names_follow: bool) {
        if let Some(names) = line.strip_prefix("diff --git ") {
            self.begin_file();
            // Only right while the names have no blank; the lines that follow say it better.
            if let Some((old, new)) = names.split_once(" b/") {
                self.name(Some(shown_name(old)), Some(shown_name(new)));
            }
        } else if let Some(name) = line.strip_prefix("--- ").filter(|_| names_follow) {
            if self.hunk.is_some() || self.files.is_empty() {
                self.begin_file();
            }
            self.old = Some(shown_name(name));
        } else if let Some(name) = line.strip_prefix("+++ ") {
            let old = self.old.take();
            self.name(old, Some(shown_name(name)));
        } else if let Some(header) = hunk_header(line) {
            if self.files.is_empty() {
                self.begin_file();
            }
            self.hunk = Some(header);
            self.push(DiffLine { kind: LineKind::Hunk, old: None, new: None, text: line.to_owned() });
        } else if let Some(file) = self.files.last_mut().filter(|_| self.hunk.is_none()) {
            let header_starts = [
                "new file",
                "deleted file",
                "rename from",
                "rename to",
                "Binary files",
                "GIT binary patch",
                "old mode",
                "new mode",
            ];
            if let Some(start) = header_starts.iter().find(|start| line.starts_with(**start)) {
                let note = match *start {
                    "new file" => "New file",
                    "deleted file" => "Deleted",
                    "Binary files" | "GIT binary patch" => "Binary file",
                    "rename to" => "Renamed",
                    "new mode" => "Mode changed",
                    _ => return,
                };
                file.notes.push(note.to_owned());
            }
        }
    }

    fn hunk_line(&mut self, line: &str) {
        let Some(hunk) = &mut self.hunk else { return };
        let (kind, text) = match line.chars().next() {
            Some('+') => (LineKind::Added, &line[1..]),
            Some('-') => (LineKind::Removed, &line[1..]),
            Some(' ') => (LineKind::Context, &line[1..]),
            // "No newline at end of file" says nothing about any line.
            Some('\\') => return,
            // A blank context line whose blank was trimmed away on its way here.
            _ => (LineKind::Context, line),
        };
        let count = |left: &mut usize, counts: bool| *left = left.saturating_sub(usize::from(counts));
        count(&mut hunk.old_left, kind != LineKind::Added);
        count(&mut hunk.new_left, kind != LineKind::Removed);
        let line = hunk.numbers.line(kind, text);
        self.push(line);
    }

    fn begin_file(&mut self) {
        self.files.push(FileDiff::default());
        (self.old, self.new, self.hunk) = (None, None, None);
    }

    fn name(&mut self, old: Option<String>, new: Option<String>) {
        if self.files.is_empty() {
            self.begin_file();
        }
        let Some(file) = self.files.last_mut() else { return };
        let there = |name: Option<String>| name.filter(|name| name != "/dev/null" && name != "dev/null");
        file.path = match (there(old), there(new)) {
            (Some(old), Some(new)) if old != new => format!("{old} → {new}"),
            (_, Some(name)) | (Some(name), None) => name,
            (None, None) => std::mem::take(&mut file.path),
        };
    }

    fn push(&mut self, line: DiffLine) {
        if let Some(file) = self.files.last_mut() {
            file.lines.push(line);
        }
    }

    fn finish(self) -> Vec<FileDiff> {
        self.files
    }
}

/// Whether a line after the counted end of a hunk belongs to something new.
fn starts_something(line: &str, names_follow: bool) -> bool {
    let names = line.starts_with("--- ") && names_follow;
    names || !line.starts_with(['+', '-', ' ', '\\'])
}

/// `@@ -1,3 +1,4 @@ fn main()`; without a count it is one line.
fn hunk_header(line: &str) -> Option<Hunk> {
    let (ranges, _) = line.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let range = |text: &str| {
        let (start, count) = text.split_once(',').unwrap_or((text, "1"));
        Some((start.parse::<usize>().ok()?, count.parse::<usize>().ok()?))
    };
    let ((old_start, old_left), (new_start, new_left)) = (range(old)?, range(new)?);
    Some(Hunk { numbers: Numbers { old: Some(old_start), new: Some(new_start) }, old_left, new_left })
}

/// A name as written after `---`: without the prefix and the time, and without git's quotes.
fn shown_name(name: &str) -> String {
    let name = name.split('\t').next().unwrap_or(name).trim_end();
    let name = unquoted(name);
    ["a/", "b/", "i/", "w/", "c/"].iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(&name).to_owned()
}

/// git writes names with odd characters like strings of C.
fn unquoted(name: &str) -> String {
    let Some(inner) = name.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else { return name.to_owned() };
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let octal: Vec<u8> = rest.iter().copied().take(3).take_while(|digit| matches!(digit, b'0'..=b'7')).collect();
        if octal.len() == 3 {
            let value = octal.iter().fold(0_u32, |value, digit| value * 8 + u32::from(digit - b'0'));
            bytes.push(u8::try_from(value).unwrap_or(b'?'));
            rest = &rest[3..];
        } else if let Some((&letter, after)) = rest.split_first() {
            bytes.push(match letter {
                b'n' => b'\n',
                b't' => b'\t',
                b'r' => b'\r',
                other => other,
            });
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(text: &str) -> Vec<(String, String)> {
        parse_unified(text)
            .iter()
            .map(|file| {
                let kinds = file.lines.iter().map(|line| match line.kind {
                    LineKind::Added => '+',
                    LineKind::Removed => '-',
                    LineKind::Context => ' ',
                    LineKind::Hunk => '@',
                });
                (file.path.clone(), kinds.collect())
            })
            .collect()
    }

    #[test]
    fn a_diff_of_git_with_several_files() {
        let text = "diff --git a/src/a.rs b/src/a.rs\nindex 1..2 100644\n--- a/src/a.rs\n+++ b/src/a.rs\n\
                    @@ -1,3 +1,3 @@ fn x\n one\n-two\n+zwei\n three\n@@ -9 +9,2 @@\n nine\n+ten\n\
                    \\ No newline at end of file\n\
                    diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\
                    diff --git a/old name b/new name\nsimilarity index 100%\nrename from old name\nrename to new name\n\
                    diff --git a/x.png b/x.png\nBinary files a/x.png and b/x.png differ\n";
        assert!(is_unified(text));
        let expected = [("src/a.rs", "@ -+ @ +"), ("gone", "@-"), ("old name → new name", ""), ("x.png", "")];
        assert_eq!(summary(text), expected.map(|(path, kinds)| (path.to_owned(), kinds.to_owned())));
        let files = parse_unified(text);
        let numbers: Vec<_> = files[0].lines.iter().map(|line| (line.old, line.new)).collect();
        assert_eq!(numbers[1..5], [(Some(1), Some(1)), (Some(2), None), (None, Some(2)), (Some(3), Some(3))]);
        assert_eq!(numbers[7], (None, Some(10)));
        assert_eq!(files[3].notes, ["Binary file"]);
    }

    #[test]
    fn removed_dashes_are_no_names_and_wrong_counts_do_no_harm() {
        let dashes = "--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1,2 @@\n--- a comment\n+-- another\n+++ b\n x\n";
        assert_eq!(summary(dashes), [("x.sql".to_owned(), "@-++ ".to_owned())]);
        let badly_counted = "--- a/x\n+++ b/x\n@@ -1,1 +1,1 @@\n-a\n+b\n+c\n d\n@@ -7,90 +8,90 @@\n-e\ndiff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-f\n+g\n";
        assert_eq!(
            summary(badly_counted),
            [("x".to_owned(), "@-++ @-".to_owned()), ("y".to_owned(), "@-+".to_owned())]
        );
    }

    #[test]
    fn names_are_unquoted_and_times_left_out() {
        let text =
            "--- \"a/we\\303\\237 \\\"ird\\n.txt\"\n+++ \"b/we\\303\\237 \\\"ird\\n.txt\"\n@@ -1 +1 @@\n-a\n+b\n";
        assert_eq!(summary(text)[0].0, "weß \"ird\n.txt");
        let text = "--- old.c\t2020-01-01 00:00:00\n+++ old.c\t2020-01-02 00:00:00\n@@ -1 +1 @@\n-a\n+b\n";
        assert_eq!(summary(text)[0].0, "old.c");
    }

    #[test]
    fn rubbish_is_no_diff_and_breaks_nothing() {
        for text in ["", "--- just a list\n- a\n", "hello", "+++ x", "@@ -1 +1 @@", "@@@@@@"] {
            assert!(!is_unified(text), "{text}");
        }
        for text in [
            "@@ -1 +1 @@\n-a",
            "diff --git ",
            "--- \n+++ \n@@ -99999999999999999999,1 +1 @@\n+x",
            "@@ -1,1 +1,1 @@\nß\n",
        ] {
            parse_unified(text);
        }
    }
}
