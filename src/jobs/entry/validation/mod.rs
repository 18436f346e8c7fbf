//! The check of an entry: every problem that it has, in a fixed order.

mod model;
mod task;
#[cfg(test)]
mod tests;
mod work;

use std::collections::BTreeMap;

use super::checked::CheckedEntry;
use super::problem::{Problem, named, quoted};
use super::prompt::{self, Expander};
use super::work_tree::{flattened, number};
use super::{Entry, Job, Prompt, Task, WorkNode};
pub use model::{AvailableModel, DEFAULT_MODEL, check_models};

/// Where every path begins.
const ROOT: &str = "entry";
/// The category whose model drives.
const DRIVING: &str = "driving";

/// Checks an entry and completes it: prompts are expanded, nested Seqs and Pars merged, works numbered. The problems
/// are all that there are, and at least one of them is an error.
pub fn check(mut entry: Entry) -> Result<CheckedEntry, Vec<Problem>> {
    let mut problems = Vec::new();
    check_models_and_grid(&entry, &mut problems);
    let mut expander = Expander::new(&entry.prompt_variables);
    for (name, task) in &mut entry.tasks {
        task::check_task(&named("entry.tasks", name), task, &entry.models, &mut expander, &mut problems);
    }
    for (name, job) in &mut entry.jobs {
        let path = named("entry.jobs", name);
        work::check_work(
            format!("{path}.work"),
            &mut job.work,
            &entry.tasks,
            &entry.models,
            &mut expander,
            &mut problems,
        );
        check_user_input(&path, job, &entry.tasks, &mut problems);
    }
    check_names(&entry, &mut problems);
    check_variables(&entry.prompt_variables, &mut problems);
    if problems.iter().any(Problem::is_error) {
        return Err(problems);
    }
    for job in entry.jobs.values_mut() {
        let work = std::mem::replace(&mut job.work, super::Work::Seq { works: Vec::new() });
        job.work = flattened(work);
        number(&mut job.work);
    }
    Ok(CheckedEntry::new(entry, problems))
}

fn check_models_and_grid(entry: &Entry, problems: &mut Vec<Problem>) {
    let mut error = |path: String, message: String| problems.push(Problem::error(path, message));
    let driving = entry.models.get(DRIVING);
    if driving.is_none() {
        error(format!("{ROOT}.models.{DRIVING}"), "Should exist.".to_owned());
    }
    for (category, _) in entry.models.iter().filter(|(_, model)| model.trim().is_empty()) {
        error(named("entry.models", category), "Should not be empty.".to_owned());
    }
    let retries = format!("{ROOT}.drivingSessionRetries");
    match entry.driving_session_retries.first() {
        None => error(retries, "Should contain at least one item.".to_owned()),
        Some(first) if driving.is_some_and(|driving| *driving != first.model_id) => {
            error(retries, "The first modelId should equal to entry.models.driving.".to_owned());
        }
        Some(_) => {}
    }
    for (row, cells) in entry.grid.iter().enumerate() {
        for (column, cell) in cells.jobs.iter().enumerate() {
            if let Some(cell) = cell.as_ref().filter(|cell| !entry.jobs.contains_key(&cell.job_name)) {
                let path = format!("{ROOT}.grid[{row}].jobs[{column}].jobName");
                error(path, format!("{} is not a valid job name.", quoted(&cell.job_name)));
            }
        }
    }
}

/// Fills in whether a job needs the person's input.
fn check_user_input(path: &str, job: &mut Job, tasks: &BTreeMap<String, Task>, problems: &mut Vec<Problem>) {
    let asks = |node: &WorkNode<'_>| match node {
        WorkNode::Task { task, .. } => tasks.get(*task).is_some_and(|task| task.require_user_input),
        WorkNode::Gate(_) => false,
    };
    let required = job.work.nodes().iter().any(asks);
    if let Some(written) = job.require_user_input.replace(required).filter(|written| *written != required) {
        let message = format!("Should be {required} but is {written}.");
        problems.push(Problem::error(format!("{path}.requireUserInput"), message));
    }
}

fn check_names(entry: &Entry, problems: &mut Vec<Problem>) {
    let empty = [("entry.tasks", entry.tasks.contains_key("")), ("entry.jobs", entry.jobs.contains_key(""))];
    for (path, _) in empty.into_iter().filter(|(_, is_there)| *is_there) {
        problems.push(Problem::error(named(path, ""), "The name should not be empty."));
    }
}

fn check_variables(variables: &BTreeMap<String, Prompt>, problems: &mut Vec<Problem>) {
    for name in variables.keys() {
        let path = named("entry.promptVariables", name);
        let written = format!("${name}");
        if prompt::is_runtime_variable(name) {
            let message = format!("Has no effect because {written} is a runtime variable.");
            problems.push(Problem::warning(path, message));
        } else if prompt::variables_in(&written).ne([name.as_str()]) {
            let message = "Cannot be used in a prompt: names are letters in parts joined by single hyphens.";
            problems.push(Problem::warning(path, message));
        }
    }
}
