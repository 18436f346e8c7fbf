//! Entries and works for tests.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Entry, GateWork, Work};

/// A valid entry with the tasks `a`, `b`, `c` and the job `job`, which does `a`.
pub(crate) fn entry_json() -> Value {
    let task =
        |prompt: &str| json!({ "model": { "category": "driving" }, "prompt": [prompt], "requireUserInput": false });
    json!({
        "models": { "driving": "small" },
        "drivingSessionRetries": [{ "modelId": "small", "retries": 3 }],
        "promptVariables": {},
        "tasks": { "a": task("Do a."), "b": task("Do b."), "c": task("Do c.") },
        "jobs": { "job": { "work": { "kind": "Ref", "taskId": "a" } } },
        "grid": [{ "keyword": "all", "jobs": [null, { "name": "do", "jobName": "job" }] }]
    })
}

/// The sample with something else in one place.
pub(crate) fn entry_with(pointer: &str, value: Value) -> Entry {
    serde_json::from_value(json_with(pointer, value)).expect("an entry")
}

/// The JSON of the sample with something else in one place. The parent of the place must be there.
pub(crate) fn json_with(pointer: &str, value: Value) -> Value {
    let mut entry = entry_json();
    let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
    let parent = entry.pointer_mut(parent).expect("the parent");
    match parent {
        Value::Object(fields) => drop(fields.insert(name.to_owned(), value)),
        Value::Array(items) => items[name.parse::<usize>().expect("a position")] = value,
        other => panic!("{other} has nothing in it"),
    }
    entry
}

pub(crate) fn reference(task: &str) -> Work {
    Work::Ref { work_id_in_job: 0, task_id: task.to_owned(), model_override: None }
}

pub(crate) fn seq(works: impl IntoIterator<Item = Work>) -> Work {
    Work::Seq { works: works.into_iter().collect() }
}

pub(crate) fn par(works: impl IntoIterator<Item = Work>) -> Work {
    Work::Par { works: works.into_iter().collect(), max_parallel: None }
}

pub(crate) fn gate(title: &str) -> Work {
    Work::Gate(GateWork { work_id_in_job: 0, title: title.to_owned(), prompt: None, on_reject: None, redo_from: None })
}

/// Any tree of works on the tasks of the sample, empty Seqs and Pars included. No gate has a `redoFrom`.
pub(crate) fn any_work() -> impl Strategy<Value = Work> {
    let leaf = prop_oneof![
        4 => "[abc]".prop_map(|task| reference(&task)),
        1 => Just(gate("gate")),
        1 => Just(seq([])),
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        let boxed = inner.clone().prop_map(Box::new);
        let condition = prop::option::of((any::<bool>(), boxed.clone()));
        prop_oneof![
            3 => prop::collection::vec(inner.clone(), 0..4).prop_map(seq),
            2 => (prop::collection::vec(inner, 0..4), prop::option::of(1_u32..3))
                .prop_map(|(works, max_parallel)| Work::Par { works, max_parallel }),
            1 => (condition.clone(), condition, boxed.clone()).prop_map(|(pre_condition, post_condition, body)| {
                Work::Loop { pre_condition, post_condition, body, max_passes: None }
            }),
            1 => (boxed.clone(), prop::option::of(boxed.clone()), prop::option::of(boxed.clone())).prop_map(
                |(condition, true_work, false_work)| Work::Alt { condition, true_work, false_work }
            ),
            1 => boxed.prop_map(|work| {
                let Work::Gate(asks) = gate("gate") else { unreachable!("a gate") };
                Work::Gate(GateWork { on_reject: Some(work), ..asks })
            }),
        ]
    })
}
