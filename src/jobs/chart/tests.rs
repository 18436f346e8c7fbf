use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::jobs::entry::sample::{any_work, entry_with};
use crate::jobs::entry::{check, sample};

/// The chart of the work of a job, after the check.
fn chart_of(work: Value) -> Vec<ChartNode> {
    let mut entry = entry_with("/jobs/job/work", work);
    let task = entry.tasks["a"].clone();
    for name in ["d", "e", "f"] {
        entry.tasks.insert(name.to_owned(), task.clone());
    }
    entry.models.insert("big".to_owned(), "large".to_owned());
    let checked = check(entry).expect("a valid entry");
    chart(&checked.job("job").expect("the job").work)
}

/// One node a line: its hint, its label, its arrows.
fn drawn(work: Value) -> Vec<String> {
    let arrow = |arrow: &ChartArrow| {
        let label = arrow.label.map(|label| format!(" {label}")).unwrap_or_default();
        format!("{}{}{label}", if arrow.loop_back { "back to " } else { "" }, arrow.to)
    };
    let node = |node: ChartNode| {
        let arrows: Vec<_> = node.arrows.iter().map(arrow).collect();
        format!("{} {:?} {} -> {}", node.id, node.hint, node.label.unwrap_or_default(), arrows.join(", "))
    };
    chart_of(work).into_iter().map(node).collect()
}

fn task(name: &str) -> Value {
    json!({ "kind": "Ref", "taskId": name })
}

fn seq(names: &[&str]) -> Value {
    json!({ "kind": "Seq", "works": names.iter().map(|name| task(name)).collect::<Vec<_>>() })
}

#[test]
fn reviewers_in_a_loop_then_apply_then_commit() {
    let work = json!({ "kind": "Seq", "works": [
        { "kind": "Loop",
          "body": { "kind": "Par", "works": [task("a"), task("b"), task("c")] },
          "postCondition": [false, task("d")] },
        task("e"),
        task("f"),
    ] });
    let arrow = |to: usize| json!({ "to": to, "loopBack": false });
    let expected = json!([
        { "id": 0, "hint": "ParBegin", "arrows": [arrow(1), arrow(2), arrow(3)] },
        { "id": 1, "hint": ["TaskNode", 1], "label": "a", "arrows": [arrow(4)] },
        { "id": 2, "hint": ["TaskNode", 2], "label": "b", "arrows": [arrow(4)] },
        { "id": 3, "hint": ["TaskNode", 3], "label": "c", "arrows": [arrow(4)] },
        { "id": 4, "hint": "ParEnd", "arrows": [arrow(5)] },
        { "id": 5, "hint": ["CondNode", 0], "label": "d", "arrows": [
            { "to": 0, "loopBack": true, "label": "false" }, { "to": 6, "loopBack": false, "label": "true" } ] },
        { "id": 6, "hint": "LoopEnd", "arrows": [arrow(7)] },
        { "id": 7, "hint": ["TaskNode", 4], "label": "e", "arrows": [arrow(8)] },
        { "id": 8, "hint": ["TaskNode", 5], "label": "f" },
    ]);
    assert_eq!(serde_json::to_value(chart_of(work)).expect("JSON"), expected);
}

#[test]
fn a_label_has_the_model_of_an_override() {
    let with = |model: Value| json!({ "kind": "Ref", "taskId": "a", "modelOverride": model });
    assert_eq!(drawn(task("a")), ["0 TaskNode(0) a -> "]);
    assert_eq!(drawn(with(json!({ "category": "big" }))), ["0 TaskNode(0) a (big) -> "]);
    assert_eq!(drawn(with(json!({ "id": "own" }))), ["0 TaskNode(0) a (own) -> "]);
}

#[test]
fn loops() {
    assert_eq!(drawn(json!({ "kind": "Loop", "body": task("a") })), ["0 TaskNode(0) a -> 1", "1 LoopEnd  -> "]);
    assert_eq!(
        drawn(json!({ "kind": "Loop", "preCondition": [true, task("a")], "body": task("b") })),
        ["0 CondNode(0) a -> 1 true, 2 false", "1 TaskNode(1) b -> 2", "2 LoopEnd  -> "]
    );
    assert_eq!(
        drawn(json!({ "kind": "Loop",
            "preCondition": [false, task("a")], "postCondition": [true, task("b")], "body": task("c") })),
        [
            "0 CondNode(0) a -> 1 false, 3 true",
            "1 TaskNode(2) c -> 2",
            "2 CondNode(1) b -> back to 0 true, 3 false",
            "3 LoopEnd  -> ",
        ]
    );
}

#[test]
fn alternatives() {
    assert_eq!(
        drawn(json!({ "kind": "Alt", "condition": task("a") })),
        ["0 CondNode(0) a -> 1 true, 1 false", "1 AltEnd  -> "]
    );
    assert_eq!(
        drawn(json!({ "kind": "Alt", "condition": task("a"), "trueWork": task("b") })),
        ["0 CondNode(0) a -> 1 true, 2 false", "1 TaskNode(1) b -> 2", "2 AltEnd  -> "]
    );
    assert_eq!(
        drawn(json!({ "kind": "Alt", "condition": task("a"), "trueWork": task("b"), "falseWork": seq(&["c", "d"]) })),
        [
            "0 CondNode(0) a -> 1 true, 2 false",
            "1 TaskNode(1) b -> 4",
            "2 TaskNode(2) c -> 3",
            "3 TaskNode(3) d -> 4",
            "4 AltEnd  -> ",
        ]
    );
}

#[test]
fn only_a_condition_of_several_works_is_wrapped() {
    assert_eq!(
        drawn(json!({ "kind": "Alt", "condition": seq(&["a", "b"]) })),
        [
            "0 CondBegin  -> 1",
            "1 TaskNode(0) a -> 2",
            "2 TaskNode(1) b -> 3",
            "3 CondEnd  -> 4 true, 4 false",
            "4 AltEnd  -> ",
        ]
    );
    assert_eq!(
        drawn(json!({ "kind": "Alt", "condition": seq(&["a"]) })),
        ["0 CondNode(0) a -> 1 true, 1 false", "1 AltEnd  -> "]
    );
    assert_eq!(
        drawn(json!({ "kind": "Alt", "condition": { "kind": "Par", "works": [task("a"), task("b")] } })),
        [
            "0 ParBegin  -> 1, 2",
            "1 TaskNode(0) a -> 3",
            "2 TaskNode(1) b -> 3",
            "3 ParEnd  -> 4 true, 4 false",
            "4 AltEnd  -> ",
        ]
    );
    assert_eq!(
        drawn(json!({ "kind": "Alt", "condition": { "kind": "Alt", "condition": task("a") }, "trueWork": task("b") })),
        ["0 CondNode(0) a -> 1 true, 1 false", "1 AltEnd  -> 2 true, 3 false", "2 TaskNode(1) b -> 3", "3 AltEnd  -> ",]
    );
}

#[test]
fn a_gate_leads_back_when_it_is_rejected() {
    let gate = |redo_from: Option<usize>| {
        let mut gate = json!({ "kind": "Gate", "title": "Go?", "onReject": seq(&["b", "c"]) });
        if let Some(position) = redo_from {
            gate["redoFrom"] = json!(position);
        }
        json!({ "kind": "Seq", "works": [task("a"), gate, task("d")] })
    };
    let lines = |back: usize| {
        [
            "0 TaskNode(0) a -> 1".to_owned(),
            "1 GateNode(1) Go? -> 2 rejected, 4".to_owned(),
            "2 TaskNode(2) b -> 3".to_owned(),
            format!("3 TaskNode(3) c -> back to {back}"),
            "4 TaskNode(4) d -> ".to_owned(),
        ]
    };
    assert_eq!(drawn(gate(None)), lines(1));
    assert_eq!(drawn(gate(Some(0))), lines(0));
    let plain = json!({ "kind": "Seq", "works": [{ "kind": "Gate", "title": "Go?" }, task("a")] });
    assert_eq!(drawn(plain), ["0 GateNode(0) Go? -> 1", "1 TaskNode(1) a -> "]);
}

/// The nodes that can be reached from the first one.
fn reached(nodes: &[ChartNode]) -> BTreeSet<usize> {
    let (mut reached, mut open) = (BTreeSet::new(), vec![0]);
    while let Some(at) = open.pop() {
        if reached.insert(at) {
            open.extend(nodes[at].arrows.iter().map(|arrow| arrow.to));
        }
    }
    reached
}

proptest! {
    #[test]
    fn a_chart_is_one_piece_with_a_node_for_each_work(work in any_work()) {
        let mut entry = entry_with("/models/other", json!("m"));
        entry.jobs.get_mut("job").expect("the job").work = work;
        // Trees with nothing in them are refused by the check.
        let Ok(checked) = check(entry) else { return Ok(()) };
        let plan = checked.plan("job").expect("a plan");
        let nodes = chart(&plan.job.work);
        prop_assert!(nodes.iter().enumerate().all(|(position, node)| node.id == position));
        let all: BTreeSet<_> = (0..nodes.len()).collect();
        prop_assert!(nodes.iter().flat_map(|node| &node.arrows).all(|arrow| all.contains(&arrow.to)));
        prop_assert_eq!(reached(&nodes), all);
        let mut works: Vec<_> = nodes.iter().filter_map(|node| match node.hint {
            ChartHint::TaskNode(work) | ChartHint::CondNode(work) | ChartHint::GateNode(work) => Some(work),
            _ => None,
        }).collect();
        works.sort_unstable();
        prop_assert_eq!(works, plan.works().map(|work| work.work_id()).collect::<Vec<_>>());
    }

    #[test]
    fn no_tree_is_too_odd_to_draw(work in any_work()) {
        let nodes = chart(&work);
        prop_assert!(nodes.iter().flat_map(|node| &node.arrows).all(|arrow| arrow.to < nodes.len()));
    }
}

#[test]
fn nothing_has_no_chart() {
    assert_eq!(chart(&sample::seq([])), []);
}
