//! A checked entry, and what a job takes along from it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{DrivingRetry, Entry, Job, ModelChoice, Problem, Task, Work, WorkNode};
use crate::model::hex;

/// An entry without errors. Its prompts are expanded to one element each, its trees are flat and numbered.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedEntry {
    entry: Entry,
    warnings: Vec<Problem>,
    digest: String,
}

impl CheckedEntry {
    /// Only the check makes one.
    pub(super) fn new(entry: Entry, warnings: Vec<Problem>) -> Self {
        // An entry is made of maps with text keys, which JSON can always express.
        let bytes = serde_json::to_vec(&entry).unwrap_or_default();
        Self { digest: hex(&Sha256::digest(bytes)), entry, warnings }
    }

    /// All of it.
    pub fn entry(&self) -> &Entry {
        &self.entry
    }

    /// Tasks by name.
    pub fn tasks(&self) -> &BTreeMap<String, Task> {
        &self.entry.tasks
    }

    /// A job.
    pub fn job(&self, name: &str) -> Option<&Job> {
        self.entry.jobs.get(name)
    }

    /// Models by category.
    pub fn models(&self) -> &BTreeMap<String, String> {
        &self.entry.models
    }

    /// What its author should know of.
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    /// A text that differs for entries that differ.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// What a job needs, independent of later changes of the entry.
    pub fn plan(&self, job_name: &str) -> Option<Plan> {
        Some(self.plan_of(job_name, self.job(job_name)?.clone()))
    }

    /// What a single task needs: the plan of a job that does only this task, and has its name.
    pub fn task_plan(&self, task: &str) -> Option<Plan> {
        let require_user_input = Some(self.tasks().get(task)?.require_user_input);
        let work = Work::Ref { work_id_in_job: 0, task_id: task.to_owned(), model_override: None };
        Some(self.plan_of(task, Job { require_user_input, work }))
    }

    fn plan_of(&self, job_name: &str, job: Job) -> Plan {
        let mut tasks = BTreeMap::new();
        for node in job.work.nodes() {
            if let WorkNode::Task { task, .. } = node
                && let Some((name, task)) =
                    self.entry.tasks.get_key_value(task).filter(|(name, _)| !tasks.contains_key(*name))
            {
                tasks.insert(name.clone(), task.clone());
            }
        }
        Plan {
            job_name: job_name.to_owned(),
            job,
            tasks,
            models: self.entry.models.clone(),
            driving_session_retries: self.entry.driving_session_retries.clone(),
        }
    }
}

/// Everything of an entry that a job needs. It is stored with the job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// The job's name.
    pub job_name: String,
    /// The job.
    pub job: Job,
    /// The tasks that the job uses, by name.
    pub tasks: BTreeMap<String, Task>,
    /// Models by category.
    pub models: BTreeMap<String, String>,
    /// The models that a driving session is tried on after crashes, in order.
    pub driving_session_retries: Vec<DrivingRetry>,
}

impl Plan {
    /// Whether the job needs the person's input.
    pub fn requires_user_input(&self) -> bool {
        self.job.require_user_input == Some(true)
    }

    /// Its tasks and gates, in the order of their numbers.
    pub fn works(&self) -> impl Iterator<Item = WorkNode<'_>> {
        self.job.work.nodes().into_iter()
    }

    /// The model of a task: the override's, else the task's, else the one that drives.
    pub fn model_of(&self, task: &str, model_override: Option<&ModelChoice>) -> String {
        let choice = model_override.or_else(|| self.tasks.get(task)?.model.as_ref());
        let model = match choice {
            Some(ModelChoice::Id(id)) => Some(id),
            Some(ModelChoice::Category(category)) => self.models.get(category),
            None => None,
        };
        model.or_else(|| self.models.get("driving")).cloned().unwrap_or_else(|| super::DEFAULT_MODEL.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::jobs::entry::sample::entry_with;
    use crate::jobs::entry::validation::check;

    fn checked(work: serde_json::Value) -> CheckedEntry {
        let mut entry = entry_with("/jobs/job/work", work);
        entry.models.insert("big".to_owned(), "large".to_owned());
        let sample = entry.tasks["a"].clone();
        let task = |model| Task { model, ..sample.clone() };
        let input = Task { prompt: vec!["$user-input".to_owned()], require_user_input: true, ..task(None) };
        entry.tasks.insert("ask".to_owned(), input);
        let exact = task(Some(ModelChoice::Id("exact".to_owned())));
        entry.tasks.insert("exact".to_owned(), exact);
        check(entry).expect("a valid entry")
    }

    fn example() -> CheckedEntry {
        checked(json!({ "kind": "Seq", "works": [
            { "kind": "Ref", "taskId": "ask", "modelOverride": { "category": "big" } },
            { "kind": "Gate", "title": "Go?", "onReject": { "kind": "Ref", "taskId": "exact" } },
            { "kind": "Ref", "taskId": "a" },
        ] }))
    }

    #[test]
    fn a_plan_has_what_its_job_uses() {
        let plan = example().plan("job").expect("a plan");
        assert_eq!(plan.tasks.keys().collect::<Vec<_>>(), ["a", "ask", "exact"]);
        assert!(plan.requires_user_input());
        let works: Vec<_> = plan.works().map(|work| work.work_id()).collect();
        assert_eq!(works, [0, 1, 2, 3]);
        assert!(matches!(plan.works().nth(1), Some(WorkNode::Gate(gate)) if gate.title == "Go?"));
        assert_eq!(example().plan("other"), None);
    }

    #[test]
    fn a_stored_plan_is_the_same_plan() {
        let plan = example().plan("job").expect("a plan");
        let stored = serde_json::to_string(&plan).expect("JSON");
        assert_eq!(serde_json::from_str::<Plan>(&stored).expect("a plan"), plan);
    }

    #[test]
    fn a_model_is_the_overrides_or_the_tasks_or_the_one_that_drives() {
        let plan = example().plan("job").expect("a plan");
        let [big, id] = [ModelChoice::Category("big".to_owned()), ModelChoice::Id("own".to_owned())];
        for (task, model_override, expected) in [
            ("a", None, "small"),
            ("a", Some(&big), "large"),
            ("a", Some(&id), "own"),
            ("exact", None, "exact"),
            ("ask", None, "small"),
            ("unknown", None, "small"),
        ] {
            assert_eq!(plan.model_of(task, model_override), expected, "{task} {model_override:?}");
        }
    }

    #[test]
    fn a_single_task_has_a_plan_of_its_own() {
        let plan = example().task_plan("ask").expect("a plan");
        assert_eq!((plan.job_name.as_str(), plan.works().count(), plan.requires_user_input()), ("ask", 1, true));
        assert_eq!(plan.tasks.keys().collect::<Vec<_>>(), ["ask"]);
        assert_eq!(example().task_plan("other"), None);
    }

    #[test]
    fn entries_that_differ_have_different_digests() {
        let other = checked(json!({ "kind": "Ref", "taskId": "b" }));
        assert_eq!(example().digest(), example().digest());
        assert_ne!(example().digest(), other.digest());
        assert_eq!(other.digest().len(), 64);
    }
}
