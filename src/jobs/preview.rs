//! A dry run: what a job would do, without starting anything.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::chart::{ChartNode, chart};
use super::entry::{Command, DEFAULT_MODEL, GateWork, Plan, RuntimeVariables, Task, Work, WorkNode, expand_known};
use super::outside::permissions;
use crate::agent::Model;
use crate::model::PermissionPolicy;

/// What a job would do.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Preview {
    /// The job's name.
    pub job_name: String,
    /// Where it would work.
    pub working_directory: String,
    /// What the user gave.
    pub user_input: String,
    /// Whether it needs that.
    pub require_user_input: bool,
    /// Its chart.
    pub chart: Vec<ChartNode>,
    /// Its tree.
    pub work: Work,
    /// Its tasks and gates, in the order of their numbers.
    pub works: Vec<PreviewWork>,
    /// What may go wrong.
    pub warnings: Vec<String>,
}

/// A task or gate of a job.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PreviewWork {
    /// Its number in the job.
    pub work_id: u32,
    /// The task's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_name: Option<String>,
    /// The gate's title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<String>,
    /// The model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The runtime, if the task names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    /// `single` or `separate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<&'static str>,
    /// The prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The question before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub availability: Option<String>,
    /// The checks after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub criteria: Option<PreviewCriteria>,
    /// What its sessions may do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permissions: Option<PermissionPolicy>,
    /// How long a turn may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
}

/// The checks after a task.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PreviewCriteria {
    /// Tools that must be called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_executed: Option<Vec<String>>,
    /// The question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// The command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<Command>,
    /// How often the agent is asked again.
    pub retry_times: u32,
}

/// What a job would do. What is known before it runs is expanded in its prompts.
pub(super) fn preview(plan: &Plan, folder: &Path, user_input: &str, available: &[Model]) -> Preview {
    let mut warnings = Vec::new();
    if plan.requires_user_input() && user_input.trim().is_empty() {
        warnings.push("The job needs user input; none was given.".to_owned());
    }
    if !plan.requires_user_input() && !user_input.trim().is_empty() {
        warnings.push("The job takes no user input; it would be refused.".to_owned());
    }
    let mut works = Vec::new();
    for node in plan.works() {
        match node {
            WorkNode::Task { work_id, task, model_override } => {
                let model = plan.model_of(task, model_override);
                let is_known =
                    model == DEFAULT_MODEL || available.is_empty() || available.iter().any(|known| known.id == model);
                if !is_known {
                    warnings.push(format!("No agent that is ready offers the model {model:?} of the task {task:?}."));
                }
                if let Some(definition) = plan.tasks.get(task) {
                    works.push(task_preview(work_id, task, definition, model, user_input));
                }
            }
            WorkNode::Gate(GateWork { work_id_in_job, title, prompt, .. }) => works.push(PreviewWork {
                work_id: *work_id_in_job,
                gate: Some(title.clone()),
                prompt: prompt.as_ref().map(|lines| lines.join("\n")),
                ..PreviewWork::default()
            }),
        }
    }
    warnings.sort();
    warnings.dedup();
    Preview {
        job_name: plan.job_name.clone(),
        working_directory: folder.to_string_lossy().into_owned(),
        user_input: user_input.to_owned(),
        require_user_input: plan.requires_user_input(),
        chart: chart(&plan.job.work),
        work: plan.job.work.clone(),
        works,
        warnings,
    }
}

fn task_preview(work_id: u32, name: &str, task: &Task, model: String, user_input: &str) -> PreviewWork {
    let variables = RuntimeVariables {
        user_input: Some(user_input.to_owned()).filter(|input| !input.is_empty()),
        task_model: Some(model.clone()),
        ..RuntimeVariables::default()
    };
    let text = |prompt: &Vec<String>| expand_known(&prompt.join("\n"), &variables);
    let criteria = task.criteria.as_ref();
    let is_separate = criteria.is_some_and(|criteria| criteria.run_condition_in_same_session == Some(false));
    PreviewWork {
        work_id,
        task_name: Some(name.to_owned()),
        gate: None,
        model: Some(model),
        runtime: task.runtime.clone(),
        mode: Some(if is_separate { "separate" } else { "single" }),
        prompt: Some(text(&task.prompt)),
        availability: task.availability.as_ref().and_then(|before| before.condition.as_ref()).map(text),
        criteria: criteria.map(|criteria| PreviewCriteria {
            tool_executed: criteria.tool_executed.clone(),
            condition: criteria.condition.as_ref().map(text),
            command: criteria.command.clone(),
            retry_times: criteria.failure_action.retry_times,
        }),
        permissions: Some(permissions(task)),
        timeout: task.timeout.clone(),
    }
}
