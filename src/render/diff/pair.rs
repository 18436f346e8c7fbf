//! Computes the diff of two texts.

use std::time::Duration;

use similar::{Algorithm, ChangeTag, TextDiff};

use super::file::{DiffLine, FileDiff, LineKind, Numbers};
use crate::render::budget::Budget;

/// Longer texts are shown as entirely removed and added.
const LONGEST_PAIR: usize = 512 * 1024;
/// The time limit for finding the smallest diff; a larger one is still correct.
const SEARCH_TIME: Duration = Duration::from_millis(500);
const CONTEXT_LINES: usize = 3;

/// The change from `old` to `new`. The texts are parts of a file, so the lines have no numbers.
pub(in crate::render) fn between(path: &str, old: &str, new: &str, budget: &Budget) -> FileDiff {
    let lines = if old.len() + new.len() > LONGEST_PAIR || budget.is_over() {
        let all = |kind, text: &str| -> Vec<DiffLine> {
            text.lines().map(|line| Numbers::default().line(kind, line)).collect()
        };
        let mut lines = all(LineKind::Removed, old);
        lines.extend(all(LineKind::Added, new));
        lines
    } else {
        changed_lines(old, new, SEARCH_TIME.min(budget.time_left()))
    };
    FileDiff { path: path.to_owned(), notes: Vec::new(), lines }
}

fn changed_lines(old: &str, new: &str, time: Duration) -> Vec<DiffLine> {
    // A missing newline at the end does not make the last line differ.
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let diff = TextDiff::configure().algorithm(Algorithm::Myers).timeout(time).diff_slices(&old, &new);
    let mut lines = Vec::new();
    for (position, group) in diff.grouped_ops(CONTEXT_LINES).iter().enumerate() {
        if position > 0 {
            lines.push(DiffLine { kind: LineKind::Hunk, old: None, new: None, text: "…".to_owned() });
        }
        for change in group.iter().flat_map(|operation| diff.iter_changes(operation)) {
            let kind = match change.tag() {
                ChangeTag::Delete => LineKind::Removed,
                ChangeTag::Insert => LineKind::Added,
                ChangeTag::Equal => LineKind::Context,
            };
            lines.push(Numbers::default().line(kind, change.value()));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(old: &str, new: &str, budget: &Budget) -> String {
        let letter = |line: &DiffLine| match line.kind {
            LineKind::Added => '+',
            LineKind::Removed => '-',
            LineKind::Context => ' ',
            LineKind::Hunk => '@',
        };
        between("x", old, new, budget).lines.iter().map(letter).collect()
    }

    #[test]
    fn only_what_changed_is_shown_with_a_little_around_it() {
        assert_eq!(kinds("a\nb\nc\n", "a\nB\nc", &Budget::default()), " -+ ");
        let long = (0..100).map(|number| number.to_string()).collect::<Vec<_>>().join("\n");
        let changed = long.replace("\n20\n", "\nzwanzig\n").replace("\n80\n", "\n");
        assert_eq!(kinds(&long, &changed, &Budget::default()), "   -+   @   -   ");
        assert_eq!(kinds("", "a\nb", &Budget::default()), "++");
        assert_eq!(kinds("same", "same", &Budget::default()), "");
    }

    #[test]
    fn what_is_too_much_is_all_removed_and_all_added() {
        let (old, new) = ("a\n".repeat(LONGEST_PAIR / 2), "b\n");
        assert_eq!(kinds(&old, new, &Budget::default()).matches('-').count(), LONGEST_PAIR / 2);
        assert_eq!(kinds("a\nb", "a\nc", &Budget::used_up()), "--++");
    }
}
