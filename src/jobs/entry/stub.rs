//! Temporary.
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{DrivingRetry, Job, ModelChoice, Task};

/// Plan
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// n
    pub job_name: String,
    /// n
    pub job: Job,
    /// n
    pub tasks: BTreeMap<String, Task>,
    /// n
    pub models: BTreeMap<String, String>,
    /// n
    pub driving_session_retries: Vec<DrivingRetry>,
}
impl Plan {
    /// m
    pub fn model_of(&self, task: &str, model_override: Option<&ModelChoice>) -> String {
        let own = self.tasks.get(task).and_then(|task| task.model.as_ref());
        match model_override.or(own) {
            Some(ModelChoice::Category(category)) => self.models.get(category).cloned().unwrap_or_default(),
            Some(ModelChoice::Id(id)) => id.clone(),
            None => self.models.get("driving").cloned().unwrap_or_default(),
        }
    }
}
/// v
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct RuntimeVariables {
    pub user_input: Option<String>,
    pub task_model: Option<String>,
    pub reported_document: Option<String>,
    pub reported_true_reason: Option<String>,
    pub reported_false_reason: Option<String>,
    pub gate_note: Option<String>,
}
/// e
pub fn expand_dynamic(text: &str, variables: &RuntimeVariables) -> String {
    let mut text = text.to_owned();
    for (name, value) in [
        ("user-input", &variables.user_input),
        ("gate-note", &variables.gate_note),
        ("reported-false-reason", &variables.reported_false_reason),
    ] {
        text = text.replace(&format!("${name}"), value.as_deref().filter(|v| !v.is_empty()).unwrap_or("<MISSING>"));
    }
    text
}
