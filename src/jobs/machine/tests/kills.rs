//! The server is killed at every commit of a job that uses every kind of work, and the end is the same.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::world::{Script, World, finished, plan, reference};
use crate::jobs::entry::Plan;
use crate::jobs::record::Record;
use crate::model::JobStatus;

fn every_kind() -> Plan {
    let condition = |separate: bool| {
        json!({
            "condition": ["job_boolean_true"], "runConditionInSameSession": !separate, "command": { "run": ["check"] },
            "failureAction": { "retryTimes": 3 },
        })
    };
    let tasks = json!({
        "plain": { "prompt": ["plain"], "requireUserInput": false },
        "single": { "prompt": ["single"], "requireUserInput": false, "criteria": condition(false) },
        "separate": {
            "prompt": ["separate"], "requireUserInput": false, "criteria": condition(true),
            "availability": { "condition": ["job_boolean_true"] },
        },
        "judge": { "prompt": ["judge"], "requireUserInput": false, "criteria": condition(true) },
        "ask": { "prompt": ["ask"], "requireUserInput": false, "onInterrupted": "ask" },
        "no": { "prompt": ["no"], "requireUserInput": false, "availability": { "condition": ["job_boolean_true"] } },
    });
    let gate = json!({
        "kind": "Gate", "workIdInJob": 4, "title": "Go on?", "redoFrom": 1, "onReject": reference(5, "plain"),
    });
    let work = json!({ "kind": "Seq", "works": [
        reference(0, "single"),
        { "kind": "Par", "works": [reference(1, "plain"), reference(2, "separate"), reference(3, "ask")], "maxParallel": 2 },
        gate,
        { "kind": "Loop", "preCondition": [false, reference(6, "no")], "postCondition": [true, reference(7, "judge")],
          "body": reference(8, "plain"), "maxPasses": 1 },
        { "kind": "Alt", "condition": reference(9, "no"), "trueWork": reference(10, "plain"), "falseWork": reference(11, "ask") },
    ] });
    plan(&tasks, &work)
}

/// The judge fails for good, so that the loop ends.
const SCRIPT: Script = |name, _, turn| match (name, turn) {
    ("single", 0 | 2) | ("plain" | "ask", _) | ("separate", 1) => finished(&[], &[]),
    ("single", 1) => finished(&[], &[("job_boolean_false", "not yet")]),
    ("no" | "judge", _) => finished(&[], &[("job_boolean_false", "no")]),
    _ => finished(&[], &[("job_boolean_true", "yes")]),
};

fn world() -> World {
    let mut world = World::new(every_kind(), SCRIPT);
    world.answers = vec![false, true];
    world
}

/// What must be the same: how each work came out, run by run, and every decision of a person.
fn essence(world: &World) -> Value {
    let mut works = world.ended_works();
    works.sort_unstable();
    let answers: Vec<bool> = world
        .log
        .iter()
        .filter_map(|record| match record {
            Record::WaitingAnswered { waiting_id, approved, .. } if waiting_id.starts_with("gate") => Some(*approved),
            _ => None,
        })
        .collect();
    json!({ "status": world.machine.status().as_str(), "works": works, "gates": answers })
}

#[test]
fn a_kill_at_any_commit_changes_nothing_of_the_end() {
    let mut undisturbed = world();
    undisturbed.run_in_order();
    assert_eq!(undisturbed.machine.status(), JobStatus::Succeeded, "{:#?}", undisturbed.decisions());
    let expected = essence(&undisturbed);
    let mut kills = 0;
    loop {
        let mut world = world();
        world.give(crate::jobs::machine::Input::Begin);
        let mut is_over = false;
        for _ in 0..kills {
            if !world.work(0) && !world.answer() {
                is_over = true;
                break;
            }
        }
        if kills % 2 == 1 {
            world.begin_everything();
        }
        world.kill();
        world.run_in_order();
        assert_eq!(essence(&world), expected, "killed after step {kills}: {:#?}", world.log);
        if is_over {
            break;
        }
        kills += 1;
    }
    assert!(kills > 60, "{kills} commits");
}

proptest! {
    #[test]
    fn any_interleaving_with_any_kills_ends_the_same(
        order in proptest::collection::vec((0_usize..7, 0_u8..8), 1..200),
    ) {
        let mut undisturbed = world();
        undisturbed.run_in_order();
        let mut world = world();
        world.give(crate::jobs::machine::Input::Begin);
        for (which, fate) in order {
            match fate {
                0 => world.kill(),
                1 => {
                    world.begin_everything();
                    world.kill();
                }
                2 => world.begin_everything(),
                _ => if !world.work(which) && !world.answer() { break },
            }
        }
        world.run_in_order();
        prop_assert_eq!(essence(&world), essence(&undisturbed));
    }
}
