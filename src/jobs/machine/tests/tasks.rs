//! One task: modes, checks, retries, reports.

use serde_json::{Value, json};

use super::world::{World, ended, finished, plan, reference};
use crate::jobs::machine::{Borrowed, Input, RunDefinition};
use crate::jobs::record::{TurnEnd, TurnVerdict};
use crate::model::{JobStatus, SessionId, TaskId, TurnActivity};

fn job(task: &Value) -> World {
    World::new(plan(&json!({ "t": task }), &reference(0, "t")), |_, _, _| finished(&[], &[]))
}

fn task(extra: &Value) -> Value {
    let mut task = json!({ "prompt": ["do $user-input"], "requireUserInput": true });
    let fields = extra.as_object().expect("fields").clone();
    task.as_object_mut().expect("a task").extend(fields);
    task
}

fn checked(criteria: &Value) -> Value {
    let mut criteria = criteria.clone();
    criteria["failureAction"] = json!({ "retryTimes": 2, "additionalPrompt": ["because $reported-false-reason"] });
    task(&json!({ "criteria": criteria }))
}

#[test]
fn a_task_without_criteria_succeeds_when_its_turn_ends() {
    let mut world = job(&task(&json!({})));
    world.run_in_order();
    assert_eq!(world.machine.status(), JobStatus::Succeeded);
    assert_eq!(world.prompts(), ["do input"]);
    assert_eq!(world.models(), [("driver".to_owned(), true)]);
    assert_eq!(
        world.decisions(),
        [
            "[SESSION STARTED] Driving session session-1 with driver",
            "[TASK SUCCEEDED] The task succeeded: the task has no criteria",
        ]
    );
    assert_eq!(world.last_callbacks(4), ["taskSessionStopped", "taskSucceeded", "workStopped", "jobSucceeded"]);
    assert_eq!(world.closed, [SessionId::from_number(1)]);
}

#[test]
fn a_failed_check_asks_again_with_everything_that_is_missing() {
    let mut world = job(&checked(&json!({
        "toolExecuted": ["job_prepare_document", "bash"],
        "condition": ["is it done? job_boolean_true"],
        "command": { "run": ["cargo", "test"] },
    })));
    world.exits = vec![101, 0];
    world.script = Box::new(|_, _, turn| match turn {
        0 => finished(&["bash"], &[]),
        1 => finished(&[], &[("job_boolean_true", "yes"), ("job_boolean_false", "no test")]),
        2 => finished(&["bash"], &[("job_prepare_document", "  a.md \nsecond line")]),
        _ => finished(&[], &[("job_boolean_true", "tests are there")]),
    });
    world.run_in_order();
    assert_eq!(world.machine.status(), JobStatus::Succeeded);
    assert_eq!(
        world.prompts(),
        [
            "do input",
            "is it done? job_boolean_true",
            "do input\n## Required Tool Not Called: job_prepare_document\n## You accidentally Stopped\nbecause no test\n\
             ## A Check Failed\n`cargo test` exited with 101, expected 0\nexit 101",
            "is it done? job_boolean_true",
        ]
    );
    let decisions = world.decisions();
    assert_eq!(
        decisions[1],
        "[CRITERIA] A check failed: required tool not called: job_prepare_document; `cargo test` exited with 101, expected 0; \
         the condition does not hold: no test"
    );
    assert_eq!(decisions[2], "[DECISION] Asking the agent again (retry 1 of 2)");
    assert_eq!(decisions[3], "[CRITERIA] All checks succeeded: tests are there");
    assert_eq!(world.models().len(), 1, "one session does everything");
}

#[test]
fn a_task_whose_checks_never_succeed_fails_after_its_retries_and_no_boolean_means_no() {
    let mut world = job(&checked(&json!({ "condition": ["job_boolean_true?"] })));
    world.run_in_order();
    assert_eq!(world.machine.status(), JobStatus::Failed);
    assert_eq!(world.prompts().len(), 6);
    let last = world.decisions().pop().expect("a decision");
    assert_eq!(last, "[TASK FAILED] The task failed: the criteria are not met after 2 retries");
    assert!(world.decisions()[1].ends_with("the agent called neither job_boolean_true nor job_boolean_false"));
}

#[test]
fn a_task_that_is_not_available_fails_with_one_decision() {
    let mut world = job(&task(&json!({ "availability": { "condition": ["can you? job_boolean_true"] } })));
    world.script = Box::new(|_, _, _| finished(&[], &[("job_boolean_false", "no plan")]));
    world.run_in_order();
    assert_eq!(world.machine.status(), JobStatus::Failed);
    assert_eq!(world.prompts(), ["can you? job_boolean_true"]);
    assert_eq!(world.decisions()[1..], ["[AVAILABILITY] The task is not available: no plan"]);
}

#[test]
fn separate_sessions_are_new_for_each_prompt_and_each_check() {
    let criteria = json!({ "condition": ["ok? job_boolean_true"], "runConditionInSameSession": false });
    let mut definition = checked(&criteria);
    definition["model"] = json!({ "category": "coding" });
    definition["availability"] = json!({ "condition": ["can you? job_boolean_true"] });
    let mut world = job(&definition);
    world.script = Box::new(|_, _, turn| match turn {
        0 | 4 => finished(&[], &[("job_boolean_true", "yes")]),
        2 => finished(&[], &[("job_boolean_false", "no")]),
        _ => finished(&[], &[]),
    });
    world.run_in_order();
    assert_eq!(world.machine.status(), JobStatus::Succeeded);
    let models: Vec<_> = world.models();
    let models: Vec<(&str, bool)> = models.iter().map(|(model, driving)| (model.as_str(), *driving)).collect();
    assert_eq!(models, [("driver", true), ("coder", false), ("driver", true), ("coder", false), ("driver", true)]);
    assert_eq!(world.closed.len(), 5);
}

#[test]
fn a_failed_prerequisite_ends_the_task_at_once() {
    let mut world = job(&checked(&json!({ "condition": ["job_boolean_true"] })));
    world.script = Box::new(|_, _, _| finished(&[], &[("job_prerequisite_failed", "there is no Cargo.toml")]));
    world.run_in_order();
    assert_eq!((world.machine.status(), world.prompts().len()), (JobStatus::Failed, 1));
    assert!(
        world.decisions().iter().any(|decision| decision.ends_with("a prerequisite failed: there is no Cargo.toml"))
    );
}

#[test]
fn what_was_denied_is_a_decision() {
    let mut world = job(&task(&json!({})));
    world.script = Box::new(|_, _, _| {
        let activity = TurnActivity { denied: vec!["shell: rm -rf x".to_owned()], ..TurnActivity::default() };
        TurnEnd { activity, ..finished(&[], &[]) }
    });
    world.run_in_order();
    assert_eq!(world.decisions()[1], "[OPERATION] Denied by the task's permissions: shell: rm -rf x");
}

#[test]
fn a_task_that_is_stopped_fails_and_its_session_is_closed() {
    let mut world = job(&task(&json!({})));
    world.give(Input::Begin);
    world.work(0);
    world.give(Input::StopTask(TaskId::from_number(1)));
    world.run_in_order();
    assert_eq!(world.machine.status(), JobStatus::Failed);
    assert_eq!(world.closed, [SessionId::from_number(1)]);
    let mut take = || TaskId::from_number(9);
    assert!(world.machine.step(Input::StopTask(TaskId::from_number(1)), &mut take).is_err());
}

#[test]
fn an_interrupted_turn_continues_waits_for_a_person_or_fails() {
    for (choice, status, prompts) in
        [("continue", JobStatus::Succeeded, 2), ("ask", JobStatus::Succeeded, 2), ("fail", JobStatus::Failed, 1)]
    {
        let mut world = job(&task(&json!({ "onInterrupted": choice })));
        world.give(Input::Begin);
        world.work(0);
        world.begin_everything();
        world.kill();
        if choice == "ask" {
            world.work(0);
            world.work(0);
            let title = world.machine.waiting().next().expect("a question").view.title.clone();
            assert_eq!(title, "Continue the task t after the restart?");
        }
        world.run_in_order();
        assert_eq!((world.machine.status(), world.prompts().len()), (status, prompts), "{choice}");
        assert_eq!(world.models().len(), 1, "the same session continues");
        if prompts == 2 {
            assert!(
                world.prompts()[1].starts_with("You were interrupted") && world.prompts()[1].ends_with("\ndo input")
            );
        }
    }
}

fn borrowed(task: &Value) -> World {
    let task_id = TaskId::from_number(1);
    let borrowed =
        Borrowed { task_id, task_name: "t".to_owned(), session: SessionId::from_number(40), model: "m".to_owned() };
    let plan = plan(&json!({ "t": task }), &reference(0, "t"));
    let definition = RunDefinition { plan: plan.into(), user_input: "input".to_owned(), borrowed: Some(borrowed) };
    World::of(definition, |_, _, _| finished(&[], &[]))
}

#[test]
fn a_borrowed_session_is_neither_checked_for_availability_nor_closed_and_its_first_decision_says_how_it_went() {
    let mut world = borrowed(&task(&json!({ "availability": { "condition": ["job_boolean_true"] } })));
    world.run_in_order();
    assert_eq!(world.machine.status(), JobStatus::Succeeded);
    assert_eq!((world.prompts(), world.closed.len()), (vec!["do input".to_owned()], 0));
    assert!(world.decisions()[0].contains("succeeded"));
    let mut world = borrowed(&checked(&json!({ "toolExecuted": ["bash"] })));
    world.run_in_order();
    assert!(world.decisions()[0].contains("failed"));
    let mut take = || TaskId::from_number(9);
    assert!(world.machine.step(Input::StopTask(TaskId::from_number(1)), &mut take).is_err());
}

#[test]
fn a_crash_in_a_borrowed_session_fails_the_task_and_says_why() {
    let mut world = borrowed(&task(&json!({})));
    world.script = Box::new(|_, _, _| ended(TurnVerdict::Crashed));
    world.run_in_order();
    assert_eq!(world.last_callbacks(2), ["taskFailed", "taskError"]);
    assert_eq!(world.machine.error(), Some("the agent is gone"));
}
