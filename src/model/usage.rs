//! What a turn cost.

use serde::{Deserialize, Serialize};

/// Figures an agent reported. What it did not say is `null`, never 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// Money, in US dollars.
    pub cost_usd: Option<f64>,
    /// Tokens the model read.
    pub input_tokens: Option<u64>,
    /// Tokens the model wrote.
    pub output_tokens: Option<u64>,
    /// Tokens read from the provider's cache.
    pub cache_read: Option<u64>,
    /// Tokens written to the provider's cache.
    pub cache_creation: Option<u64>,
    /// How long the turn took.
    pub duration_ms: Option<u64>,
    /// Model calls in the turn.
    pub num_turns: Option<u64>,
    /// Premium requests billed.
    pub premium_requests: Option<f64>,
    /// What was changed in files.
    pub code_changes: Option<CodeChanges>,
}

/// What an agent says it changed in files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CodeChanges {
    /// Lines that are new.
    pub lines_added: u64,
    /// Lines that are gone.
    pub lines_removed: u64,
    /// The files, each once.
    pub files_modified: Vec<String>,
}

impl CodeChanges {
    fn add(&mut self, other: &Self) {
        self.lines_added = self.lines_added.saturating_add(other.lines_added);
        self.lines_removed = self.lines_removed.saturating_add(other.lines_removed);
        for file in &other.files_modified {
            if !self.files_modified.contains(file) {
                self.files_modified.push(file.clone());
            }
        }
    }
}

impl Usage {
    /// Adds what another report of the same turn says; a figure only one of them knows is kept.
    pub fn add(&mut self, other: &Usage) {
        fn sum<T: Copy + std::ops::Add<Output = T>>(into: &mut Option<T>, more: Option<T>) {
            *into = match (*into, more) {
                (Some(have), Some(more)) => Some(have + more),
                (have, more) => have.or(more),
            };
        }
        sum(&mut self.cost_usd, other.cost_usd);
        sum(&mut self.input_tokens, other.input_tokens);
        sum(&mut self.output_tokens, other.output_tokens);
        sum(&mut self.cache_read, other.cache_read);
        sum(&mut self.cache_creation, other.cache_creation);
        sum(&mut self.duration_ms, other.duration_ms);
        sum(&mut self.num_turns, other.num_turns);
        sum(&mut self.premium_requests, other.premium_requests);
        match (&mut self.code_changes, &other.code_changes) {
            (Some(have), Some(more)) => have.add(more),
            (have @ None, Some(more)) => *have = Some(more.clone()),
            (_, None) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_stays_unknown_when_reports_are_added() {
        let mut total = Usage { input_tokens: Some(3), ..Usage::default() };
        total.add(&Usage { input_tokens: Some(4), output_tokens: Some(1), ..Usage::default() });
        assert_eq!(total.input_tokens, Some(7));
        assert_eq!(total.output_tokens, Some(1));
        assert_eq!(total.cost_usd, None);
    }

    #[test]
    fn changes_are_added_and_a_file_is_named_once() {
        let changes = |added, files: &[&str]| Usage {
            code_changes: Some(CodeChanges {
                lines_added: added,
                lines_removed: 1,
                files_modified: files.iter().map(|file| (*file).to_owned()).collect(),
            }),
            ..Usage::default()
        };
        let mut total = Usage::default();
        total.add(&changes(2, &["a"]));
        total.add(&Usage::default());
        total.add(&changes(3, &["a", "b"]));
        assert_eq!(
            total.code_changes,
            changes(5, &["a", "b"]).code_changes.map(|all| CodeChanges { lines_removed: 2, ..all })
        );
    }
}
