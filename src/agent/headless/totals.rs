//! Converts usage figures that Copilot counts per session into figures per turn.

use crate::model::{CodeChanges, Usage};

/// The totals at the end of the last turn.
#[derive(Debug)]
pub(super) struct Totals(Option<Usage>);

impl Totals {
    /// For a new session.
    pub fn of_new_session() -> Self {
        Self(Some(Usage::default()))
    }

    /// For a resumed session, whose earlier totals are unknown.
    pub fn unknown() -> Self {
        Self(None)
    }

    /// The figures of a turn, given the totals at its end. Unknown figures are omitted.
    pub fn of_turn(&mut self, said: Usage) -> Usage {
        if (said.duration_ms, said.premium_requests, &said.code_changes) == (None, None, &None) {
            return said;
        }
        let before = self.0.replace(said.clone());
        let Some(before) = before else {
            return Usage { duration_ms: None, premium_requests: None, code_changes: None, ..said };
        };
        let changes = |now: CodeChanges| {
            let before = before.code_changes.clone().unwrap_or_default();
            CodeChanges {
                lines_added: now.lines_added.saturating_sub(before.lines_added),
                lines_removed: now.lines_removed.saturating_sub(before.lines_removed),
                files_modified: now
                    .files_modified
                    .into_iter()
                    .filter(|file| !before.files_modified.contains(file))
                    .collect(),
            }
        };
        Usage {
            duration_ms: said.duration_ms.map(|now| now.saturating_sub(before.duration_ms.unwrap_or_default())),
            premium_requests: said
                .premium_requests
                .map(|now| (now - before.premium_requests.unwrap_or_default()).max(0.0)),
            code_changes: said.code_changes.map(changes),
            ..said
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(duration: u64, premium: f64, added: u64, files: &[&str]) -> Usage {
        let files_modified = files.iter().map(|file| (*file).to_owned()).collect();
        Usage {
            duration_ms: Some(duration),
            premium_requests: Some(premium),
            num_turns: Some(1),
            code_changes: Some(CodeChanges { lines_added: added, lines_removed: 0, files_modified }),
            ..Usage::default()
        }
    }

    #[test]
    fn each_turn_gets_what_was_counted_since_the_last() {
        let mut totals = Totals::of_new_session();
        assert_eq!(totals.of_turn(counted(60, 1.0, 3, &["a"])), counted(60, 1.0, 3, &["a"]));
        assert_eq!(totals.of_turn(Usage::default()), Usage::default(), "a turn that was cut says nothing");
        assert_eq!(totals.of_turn(counted(130, 3.0, 5, &["a", "b"])), counted(70, 2.0, 2, &["b"]));
    }

    #[test]
    fn the_first_turn_of_a_session_that_was_there_before_has_no_figures_of_that_kind() {
        let mut totals = Totals::unknown();
        assert_eq!(totals.of_turn(counted(60, 1.0, 3, &[])), Usage { num_turns: Some(1), ..Usage::default() });
        assert_eq!(totals.of_turn(counted(90, 1.0, 3, &[])), counted(30, 0.0, 0, &[]));
    }
}
