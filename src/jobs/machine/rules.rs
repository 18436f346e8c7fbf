//! What a task's definition means for its run.

use crate::jobs::entry::{Command, ModelChoice, OnInterrupted, Plan, Prompt, Task};

/// Attempts at one prompt in a session of its own.
const TASK_SESSION_ATTEMPTS: usize = 5;

/// Which sessions a task uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// One that somebody has open.
    Borrowed,
    /// One for everything.
    Single,
    /// A new one for each prompt, and a driving one for each check.
    Separate,
}

/// The rules of a task.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskRules {
    /// Which sessions it uses.
    pub mode: Mode,
    /// The model of its sessions.
    pub model: String,
    /// The models of driving sessions, attempt by attempt. Never empty.
    pub driving: Vec<String>,
    /// The prompt.
    pub prompt: String,
    /// The question before it.
    pub availability: Option<String>,
    /// The checks after it.
    pub criteria: Option<CriteriaRules>,
    /// What happens after a restart.
    pub on_interrupted: OnInterrupted,
}

/// What must hold after a task.
#[derive(Clone, Debug, PartialEq)]
pub struct CriteriaRules {
    /// Tools that must have been called.
    pub tools: Vec<String>,
    /// A command that must exit as expected.
    pub command: Option<Command>,
    /// A question.
    pub condition: Option<String>,
    /// How often the agent is asked again.
    pub retry_times: u32,
    /// What it is told then.
    pub additional_prompt: Option<String>,
}

/// A checked prompt has one element.
fn text(prompt: &Prompt) -> String {
    prompt.join("\n")
}

impl TaskRules {
    /// The rules of a task within a job.
    pub fn in_job(plan: &Plan, name: &str, model_override: Option<&ModelChoice>) -> Option<Self> {
        let task = plan.tasks.get(name)?;
        let is_separate =
            task.criteria.as_ref().is_some_and(|criteria| criteria.run_condition_in_same_session == Some(false));
        let mode = if is_separate { Mode::Separate } else { Mode::Single };
        Some(Self::of(plan, task, mode, plan.model_of(name, model_override)))
    }

    /// The rules of a task in somebody's session, which has this model.
    pub fn borrowed(plan: &Plan, name: &str, model: String) -> Option<Self> {
        Some(Self::of(plan, plan.tasks.get(name)?, Mode::Borrowed, model))
    }

    fn of(plan: &Plan, task: &Task, mode: Mode, model: String) -> Self {
        let retries = plan.driving_session_retries.iter();
        let mut driving: Vec<String> = retries
            .flat_map(|retry| std::iter::repeat_n(retry.model_id.clone(), usize::try_from(retry.retries).unwrap_or(0)))
            .collect();
        if driving.is_empty() {
            driving.push(plan.models.get("driving").cloned().unwrap_or_default());
        }
        Self {
            mode,
            model,
            driving,
            prompt: text(&task.prompt),
            availability: task.availability.as_ref().and_then(|before| before.condition.as_ref()).map(text),
            criteria: task.criteria.as_ref().map(|criteria| CriteriaRules {
                tools: criteria.tool_executed.clone().unwrap_or_default(),
                command: criteria.command.clone(),
                condition: criteria.condition.as_ref().map(text),
                retry_times: criteria.failure_action.retry_times,
                additional_prompt: criteria.failure_action.additional_prompt.as_ref().map(text),
            }),
            on_interrupted: task.on_interrupted.unwrap_or_default(),
        }
    }

    /// How often one prompt is tried in sessions of this kind.
    pub fn attempts(&self, is_driving: bool) -> usize {
        if is_driving { self.driving.len() } else { TASK_SESSION_ATTEMPTS }
    }

    /// The model of a session after this many crashes. A crash may change the model of a driving session.
    pub fn model_after(&self, crashes: usize, is_driving: bool) -> &str {
        match (is_driving, crashes, self.mode) {
            (false, ..) | (true, 0, Mode::Borrowed | Mode::Single) => &self.model,
            (true, ..) => &self.driving[crashes.min(self.driving.len() - 1)],
        }
    }
}
