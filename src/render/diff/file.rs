//! The changes of one file.

/// The kind of a line in a diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::render) enum LineKind {
    Added,
    Removed,
    Context,
    Hunk,
}

/// A line of a diff, with its numbers in the old and the new file where they are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::render) struct DiffLine {
    pub kind: LineKind,
    pub old: Option<usize>,
    pub new: Option<usize>,
    pub text: String,
}

/// The changes of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::render) struct FileDiff {
    /// The name to show, which may be `old → new`.
    pub path: String,
    /// Notes on the file: that it is new, renamed or binary.
    pub notes: Vec<String>,
    pub lines: Vec<DiffLine>,
}

impl FileDiff {
    /// Whether there is an added or removed line, or a note.
    pub fn changes_something(&self) -> bool {
        !self.notes.is_empty() || self.lines.iter().any(|line| matches!(line.kind, LineKind::Added | LineKind::Removed))
    }
}

/// Counts the lines of a hunk.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Numbers {
    pub old: Option<usize>,
    pub new: Option<usize>,
}

impl Numbers {
    /// Numbers the next line, which is of that kind.
    pub fn line(&mut self, kind: LineKind, text: &str) -> DiffLine {
        let take = |number: &mut Option<usize>, counts: bool| {
            let this = number.filter(|_| counts);
            if let (Some(number), true) = (number.as_mut(), counts) {
                *number = number.saturating_add(1);
            }
            this
        };
        let old = take(&mut self.old, matches!(kind, LineKind::Removed | LineKind::Context));
        let new = take(&mut self.new, matches!(kind, LineKind::Added | LineKind::Context));
        DiffLine { kind, old, new, text: text.to_owned() }
    }
}
