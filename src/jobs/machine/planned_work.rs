//! What each work of a job does.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::rules::TaskRules;
use crate::jobs::entry::{GateWork, Plan, Work};

/// What a work does.
#[derive(Clone, Debug)]
pub(super) enum PlannedWork {
    Task { name: String, rules: Arc<TaskRules> },
    Gate(GateWork),
    Nothing,
}

/// What each work and gate of a job does, by its number.
pub(super) fn planned_works(plan: &Plan) -> Vec<PlannedWork> {
    let mut works: BTreeMap<u32, PlannedWork> = BTreeMap::new();
    let mut rest = vec![&plan.job.work];
    while let Some(work) = rest.pop() {
        match work {
            Work::Ref { work_id_in_job, task_id, model_override } => {
                if let Some(rules) = TaskRules::in_job(plan, task_id, model_override.as_ref()) {
                    let planned = PlannedWork::Task { name: task_id.clone(), rules: Arc::new(rules) };
                    works.insert(*work_id_in_job, planned);
                }
            }
            Work::Seq { works } | Work::Par { works, .. } => rest.extend(works),
            Work::Loop { pre_condition, post_condition, body, .. } => {
                rest.extend(pre_condition.iter().chain(post_condition).map(|(_, work)| work.as_ref()));
                rest.push(body);
            }
            Work::Alt { condition, true_work, false_work } => {
                rest.push(condition);
                rest.extend(true_work.iter().chain(false_work).map(AsRef::as_ref));
            }
            Work::Gate(gate) => {
                works.insert(gate.work_id_in_job, PlannedWork::Gate(gate.clone()));
                rest.extend(gate.on_reject.iter().map(AsRef::as_ref));
            }
        }
    }
    let size = works.keys().next_back().map_or(0, |last| last + 1);
    (0..size).map(|work_id| works.remove(&work_id).unwrap_or(PlannedWork::Nothing)).collect()
}
