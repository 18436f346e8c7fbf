//! What a turn cost, and sums of such figures.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most that one report may add to a count: larger figures are invalid, and sums of them would
/// overflow.
const MOST_PER_REPORT: u64 = 1 << 40;

/// Figures an agent reported. A figure that it did not report is `null`, never 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// AI credits billed, as GitHub Copilot counts them.
    pub credits: Option<f64>,
    /// The model that was used, where the agent says so; no part of a sum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What was changed in files.
    pub code_changes: Option<CodeChanges>,
}

/// Files that a sum names.
const MOST_FILES: usize = 1_000;

/// What an agent reports to have changed in files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct CodeChanges {
    /// Added lines.
    pub lines_added: u64,
    /// Removed lines.
    pub lines_removed: u64,
    /// The files, each once; only the first of very many.
    pub files_modified: Vec<String>,
}

impl CodeChanges {
    fn add(&mut self, other: &Self) {
        self.lines_added = self.lines_added.saturating_add(other.lines_added);
        self.lines_removed = self.lines_removed.saturating_add(other.lines_removed);
        for file in &other.files_modified {
            if self.files_modified.len() < MOST_FILES && !self.files_modified.contains(file) {
                self.files_modified.push(file.clone());
            }
        }
    }
}

impl Usage {
    /// Adds another report of the same turn; a figure that only one of them has is kept.
    pub fn add(&mut self, other: &Usage) {
        fn sum<T: Copy>(into: &mut Option<T>, more: Option<T>, plus: impl Fn(T, T) -> T) {
            *into = match (*into, more) {
                (Some(have), Some(more)) => Some(plus(have, more)),
                (have, more) => have.or(more),
            };
        }
        let money = |have: f64, more: f64| have + more;
        sum(&mut self.cost_usd, other.cost_usd, money);
        sum(&mut self.input_tokens, other.input_tokens, u64::saturating_add);
        sum(&mut self.output_tokens, other.output_tokens, u64::saturating_add);
        sum(&mut self.cache_read, other.cache_read, u64::saturating_add);
        sum(&mut self.cache_creation, other.cache_creation, u64::saturating_add);
        sum(&mut self.duration_ms, other.duration_ms, u64::saturating_add);
        sum(&mut self.num_turns, other.num_turns, u64::saturating_add);
        sum(&mut self.premium_requests, other.premium_requests, money);
        sum(&mut self.credits, other.credits, money);
        match (&mut self.code_changes, &other.code_changes) {
            (Some(have), Some(more)) => have.add(more),
            (have @ None, Some(more)) => *have = Some(more.clone()),
            (_, None) => {}
        }
    }

    /// The report without impossible figures: not a number, negative, or too large.
    #[must_use]
    pub fn plausible(self) -> Self {
        let whole = |figure: Option<u64>| figure.map(|figure| figure.min(MOST_PER_REPORT));
        let money = |figure: Option<f64>| figure.filter(|figure| figure.is_finite() && *figure >= 0.0);
        Self {
            cost_usd: money(self.cost_usd),
            input_tokens: whole(self.input_tokens),
            output_tokens: whole(self.output_tokens),
            cache_read: whole(self.cache_read),
            cache_creation: whole(self.cache_creation),
            duration_ms: whole(self.duration_ms),
            num_turns: whole(self.num_turns),
            premium_requests: money(self.premium_requests),
            credits: money(self.credits),
            model: self.model,
            code_changes: self.code_changes,
        }
    }

    /// Tokens read and written, as far as either is known.
    pub fn tokens(&self) -> Option<u64> {
        match (self.input_tokens, self.output_tokens) {
            (None, None) => None,
            (input, output) => Some(input.unwrap_or_default().saturating_add(output.unwrap_or_default())),
        }
    }

    /// The model that a report is about: the one it names, else the session's model. A session may know the model by a
    /// longer name, with its provider in front; then that is the name.
    pub fn model_in<'a>(&'a self, session_model: &'a str) -> &'a str {
        match self.model.as_deref() {
            Some(own) if !own.is_empty() => {
                let is_short_for = |long: &str| long.strip_suffix(own).is_some_and(|provider| provider.ends_with('/'));
                if is_short_for(session_model) { session_model } else { own }
            }
            _ => session_model,
        }
    }
}

/// In how many reports each figure was left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the figures are those of Usage")]
pub struct UnknownFigures {
    pub cost_usd: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cache_read: u64,
    pub cache_creation: u64,
    pub duration_ms: u64,
    pub num_turns: u64,
    pub premium_requests: u64,
    pub credits: u64,
}

/// The sum of many reports. A figure that no report had is unknown; one that some had is their sum, and says how many
/// left it out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct UsageTotal {
    /// How many reports there were.
    pub reports: u64,
    /// The sums of what is known.
    pub usage: Usage,
    /// In how many reports each figure was left out.
    pub unknown: UnknownFigures,
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
    fn tokens_are_unknown_only_when_both_directions_are() {
        assert_eq!(Usage::default().tokens(), None);
        assert_eq!(Usage { output_tokens: Some(2), ..Usage::default() }.tokens(), Some(2));
        assert_eq!(Usage { input_tokens: Some(3), output_tokens: Some(2), ..Usage::default() }.tokens(), Some(5));
    }

    #[test]
    fn nonsense_is_taken_for_unknown_or_cut() {
        let report = Usage {
            cost_usd: Some(f64::NAN),
            premium_requests: Some(-1.0),
            credits: Some(f64::INFINITY),
            input_tokens: Some(u64::MAX),
            output_tokens: Some(7),
            ..Usage::default()
        };
        let expected = Usage { input_tokens: Some(1 << 40), output_tokens: Some(7), ..Usage::default() };
        assert_eq!(report.plausible(), expected);
    }

    #[test]
    fn a_report_names_its_model_and_the_session_names_it_better_where_it_knows_the_provider() {
        let report = |model: &str| Usage { model: Some(model.to_owned()), ..Usage::default() };
        assert_eq!(report("gpt-5-mini").model_in("gpt-5.2"), "gpt-5-mini");
        assert_eq!(report("qwen3").model_in("ollama/qwen3"), "ollama/qwen3");
        assert_eq!(report("3").model_in("ollama/qwen3"), "3");
        assert_eq!(report("").model_in("gpt-5.2"), "gpt-5.2");
        assert_eq!(Usage::default().model_in("gpt-5.2"), "gpt-5.2");
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
