//! The server is killed at every commit of a job that uses every kind of work, and the end is the same.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::world::{World, ended, finished, plan, reference};
use crate::jobs::entry::Plan;
use crate::jobs::entry::Work;
use crate::jobs::machine::tree::tests::{Oracle, any_work, numbered, run};
use crate::jobs::record::{Record, TurnEnd, TurnVerdict};
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
fn script(name: &str, _: usize, turn: usize) -> TurnEnd {
    match (name, turn) {
        ("single", 0 | 2) | ("plain" | "ask", _) | ("separate", 1) => finished(&[], &[]),
        ("single", 1) => finished(&[], &[("job_boolean_false", "not yet")]),
        ("no" | "judge", _) => finished(&[], &[("job_boolean_false", "no")]),
        _ => finished(&[], &[("job_boolean_true", "yes")]),
    }
}

fn world() -> World {
    let mut world = World::new(every_kind(), script);
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

    #[test]
    fn any_tree_with_any_kills_comes_out_as_the_reference_says(
        work in any_work(),
        outcomes in proptest::collection::vec(any::<bool>(), 1..20),
        order in proptest::collection::vec((0_usize..7, 0_u8..6), 1..60),
    ) {
        let work = numbered(work);
        let mut oracle = Oracle::new(outcomes.clone());
        let expected = run(&work, &mut oracle);
        let tasks: serde_json::Map<String, Value> = works_of(&work)
            .into_iter()
            .map(|work_id| (format!("t{work_id}"), json!({ "prompt": ["go"], "requireUserInput": false })))
            .collect();
        let named = named(work);
        let plan = plan(&Value::Object(tasks), &serde_json::to_value(named).expect("plain values"));
        let mut world = World::new(plan, move |name, run, _| {
            let work_id: u32 = name[1..].parse().expect("a number");
            if Oracle::outcome(&outcomes, work_id, run + 1) { finished(&[], &[]) } else { ended(TurnVerdict::Stopped) }
        });
        world.give(crate::jobs::machine::Input::Begin);
        for (which, fate) in order {
            match fate {
                0 => {
                    world.begin_everything();
                    world.kill();
                }
                _ => if !world.work(which) { break },
            }
        }
        world.run_in_order();
        match expected {
            Some(succeeded) => {
                let status = if succeeded { JobStatus::Succeeded } else { JobStatus::Failed };
                prop_assert_eq!(world.machine.status(), status);
                let mut runs = std::collections::BTreeMap::new();
                for (work_id, _) in world.ended_works() {
                    *runs.entry(work_id).or_insert(0) += 1;
                }
                prop_assert_eq!(runs, oracle.runs);
            }
            None => prop_assert!(world.machine.error().is_some_and(|error| error.contains("passes"))),
        }
    }
}

fn works_of(work: &Work) -> Vec<u32> {
    work.nodes().iter().map(|node| node.work_id()).collect()
}

/// The same tree, with a task of its own for each work.
fn named(mut work: Work) -> Work {
    fn name(work: &mut Work) {
        match work {
            Work::Ref { work_id_in_job, task_id, .. } => *task_id = format!("t{work_id_in_job}"),
            Work::Seq { works } | Work::Par { works, .. } => works.iter_mut().for_each(name),
            Work::Loop { pre_condition, post_condition, body, .. } => {
                pre_condition.iter_mut().chain(post_condition).for_each(|(_, work)| name(work));
                name(body);
            }
            Work::Alt { condition, true_work, false_work } => {
                name(condition);
                true_work.iter_mut().chain(false_work).for_each(|work| name(work));
            }
            Work::Gate(gate) => gate.on_reject.iter_mut().for_each(|work| name(work)),
        }
    }
    name(&mut work);
    work
}
