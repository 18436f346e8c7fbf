//! Sessions that crash.

use serde_json::json;

use super::world::{World, ended, finished, plan, reference};
use crate::jobs::record::TurnVerdict;
use crate::model::JobStatus;

fn models(world: &World) -> Vec<String> {
    world.models().into_iter().map(|(model, _)| model).collect()
}

#[test]
fn a_driving_session_is_tried_again_on_the_models_of_the_entry_and_then_the_job_ends() {
    let tasks = json!({ "t": { "prompt": ["go"], "requireUserInput": false, "model": { "category": "coding" } } });
    let mut world = World::new(plan(&tasks, &reference(0, "t")), |_, _, _| ended(TurnVerdict::Crashed));
    world.run_in_order();
    assert_eq!(models(&world), ["coder", "driver", "second"]);
    let again = "The session crashed, please redo and here is the last request:\ngo";
    assert_eq!(world.prompts(), ["go", again, again]);
    assert_eq!(
        world.last_callbacks(6),
        ["taskSessionStopped", "taskFailed", "taskError", "workStopped", "jobFailed", "jobError"]
    );
    assert_eq!(world.machine.error(), Some("The task \"t\" could not be done: the agent is gone"));
}

#[test]
fn the_attempts_are_counted_for_each_prompt() {
    let criteria = json!({ "condition": ["job_boolean_true"], "failureAction": { "retryTimes": 0 } });
    let tasks = json!({ "t": { "prompt": ["go"], "requireUserInput": false, "criteria": criteria } });
    let script = |_: &str, _, turn| match turn {
        0 | 1 | 3 | 4 => ended(TurnVerdict::Crashed),
        _ => finished(&[], &[("job_boolean_true", "yes")]),
    };
    let mut world = World::new(plan(&tasks, &reference(0, "t")), script);
    world.run_in_order();
    assert_eq!(world.machine.status(), JobStatus::Succeeded);
    assert_eq!(models(&world), ["driver", "driver", "second", "driver", "second"]);
}

#[test]
fn a_task_session_has_five_attempts_on_its_model_and_then_the_task_fails() {
    let criteria = json!({
        "condition": ["job_boolean_true"], "runConditionInSameSession": false, "failureAction": { "retryTimes": 1 },
    });
    let tasks = json!({
        "t": { "prompt": ["go"], "requireUserInput": false, "criteria": criteria, "model": { "id": "mine" } },
    });
    let mut world = World::new(plan(&tasks, &reference(0, "t")), |_, _, _| ended(TurnVerdict::Crashed));
    world.run_in_order();
    assert_eq!(models(&world), ["mine"; 5]);
    assert_eq!(world.last_callbacks(4), ["taskSessionStopped", "taskFailed", "workStopped", "jobFailed"]);
    assert_eq!(world.machine.error(), None, "a failed task is a value");
}

#[test]
fn a_crash_that_uses_up_a_retry_is_a_failed_iteration() {
    let criteria = json!({
        "condition": ["job_boolean_true"], "runConditionInSameSession": false, "failureAction": { "retryTimes": 2 },
    });
    let tasks = json!({ "t": { "prompt": ["go"], "requireUserInput": false, "criteria": criteria } });
    let script = |_: &str, _, turn| match turn {
        0 | 7 => finished(&[], &[]),
        1 => finished(&[], &[("job_boolean_false", "no")]),
        2..=6 => ended(TurnVerdict::Crashed),
        _ => finished(&[], &[("job_boolean_true", "yes")]),
    };
    let mut world = World::new(plan(&tasks, &reference(0, "t")), script);
    world.run_in_order();
    assert_eq!(world.machine.status(), JobStatus::Succeeded, "{:#?}", world.decisions());
}

#[test]
fn what_cannot_work_is_not_tried_again_with_the_same_model() {
    let tasks = json!({ "t": { "prompt": ["go"], "requireUserInput": false } });
    let mut world = World::new(plan(&tasks, &reference(0, "t")), |_, _, _| ended(TurnVerdict::Impossible));
    world.run_in_order();
    assert_eq!(
        (models(&world), world.machine.status()),
        (vec!["driver".to_owned(), "second".to_owned()], JobStatus::Failed)
    );
    let tasks = json!({ "t": { "prompt": ["go"], "requireUserInput": false, "model": { "id": "unknown" } } });
    let mut world = World::new(plan(&tasks, &reference(0, "t")), |_, _, turn| {
        if turn == 0 { ended(TurnVerdict::Impossible) } else { finished(&[], &[]) }
    });
    world.run_in_order();
    assert_eq!(
        (models(&world), world.machine.status()),
        (vec!["unknown".to_owned(), "driver".to_owned()], JobStatus::Succeeded)
    );
}

#[test]
fn the_crash_of_one_task_ends_the_others() {
    let tasks = json!({
        "good": { "prompt": ["go"], "requireUserInput": false },
        "bad": { "prompt": ["go"], "requireUserInput": false },
    });
    let work = json!({ "kind": "Par", "works": [reference(0, "good"), reference(1, "bad")] });
    let mut world = World::new(plan(&tasks, &work), |name, _, _| {
        if name == "bad" { ended(TurnVerdict::Impossible) } else { finished(&[], &[]) }
    });
    world.run([0, 1].into_iter().chain(std::iter::repeat(1)));
    assert_eq!(world.last_callbacks(2), ["jobFailed", "jobError"]);
    assert_eq!(world.closed.len(), 3, "that of the good task and both attempts of the bad one");
    assert_eq!(world.ended_works(), [(1, false)]);
}
