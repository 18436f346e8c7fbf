//! What is done to the tree of a job when it is checked: nested Seqs and Pars are merged, and works get their numbers.

use std::fmt;

use super::{GateWork, ModelChoice, Work};

/// A numbered node of a tree: what takes time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WorkNode<'a> {
    /// A task.
    Task {
        /// Its number in the job.
        work_id: u32,
        /// Its name.
        task: &'a str,
        /// A model for this use of the task.
        model_override: Option<&'a ModelChoice>,
    },
    /// A gate.
    Gate(&'a GateWork),
}

impl WorkNode<'_> {
    /// Its number in the job.
    pub fn work_id(&self) -> u32 {
        match self {
            Self::Task { work_id, .. } => *work_id,
            Self::Gate(gate) => gate.work_id_in_job,
        }
    }
}

impl Work {
    /// Its tasks and gates in the order of their numbers.
    pub fn nodes(&self) -> Vec<WorkNode<'_>> {
        let mut nodes = Vec::new();
        collect(self, &mut nodes);
        nodes
    }

    /// What is directly below it, in the order of the numbers.
    pub fn children(&self) -> impl Iterator<Item = &Work> {
        self.named_children().into_iter().map(|(_, work)| work)
    }

    /// What is directly below it, and where.
    pub(super) fn named_children(&self) -> Vec<(Below, &Work)> {
        match self {
            Self::Ref { .. } => Vec::new(),
            Self::Seq { works } | Self::Par { works, .. } => {
                works.iter().enumerate().map(|(position, work)| (Below::Works(position), work)).collect()
            }
            Self::Loop { pre_condition, post_condition, body, .. } => {
                let pre = pre_condition.iter().map(|(_, work)| (Below::Field(".preCondition[1]"), &**work));
                let post = post_condition.iter().map(|(_, work)| (Below::Field(".postCondition[1]"), &**work));
                pre.chain(post).chain([(Below::Field(".body"), &**body)]).collect()
            }
            Self::Alt { condition, true_work, false_work } => {
                let fields = [
                    (".condition", Some(condition)),
                    (".trueWork", true_work.as_ref()),
                    (".falseWork", false_work.as_ref()),
                ];
                fields.into_iter().filter_map(|(name, work)| Some((Below::Field(name), &**work?))).collect()
            }
            Self::Gate(gate) => gate.on_reject.iter().map(|work| (Below::Field(".onReject"), &**work)).collect(),
        }
    }
}

/// Where a work is within the one around it, as the rest of a path.
pub(super) enum Below {
    Works(usize),
    Field(&'static str),
}

impl fmt::Display for Below {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Works(position) => write!(formatter, ".works[{position}]"),
            Self::Field(name) => formatter.write_str(name),
        }
    }
}

fn collect<'a>(work: &'a Work, nodes: &mut Vec<WorkNode<'a>>) {
    match work {
        Work::Ref { work_id_in_job, task_id, model_override } => nodes.push(WorkNode::Task {
            work_id: *work_id_in_job,
            task: task_id,
            model_override: model_override.as_ref(),
        }),
        Work::Gate(gate) => nodes.push(WorkNode::Gate(gate)),
        _ => {}
    }
    for child in work.children() {
        collect(child, nodes);
    }
}

/// Whether a work in a Par becomes part of that Par. A limit of its own keeps it apart.
pub(super) fn joins_par(work: &Work) -> bool {
    matches!(work, Work::Par { max_parallel: None, .. })
}

/// Merges Seqs into the Seqs around them and Pars into the Pars around them. The order of the works stays.
pub(super) fn flattened(work: Work) -> Work {
    match work {
        Work::Ref { .. } => work,
        Work::Seq { works } => Work::Seq { works: flattened_seq(works) },
        Work::Par { works, max_parallel } => {
            let mut merged = Vec::with_capacity(works.len());
            for work in works {
                let joins = joins_par(&work);
                match flattened(work) {
                    Work::Par { works, .. } if joins => merged.extend(works),
                    other => merged.push(other),
                }
            }
            Work::Par { works: merged, max_parallel }
        }
        Work::Loop { pre_condition, post_condition, body, max_passes } => {
            let condition = |(expected, work): (bool, Box<Work>)| (expected, boxed(work));
            Work::Loop {
                pre_condition: pre_condition.map(condition),
                post_condition: post_condition.map(condition),
                body: boxed(body),
                max_passes,
            }
        }
        Work::Alt { condition, true_work, false_work } => Work::Alt {
            condition: boxed(condition),
            true_work: true_work.map(boxed),
            false_work: false_work.map(boxed),
        },
        Work::Gate(gate) => Work::Gate(GateWork { on_reject: gate.on_reject.map(boxed), ..gate }),
    }
}

#[expect(clippy::boxed_local, reason = "the works are boxed where they come from and where they go")]
fn boxed(work: Box<Work>) -> Box<Work> {
    Box::new(flattened(*work))
}

/// A gate's `redoFrom` is a position in its own Seq, so it moves with the works of that Seq.
fn flattened_seq(works: Vec<Work>) -> Vec<Work> {
    let mut merged = Vec::with_capacity(works.len());
    let mut begins = Vec::with_capacity(works.len());
    for work in works {
        let begin = merged.len();
        begins.push(begin);
        match flattened(work) {
            Work::Seq { works: inner } => merged.extend(inner.into_iter().map(|mut work| {
                if let Work::Gate(GateWork { redo_from: Some(position), .. }) = &mut work {
                    *position += begin;
                }
                work
            })),
            Work::Gate(mut gate) => {
                // If everything in between vanished, only the gate is left to be done again.
                let moved = gate.redo_from.and_then(|position| begins.get(position).copied());
                gate.redo_from = moved.filter(|position| *position < begin);
                merged.push(Work::Gate(gate));
            }
            other => merged.push(other),
        }
    }
    merged
}

/// Numbers the tasks and gates of a tree from 0, depth first.
pub(super) fn number(work: &mut Work) {
    number_from(work, &mut 0);
}

fn number_from(work: &mut Work, next: &mut u32) {
    let mut take = || {
        *next += 1;
        *next - 1
    };
    match work {
        Work::Ref { work_id_in_job, .. } => *work_id_in_job = take(),
        Work::Seq { works } | Work::Par { works, .. } => {
            for work in works {
                number_from(work, next);
            }
        }
        Work::Loop { pre_condition, post_condition, body, .. } => {
            for (_, work) in [pre_condition, post_condition].into_iter().flatten() {
                number_from(work, next);
            }
            number_from(body, next);
        }
        Work::Alt { condition, true_work, false_work } => {
            number_from(condition, next);
            for work in [true_work, false_work].into_iter().flatten() {
                number_from(work, next);
            }
        }
        Work::Gate(gate) => {
            gate.work_id_in_job = take();
            if let Some(work) = &mut gate.on_reject {
                number_from(work, next);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::jobs::entry::sample::{any_work, gate, par, reference, seq};

    fn names(work: &Work) -> Vec<String> {
        let name = |node: WorkNode<'_>| match node {
            WorkNode::Task { task, .. } => task.to_owned(),
            WorkNode::Gate(gate) => gate.title.clone(),
        };
        work.nodes().into_iter().map(name).collect()
    }

    #[test]
    fn nested_seqs_and_pars_are_merged() {
        let [a, b, c] = ["a", "b", "c"].map(reference);
        let limited = |works| Work::Par { works, max_parallel: Some(1) };
        for (nested, expected) in [
            (seq([a.clone(), seq([b.clone(), seq([c.clone()])])]), seq([a.clone(), b.clone(), c.clone()])),
            (seq([seq([]), a.clone(), seq([seq([])])]), seq([a.clone()])),
            (par([a.clone(), par([b.clone(), c.clone()])]), par([a.clone(), b.clone(), c.clone()])),
            (par([a.clone(), limited(vec![b.clone()])]), par([a.clone(), limited(vec![b.clone()])])),
            (limited(vec![par([a.clone(), b.clone()])]), limited(vec![a.clone(), b.clone()])),
            (seq([par([seq([a.clone()])])]), seq([par([seq([a.clone()])])])),
        ] {
            assert_eq!(flattened(nested), expected);
        }
    }

    #[test]
    fn redo_from_follows_its_work() {
        let redo = |position| {
            let mut work = gate("g");
            if let Work::Gate(gate) = &mut work {
                gate.redo_from = position;
            }
            work
        };
        let positions = |work: &Work| {
            let Work::Seq { works } = work else { panic!("a Seq") };
            let of = |work: &Work| match work {
                Work::Gate(gate) => Some(gate.redo_from),
                _ => None,
            };
            works.iter().filter_map(of).collect::<Vec<_>>()
        };
        let [a, b] = ["a", "b"].map(reference);
        let pair = || seq([a.clone(), b.clone()]);
        for (nested, expected) in [
            (seq([pair(), pair(), redo(Some(1))]), vec![Some(2)]),
            (seq([pair(), pair(), redo(Some(0))]), vec![Some(0)]),
            (seq([pair(), redo(None)]), vec![None]),
            (seq([pair(), seq([a.clone(), redo(Some(0))]), redo(Some(1))]), vec![Some(2), Some(2)]),
            (seq([a.clone(), seq([]), redo(Some(1))]), vec![None]),
        ] {
            assert_eq!(positions(&flattened(nested.clone())), expected, "{nested:?}");
        }
    }

    proptest! {
        #[test]
        fn merging_keeps_the_order_of_the_works(work in any_work()) {
            let before = names(&work);
            let merged = flattened(work);
            prop_assert_eq!(names(&merged), before);
            prop_assert_eq!(flattened(merged.clone()), merged);
        }

        #[test]
        fn numbers_count_up_from_zero(work in any_work()) {
            let mut work = flattened(work);
            number(&mut work);
            let numbers: Vec<usize> = work.nodes().iter().map(|node| node.work_id() as usize).collect();
            prop_assert_eq!(&numbers, &(0..numbers.len()).collect::<Vec<_>>());
        }
    }
}
