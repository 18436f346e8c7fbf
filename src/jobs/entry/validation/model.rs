//! The check of an entry's models against those that there are.

use super::super::checked::CheckedEntry;
use super::super::problem::{Problem, named, quoted};
use super::super::{ModelChoice, Work};
use super::ROOT;

/// The model that a new session would get.
pub const DEFAULT_MODEL: &str = "default";

/// A model that a runtime offers.
#[derive(Clone, Debug, PartialEq)]
pub struct AvailableModel {
    /// Its id, as entries name it.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// How many premium requests one request counts as.
    pub multiplier: Option<f64>,
}

/// The models of an entry that no runtime offers. The first problem lists the models that there are. Without a list of
/// models nothing is known to be wrong.
pub fn check_models(entry: &CheckedEntry, available: &[AvailableModel]) -> Vec<Problem> {
    if available.is_empty() {
        return Vec::new();
    }
    let mut check = Check { available, problems: Vec::new() };
    for (category, model) in entry.models() {
        check.model(|| named("entry.models", category), model, Problem::error);
    }
    for (position, retry) in entry.entry().driving_session_retries.iter().enumerate() {
        check.model(|| format!("{ROOT}.drivingSessionRetries[{position}].modelId"), &retry.model_id, Problem::error);
    }
    for (name, task) in entry.tasks() {
        check.choice(|| format!("{}.model", named("entry.tasks", name)), task.model.as_ref());
    }
    for (name, job) in &entry.entry().jobs {
        check.work(&format!("{}.work", named("entry.jobs", name)), &job.work);
    }
    if let Some(first) = check.problems.first_mut() {
        first.message.push_str(&list(available));
    }
    check.problems
}

struct Check<'a> {
    available: &'a [AvailableModel],
    problems: Vec<Problem>,
}

impl Check<'_> {
    fn model(&mut self, path: impl Fn() -> String, model: &str, problem: fn(String, String) -> Problem) {
        if model != DEFAULT_MODEL && !self.available.iter().any(|known| known.id == model) {
            let message = format!("refers to model {} which is not a valid model.", quoted(model));
            self.problems.push(problem(path(), message).with_path_as_subject());
        }
    }

    fn choice(&mut self, path: impl Fn() -> String, choice: Option<&ModelChoice>) {
        if let Some(ModelChoice::Id(id)) = choice {
            self.model(|| format!("{}.id", path()), id, Problem::warning);
        }
    }

    fn work(&mut self, path: &str, work: &Work) {
        if let Work::Ref { model_override, .. } = work {
            self.choice(|| format!("{path}.modelOverride"), model_override.as_ref());
        }
        for (name, child) in work.named_children() {
            self.work(&format!("{path}{name}"), child);
        }
    }
}

/// The models that there are, one a line.
fn list(available: &[AvailableModel]) -> String {
    let line = |model: &AvailableModel| {
        let multiplier = model.multiplier.map(|times| format!(", {times}x")).unwrap_or_default();
        format!("\n  {} ({}{multiplier})", model.name, model.id)
    };
    let lines: String = available.iter().map(line).collect();
    format!("\nAvailable models:{lines}")
}
