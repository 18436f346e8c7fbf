//! The types of an entry, as they are written in JSON. The format is the original portal's; what it does not have is
//! optional.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::{PermissionMode, PermissionRule, SessionBudget};

/// How long a command of a criterion may take unless it says otherwise.
pub const DEFAULT_COMMAND_TIMEOUT: Duration = Duration::from_mins(10);
/// The most passes of a loop unless it says otherwise.
pub const DEFAULT_MAX_PASSES: u32 = 20;

/// A prompt, line by line. A checked entry has all of it, with its variables expanded, in one element.
pub type Prompt = Vec<String>;

/// Definitions of tasks and jobs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Entry {
    /// The address of the JSON Schema, for editors.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// Models by category. `driving` must be there. The model `default` is the one that a new session would get.
    pub models: BTreeMap<String, String>,
    /// The models that a driving session is tried on after crashes, in order.
    #[serde(default)]
    pub driving_session_retries: Vec<DrivingRetry>,
    /// Texts that prompts refer to as `$name`.
    #[serde(default)]
    pub prompt_variables: BTreeMap<String, Prompt>,
    /// Tasks by name.
    pub tasks: BTreeMap<String, Task>,
    /// Jobs by name.
    #[serde(default)]
    pub jobs: BTreeMap<String, Job>,
    /// The jobs as the page shows them.
    #[serde(default)]
    pub grid: Vec<GridRow>,
}

/// How often a driving session is tried on a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DrivingRetry {
    /// The model.
    pub model_id: String,
    /// How often.
    pub retries: u32,
}

/// A row of the grid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GridRow {
    /// What the jobs of the row have in common.
    pub keyword: String,
    /// The jobs; `null` for an empty cell.
    pub jobs: Vec<Option<GridJob>>,
}

/// A job in the grid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GridJob {
    /// What the page shows.
    pub name: String,
    /// The job.
    pub job_name: String,
}

/// A model, by category or by id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ModelChoice {
    /// A key of [`Entry::models`].
    Category(String),
    /// The model itself.
    Id(String),
}

/// One prompt with checks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Task {
    /// The model; absent for `models.driving`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelChoice>,
    /// What the agent is asked to do.
    pub prompt: Prompt,
    /// Whether the prompt uses `$user-input`.
    #[serde(default)]
    pub require_user_input: bool,
    /// What must hold before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub availability: Option<Availability>,
    /// What must hold afterwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criteria: Option<Criteria>,
    /// What its sessions may do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permissions: Option<TaskPermissions>,
    /// The runtime of its sessions; absent for the configured one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    /// Reasoning effort.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// How long a turn may take, such as `30m`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
    /// Limits of each of its sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<SessionBudget>,
    /// MCP servers of its sessions, as in a session's options.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub mcp_servers: Map<String, Value>,
    /// What happens when the server was stopped or killed while the agent worked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_interrupted: Option<OnInterrupted>,
}

impl Task {
    /// How long a turn may take; `None` for the configured limit.
    pub fn turn_timeout(&self) -> Option<Duration> {
        duration(self.timeout.as_deref())
    }

    /// Whether each check and each prompt has a session of its own.
    pub fn is_separate(&self) -> bool {
        self.criteria.as_ref().is_some_and(|criteria| criteria.run_condition_in_same_session == Some(false))
    }
}

/// The check has refused texts that are not durations.
fn duration(text: Option<&str>) -> Option<Duration> {
    text.and_then(|text| humantime::parse_duration(text).ok())
}

/// What must hold before a task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Availability {
    /// A question to the driving session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<Prompt>,
}

/// What must hold after a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Criteria {
    /// Tools that the agent must have called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_executed: Option<Vec<String>>,
    /// A question to the driving session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<Prompt>,
    /// Whether the task's own session answers the question; absent for yes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_condition_in_same_session: Option<bool>,
    /// What happens when something does not hold.
    pub failure_action: FailureAction,
    /// A command that must exit as expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Command>,
}

/// What happens when a criterion does not hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FailureAction {
    /// How often the agent is asked again.
    pub retry_times: u32,
    /// What it is told then, beside the original prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub additional_prompt: Option<Prompt>,
}

/// A command that checks the work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Command {
    /// Program and arguments, started without a shell in the working directory.
    pub run: Vec<String>,
    /// The exit code that it must have; absent for 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect_exit: Option<i32>,
    /// How long it may take, such as `10m`; absent for 10 minutes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
}

impl Command {
    /// How long it may take.
    pub fn time_limit(&self) -> Duration {
        duration(self.timeout.as_deref()).unwrap_or(DEFAULT_COMMAND_TIMEOUT)
    }

    /// The exit code that it must have.
    pub fn expected_exit(&self) -> i32 {
        self.expect_exit.unwrap_or_default()
    }
}

/// What the sessions of a task may do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskPermissions {
    /// For what no rule covers; absent for `folder`: files in the working directory, and nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<PermissionMode>,
    /// In order of precedence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<PermissionRule>,
}

/// What happens to a task whose turn was cut off by a restart of the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnInterrupted {
    /// The agent is asked to check what is done and to finish.
    #[default]
    Continue,
    /// A person decides.
    Ask,
    /// The task fails.
    Fail,
}

/// A job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Job {
    /// Whether a task of it uses `$user-input`. Filled in by the check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub require_user_input: Option<bool>,
    /// What it does.
    pub work: Work,
}

/// A node of a job's tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Work {
    /// A task.
    Ref {
        /// Its number in the job. Filled in by the check.
        #[serde(default)]
        work_id_in_job: u32,
        /// The task's name.
        task_id: String,
        /// A model for this use of the task.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model_override: Option<ModelChoice>,
    },
    /// One after the other, until one fails.
    Seq {
        /// What.
        works: Vec<Work>,
    },
    /// At the same time.
    Par {
        /// What.
        works: Vec<Work>,
        /// How many at the same time; absent for all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_parallel: Option<u32>,
    },
    /// Again and again.
    Loop {
        /// Before each pass: the loop is over if the work does not come out like this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pre_condition: Option<(bool, Box<Work>)>,
        /// After each pass: another pass if the work comes out like this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        post_condition: Option<(bool, Box<Work>)>,
        /// A pass.
        body: Box<Work>,
        /// The most passes; absent for 20.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_passes: Option<u32>,
    },
    /// One of two.
    Alt {
        /// What decides.
        condition: Box<Work>,
        /// If it succeeded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        true_work: Option<Box<Work>>,
        /// If it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        false_work: Option<Box<Work>>,
    },
    /// A person approves.
    Gate(GateWork),
}

/// A place where a person decides whether the job goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GateWork {
    /// Its number in the job. Filled in by the check.
    #[serde(default)]
    pub work_id_in_job: u32,
    /// What is decided, in one line.
    pub title: String,
    /// More about it, as Markdown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<Prompt>,
    /// What runs when the person rejects; without it the gate fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_reject: Option<Box<Work>>,
    /// After `onReject`, works are done again from this position in the same Seq on; absent: the gate asks again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redo_from: Option<usize>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_left_out_has_a_default() {
        let command = |json| serde_json::from_value::<Command>(json).expect("a command");
        let plain = command(json!({ "run": ["x"] }));
        assert_eq!((plain.expected_exit(), plain.time_limit()), (0, DEFAULT_COMMAND_TIMEOUT));
        let full = command(json!({ "run": ["x"], "expectExit": 3, "timeout": "90s" }));
        assert_eq!((full.expected_exit(), full.time_limit()), (3, Duration::from_secs(90)));
        let task = |criteria| {
            let json = json!({ "prompt": ["x"], "requireUserInput": false, "timeout": "1h", "criteria": criteria });
            serde_json::from_value::<Task>(json).expect("a task")
        };
        let criteria = json!({ "failureAction": { "retryTimes": 0 }, "runConditionInSameSession": false });
        assert!(task(criteria).is_separate());
        assert!(!task(json!({ "failureAction": { "retryTimes": 0 } })).is_separate());
        assert!(!task(json!(null)).is_separate());
        assert_eq!(task(json!(null)).turn_timeout(), Some(Duration::from_hours(1)));
    }

    #[test]
    fn works_keep_the_form_of_the_portal() {
        let json = json!({ "kind": "Loop", "preCondition": [true, { "kind": "Ref", "workIdInJob": 0, "taskId": "a" }],
            "body": { "kind": "Gate", "workIdInJob": 1, "title": "Go?" } });
        let work: Work = serde_json::from_value(json.clone()).expect("a work");
        assert_eq!(serde_json::to_value(work).expect("JSON"), json);
    }
}
