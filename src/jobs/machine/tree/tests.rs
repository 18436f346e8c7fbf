//! The tree against a reference interpreter.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::jobs::entry::GateWork;

fn task() -> Work {
    Work::Ref { work_id_in_job: 0, task_id: "t".to_owned(), model_override: None }
}

fn gate(on_reject: Option<Work>, redo_from: Option<usize>) -> Work {
    let on_reject = on_reject.map(Box::new);
    Work::Gate(GateWork { work_id_in_job: 0, title: "g".to_owned(), prompt: None, on_reject, redo_from })
}

/// Numbers works as the check of an entry does.
pub fn numbered(mut work: Work) -> Work {
    fn number(work: &mut Work, next: &mut u32) {
        let mut take = || {
            *next += 1;
            *next - 1
        };
        match work {
            Work::Ref { work_id_in_job, .. } => *work_id_in_job = take(),
            Work::Seq { works } | Work::Par { works, .. } => works.iter_mut().for_each(|work| number(work, next)),
            Work::Loop { pre_condition, post_condition, body, .. } => {
                pre_condition.iter_mut().chain(post_condition).for_each(|(_, work)| number(work, next));
                number(body, next);
            }
            Work::Alt { condition, true_work, false_work } => {
                number(condition, next);
                true_work.iter_mut().chain(false_work).for_each(|work| number(work, next));
            }
            Work::Gate(gate) => {
                gate.work_id_in_job = take();
                gate.on_reject.iter_mut().for_each(|work| number(work, next));
            }
        }
    }
    number(&mut work, &mut 0);
    work
}

/// How each run of a work comes out: decided by its number and how often it ran before.
pub struct Oracle {
    outcomes: Vec<bool>,
    pub runs: BTreeMap<u32, usize>,
}

impl Oracle {
    pub fn new(outcomes: Vec<bool>) -> Self {
        Self { outcomes, runs: BTreeMap::new() }
    }

    fn ask(&mut self, work_id: u32) -> bool {
        let run = self.runs.entry(work_id).or_default();
        *run += 1;
        Self::outcome(&self.outcomes, work_id, *run)
    }

    /// How the run of a work comes out; the first run has number 1.
    pub fn outcome(outcomes: &[bool], work_id: u32, run: usize) -> bool {
        outcomes[(work_id as usize * 7 + run * 3) % outcomes.len()]
    }
}

/// The reference: what a job means, in the plainest words. `None` when a loop has too many passes.
pub fn run(work: &Work, oracle: &mut Oracle) -> Option<bool> {
    Some(match work {
        Work::Ref { work_id_in_job, .. } => oracle.ask(*work_id_in_job),
        Work::Seq { works } => {
            for work in works {
                if !run(work, oracle)? {
                    return Some(false);
                }
            }
            true
        }
        Work::Par { works, .. } => {
            let all: Vec<Option<bool>> = works.iter().map(|work| run(work, oracle)).collect();
            all.into_iter().collect::<Option<Vec<bool>>>()?.into_iter().all(|succeeded| succeeded)
        }
        Work::Loop { pre_condition, post_condition, body, max_passes } => {
            for _ in 0..max_passes.unwrap_or(20) {
                if let Some((expected, pre)) = pre_condition
                    && run(pre, oracle)? != *expected
                {
                    return Some(true);
                }
                if !run(body, oracle)? {
                    return Some(false);
                }
                match post_condition {
                    Some((expected, post)) if run(post, oracle)? == *expected => {}
                    _ => return Some(true),
                }
            }
            return None;
        }
        Work::Alt { condition, true_work, false_work } => {
            let branch = if run(condition, oracle)? { true_work } else { false_work };
            match branch {
                Some(work) => run(work, oracle)?,
                None => true,
            }
        }
        Work::Gate(_) => unreachable!("tested apart"),
    })
}

pub fn any_work() -> impl Strategy<Value = Work> {
    let condition = |inner: BoxedStrategy<Work>| proptest::option::of((any::<bool>(), inner.prop_map(Box::new)));
    Just(task()).prop_recursive(4, 40, 4, move |inner| {
        let inner = inner.boxed();
        prop_oneof![
            proptest::collection::vec(inner.clone(), 1..4).prop_map(|works| Work::Seq { works }),
            (proptest::collection::vec(inner.clone(), 1..4), proptest::option::of(1_u32..3))
                .prop_map(|(works, max_parallel)| Work::Par { works, max_parallel }),
            (condition(inner.clone()), condition(inner.clone()), inner.clone()).prop_map(|(pre, post, body)| {
                Work::Loop { pre_condition: pre, post_condition: post, body: Box::new(body), max_passes: Some(3) }
            }),
            (inner.clone(), proptest::option::of(inner.clone()), proptest::option::of(inner)).prop_map(
                |(condition, true_work, false_work)| Work::Alt {
                    condition: Box::new(condition),
                    true_work: true_work.map(Box::new),
                    false_work: false_work.map(Box::new),
                }
            ),
        ]
    })
}

/// Runs a tree; `order` chooses which of the running works ends next.
fn drive(work: &Work, oracle: &mut Oracle, order: &[usize]) -> Option<bool> {
    let mut tree = Tree::new(work);
    let mut running: Vec<u32> = Vec::new();
    let mut step = tree.begin();
    let mut order = order.iter().cycle();
    loop {
        assert!(step.verdict.is_none() || step.starts.is_empty(), "nothing starts after the end");
        assert!(step.starts.len() <= tree.starts_at_once());
        if step.too_many_passes.is_some() {
            return None;
        }
        if let Some(verdict) = step.verdict {
            assert!(running.is_empty(), "everything is over");
            return Some(verdict);
        }
        for start in &step.starts {
            let Start::Work(work_id) = start else { unreachable!("no gates here") };
            running.push(*work_id);
        }
        assert_eq!(running.iter().collect::<BTreeSet<_>>().len(), running.len(), "each runs once at a time");
        let next = running.swap_remove(order.next().expect("endless") % running.len());
        let succeeded = oracle.ask(next);
        step = tree.work_over(next, succeeded);
    }
}

proptest! {
    #[test]
    fn any_tree_in_any_order_comes_out_as_the_reference_says(
        work in any_work(),
        outcomes in proptest::collection::vec(any::<bool>(), 1..20),
        order in proptest::collection::vec(0_usize..9, 1..20),
    ) {
        let work = numbered(work);
        let oracle = || Oracle { outcomes: outcomes.clone(), runs: BTreeMap::new() };
        let (mut expected, mut actual) = (oracle(), oracle());
        let verdict = run(&work, &mut expected);
        prop_assert_eq!(drive(&work, &mut actual, &order), verdict);
        if verdict.is_some() {
            prop_assert_eq!(actual.runs, expected.runs);
        }
    }

    #[test]
    fn a_retry_runs_nothing_again_that_succeeded_and_ends_well_when_everything_succeeds(
        work in any_work(),
        outcomes in proptest::collection::vec(any::<bool>(), 1..20),
    ) {
        let work = numbered(work);
        let mut tree = Tree::new(&work);
        let mut oracle = Oracle { outcomes, runs: BTreeMap::new() };
        let mut running: Vec<u32> = Vec::new();
        let mut step = tree.begin();
        while step.verdict.is_none() && step.too_many_passes.is_none() {
            running.extend(step.starts.iter().map(Start::work_id));
            let next = running.remove(0);
            step = tree.work_over(next, oracle.ask(next));
        }
        if step.verdict == Some(false) {
            let mut step = tree.retry();
            let mut running: Vec<u32> = Vec::new();
            let mut steps = 0;
            while step.verdict.is_none() && step.too_many_passes.is_none() && steps < 1_000 {
                running.extend(step.starts.iter().map(Start::work_id));
                prop_assert!(!running.is_empty(), "a retry starts something");
                let next = running.remove(0);
                step = tree.work_over(next, true);
                steps += 1;
            }
            prop_assert!(step.verdict == Some(true) || step.too_many_passes.is_some());
        }
    }
}

fn seq(works: Vec<Work>) -> Work {
    numbered(Work::Seq { works })
}

#[test]
fn a_gate_passes_only_when_it_is_approved() {
    let mut tree = Tree::new(&seq(vec![task(), gate(None, None), task()]));
    assert_eq!(tree.begin().starts, [Start::Work(0)]);
    assert_eq!(tree.work_over(0, true).starts, [Start::Gate(1)]);
    assert_eq!(tree.work_over(2, true), Step::default(), "what does not run cannot end");
    assert_eq!(tree.gate_approved(1).starts, [Start::Work(2)]);
    let mut tree = Tree::new(&seq(vec![gate(None, None), task()]));
    tree.begin();
    assert_eq!(tree.gate_rejected(0).verdict, Some(false));
}

#[test]
fn a_rejected_gate_does_the_works_before_it_again_and_asks_again() {
    let work = seq(vec![task(), task(), gate(Some(task()), Some(1)), task()]);
    let mut tree = Tree::new(&work);
    tree.begin();
    tree.work_over(0, true);
    assert_eq!(tree.work_over(1, true).starts, [Start::Gate(2)]);
    assert_eq!(tree.gate_rejected(2).starts, [Start::Work(3)]);
    assert_eq!(tree.work_over(3, true).starts, [Start::Work(1)], "only what follows is done again");
    assert_eq!(tree.work_over(1, true).starts, [Start::Gate(2)]);
    assert_eq!(tree.gate_approved(2).starts, [Start::Work(4)]);
    assert_eq!(tree.work_over(4, true).verdict, Some(true));
}

#[test]
fn a_retry_continues_at_the_failed_step() {
    let reviewers = Work::Par { works: vec![task(), task()], max_parallel: None };
    let mut tree = Tree::new(&seq(vec![task(), reviewers, task()]));
    tree.begin();
    tree.work_over(0, true);
    tree.work_over(1, true);
    assert_eq!(tree.work_over(2, false).verdict, Some(false));
    assert_eq!(tree.retry().starts, [Start::Work(2)]);
    assert_eq!(tree.work_over(2, true).starts, [Start::Work(3)]);
}

#[test]
fn a_tree_of_ten_thousand_works_ends() {
    let works: Vec<Work> = (0..100).map(|_| Work::Par { works: vec![task(); 100], max_parallel: Some(10) }).collect();
    let mut tree = Tree::new(&seq(works));
    assert_eq!(tree.starts_at_once(), 100);
    let mut running: std::collections::VecDeque<u32> = std::collections::VecDeque::new();
    let (mut step, mut ended) = (tree.begin(), 0);
    while step.verdict.is_none() {
        running.extend(step.starts.iter().map(Start::work_id));
        assert!(running.len() <= 10);
        step = tree.work_over(running.pop_front().expect("something runs"), true);
        ended += 1;
    }
    assert_eq!((ended, step.verdict), (10_000, Some(true)));
}
