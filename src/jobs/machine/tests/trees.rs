//! Whole jobs: gates, loops, stops and retries.

use serde_json::json;

use super::world::{World, ended, finished, plan, reference};
use crate::jobs::machine::{Input, Refused};
use crate::jobs::record::{Record, TurnVerdict};
use crate::model::{AnsweredBy, JobStatus, TaskId};

fn tasks() -> serde_json::Value {
    json!({
        "a": { "prompt": ["a"], "requireUserInput": false },
        "b": { "prompt": ["b $gate-note"], "requireUserInput": false },
        "fix": { "prompt": ["fix $gate-note"], "requireUserInput": false },
    })
}

fn refuse(world: &mut World, input: Input) -> Refused {
    world.machine.step(input, &mut || TaskId::from_number(99)).expect_err("refused")
}

#[test]
fn a_rejected_gate_runs_its_rework_with_the_note_and_asks_again() {
    let gate = json!({
        "kind": "Gate", "workIdInJob": 2, "title": "Ship it?", "redoFrom": 1, "onReject": reference(3, "fix"),
    });
    let work = json!({ "kind": "Seq", "works": [reference(0, "a"), reference(1, "b"), gate, reference(4, "a")] });
    let mut world = World::new(plan(&tasks(), &work), |_, _, _| finished(&[], &[]));
    world.answers = vec![false, true];
    world.run_in_order();
    assert_eq!(world.machine.status(), JobStatus::Succeeded);
    assert_eq!(world.prompts(), ["a", "b <MISSING>", "fix do it better", "b do it better", "a"]);
    let opened = world.log.iter().filter(|record| matches!(record, Record::WaitingOpened { .. })).count();
    assert_eq!(opened, 2);
}

#[test]
fn a_gate_without_rework_fails_when_it_is_rejected_and_a_closed_one_takes_no_answer() {
    let work = json!({ "kind": "Gate", "workIdInJob": 0, "title": "Ship it?" });
    let mut world = World::new(plan(&tasks(), &work), |_, _, _| finished(&[], &[]));
    world.answers = vec![false];
    world.run_in_order();
    assert_eq!(world.machine.status(), JobStatus::Failed);
    let answer = Input::Answered { waiting_id: "gate-1".to_owned(), approved: true, note: None, by: AnsweredBy::Api };
    assert_eq!(refuse(&mut world, answer), Refused::NotWaiting);
}

#[test]
fn a_stop_is_the_last_record_at_every_moment() {
    let work = json!({ "kind": "Seq", "works": [
        { "kind": "Par", "works": [reference(0, "a"), reference(1, "b")] },
        { "kind": "Gate", "workIdInJob": 2, "title": "Go on?" },
        { "kind": "Loop", "preCondition": [true, reference(3, "a")], "body": reference(4, "b") },
    ] });
    for moment in 0..40 {
        let mut world = World::new(plan(&tasks(), &work), |_, _, _| finished(&[], &[]));
        world.give(Input::Begin);
        for _ in 0..moment {
            if !world.work(0) && !world.answer() {
                break;
            }
        }
        if world.machine.status() != JobStatus::Running {
            assert_eq!(refuse(&mut world, Input::Stop), Refused::Over, "a finished job stays what it was");
            continue;
        }
        world.begin_everything();
        world.give(Input::Stop);
        assert_eq!(refuse(&mut world, Input::Stop), Refused::Over);
        let length = world.log.len();
        while world.work(0) {}
        assert_eq!(world.log.len(), length, "nothing follows");
        assert!(matches!(world.log.last(), Some(Record::JobCanceled {})));
        assert!(world.machine.is_settled());
    }
}

#[test]
fn a_retry_continues_with_what_failed() {
    let work = json!({ "kind": "Seq", "works": [reference(0, "a"), reference(1, "b"), reference(2, "a")] });
    let mut world = World::new(plan(&tasks(), &work), |name, run, _| {
        if name == "b" && run == 0 { ended(TurnVerdict::Stopped) } else { finished(&[], &[]) }
    });
    world.run_in_order();
    assert_eq!(world.machine.status(), JobStatus::Failed);
    world.give(Input::Retry);
    assert_eq!(refuse(&mut world, Input::Retry), Refused::Running);
    world.run_in_order();
    assert_eq!(world.machine.status(), JobStatus::Succeeded);
    assert_eq!(world.ended_works(), [(0, true), (1, false), (1, true), (2, true)]);
    assert_eq!(refuse(&mut world, Input::Retry), Refused::Succeeded);
}

#[test]
fn a_stopped_job_continues_too() {
    let work = json!({ "kind": "Seq", "works": [reference(0, "a"), reference(1, "b")] });
    let mut world = World::new(plan(&tasks(), &work), |_, _, _| finished(&[], &[]));
    world.give(Input::Begin);
    world.work(0);
    world.give(Input::Stop);
    while world.work(0) {}
    world.give(Input::Retry);
    world.run_in_order();
    assert_eq!(world.ended_works(), [(0, true), (1, true)]);
}

#[test]
fn a_loop_that_does_not_end_ends_the_job() {
    let work = json!({
        "kind": "Loop", "postCondition": [true, reference(0, "a")], "body": reference(1, "b"), "maxPasses": 3,
    });
    let mut world = World::new(plan(&tasks(), &work), |_, _, _| finished(&[], &[]));
    world.run_in_order();
    assert_eq!(world.machine.error(), Some("A loop did not end after 3 passes"));
    assert_eq!(world.ended_works().len(), 6);
}

#[test]
fn an_answer_is_for_what_was_shown() {
    let work = json!({ "kind": "Gate", "workIdInJob": 0, "title": "Ship it?" });
    let mut world = World::new(plan(&tasks(), &work), |_, _, _| finished(&[], &[]));
    world.give(Input::Begin);
    world.work(0);
    let (subject, first) = {
        let waiting = world.machine.waiting().next().expect("a gate");
        (waiting.subject, waiting.digest.clone())
    };
    let mut view = world.machine.waiting().next().expect("a gate").view.clone();
    view.title = "Ship something else?".to_owned();
    world.give(Input::Shown { subject, view });
    let waiting = world.machine.waiting().next().expect("still a gate");
    assert_eq!(waiting.id, "gate-1");
    assert_ne!(waiting.digest, first);
    assert_eq!(world.machine.waiting().count(), 1);
}
