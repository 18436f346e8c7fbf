//! The check of a job's tree, as it is written.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::super::problem::{Problem, quoted};
use super::super::prompt::{Expander, Needs};
use super::super::work_tree::joins_par;
use super::super::{GateWork, Task, Work};
use super::task::check_model;

/// How deep works may be nested. JSON ends earlier; this protects what is built in other ways.
const DEEPEST: usize = 100;

/// Checks a tree and expands the prompts of its gates.
pub(super) fn check_work(
    path: String,
    work: &mut Work,
    tasks: &BTreeMap<String, Task>,
    models: &BTreeMap<String, String>,
    expander: &mut Expander<'_>,
    problems: &mut Vec<Problem>,
) {
    Check { path, depth: 0, tasks, models, expander, problems }.work(work, Place::Elsewhere);
}

/// Where a work is.
#[derive(Clone, Copy)]
enum Place {
    Seq { position: usize },
    Par,
    Elsewhere,
}

struct Check<'a, 'b> {
    /// Of the work that is being checked.
    path: String,
    depth: usize,
    tasks: &'a BTreeMap<String, Task>,
    models: &'a BTreeMap<String, String>,
    expander: &'a mut Expander<'b>,
    problems: &'a mut Vec<Problem>,
}

impl Check<'_, '_> {
    fn error(&mut self, below: &str, message: impl Into<String>) {
        self.problems.push(Problem::error(format!("{}{below}", self.path), message));
    }

    /// Checks what is in a work. Returns how many works it adds to the one around it.
    fn below(&mut self, name: std::fmt::Arguments<'_>, work: &mut Work, place: Place) -> usize {
        let length = self.path.len();
        let _ = self.path.write_fmt(name);
        self.depth += 1;
        let added = self.work(work, place);
        self.depth -= 1;
        self.path.truncate(length);
        added
    }

    fn work(&mut self, work: &mut Work, place: Place) -> usize {
        if self.depth > DEEPEST {
            self.error("", format!("Works are nested more than {DEEPEST} deep."));
            return 1;
        }
        let is_merged = match place {
            Place::Seq { .. } => matches!(work, Work::Seq { .. }),
            Place::Par => joins_par(work),
            Place::Elsewhere => false,
        };
        match work {
            Work::Ref { task_id, model_override, .. } => {
                self.reference(task_id, model_override.as_ref());
            }
            Work::Seq { works } => return self.members(works, is_merged, |position| Place::Seq { position }),
            Work::Par { works, max_parallel } => {
                self.at_least_one(".maxParallel", *max_parallel);
                return self.members(works, is_merged, |_| Place::Par);
            }
            Work::Loop { pre_condition, post_condition, body, max_passes } => {
                self.at_least_one(".maxPasses", *max_passes);
                for (name, condition) in [(".preCondition[1]", pre_condition), (".postCondition[1]", post_condition)] {
                    if let Some((_, work)) = condition {
                        self.below(format_args!("{name}"), work, Place::Elsewhere);
                    }
                }
                self.below(format_args!(".body"), body, Place::Elsewhere);
            }
            Work::Alt { condition, true_work, false_work } => {
                self.below(format_args!(".condition"), condition, Place::Elsewhere);
                for (name, work) in [(".trueWork", true_work), (".falseWork", false_work)] {
                    if let Some(work) = work {
                        self.below(format_args!("{name}"), work, Place::Elsewhere);
                    }
                }
            }
            Work::Gate(gate) => self.gate(gate, place),
        }
        1
    }

    fn members(&mut self, works: &mut [Work], is_merged: bool, place: impl Fn(usize) -> Place) -> usize {
        let mut count = 0;
        for (position, work) in works.iter_mut().enumerate() {
            count += self.below(format_args!(".works[{position}]"), work, place(position));
        }
        if is_merged {
            return count;
        }
        if count == 0 {
            self.error(".works", "should have at least one element.");
        }
        1
    }

    fn at_least_one(&mut self, below: &str, number: Option<u32>) {
        if number == Some(0) {
            self.error(below, "Should be at least 1.");
        }
    }

    fn reference(&mut self, task_id: &str, model_override: Option<&super::super::ModelChoice>) {
        let task = self.tasks.get(task_id);
        if task.is_none() {
            self.error(".taskId", format!("{} is not a valid task name.", quoted(task_id)));
        }
        match model_override {
            Some(model) => {
                let path = format!("{}.modelOverride", self.path);
                check_model(&path, model, |key| self.models.contains_key(key), self.problems);
            }
            None if task.is_some_and(|task| task.model.is_none()) => {
                let message = format!("must be defined because task {} has no specified model.", quoted(task_id));
                self.error(".modelOverride", message);
            }
            None => {}
        }
    }

    fn gate(&mut self, gate: &mut GateWork, place: Place) {
        if gate.title.trim().is_empty() {
            self.error(".title", "Should not be empty.");
        } else if gate.title.contains(['\n', '\r']) {
            self.error(".title", "Should be one line.");
        }
        if let Some(prompt) = &mut gate.prompt {
            match self.expander.expand(&format!("{}.prompt", self.path), prompt, Needs::Nothing) {
                Ok(text) => *prompt = vec![text],
                Err(found) => self.problems.extend(found),
            }
        }
        if let Some(redo_from) = gate.redo_from {
            match place {
                _ if gate.on_reject.is_none() => {
                    self.error(".redoFrom", "Should be absent because the gate has no onReject.");
                }
                Place::Par | Place::Elsewhere => {
                    self.error(".redoFrom", "Should be absent because the gate is not directly in a Seq.");
                }
                Place::Seq { position } if redo_from >= position => {
                    let message = format!(
                        "Should be the position of an earlier work in the same Seq (below {position}) but is {redo_from}."
                    );
                    self.error(".redoFrom", message);
                }
                Place::Seq { .. } => {}
            }
        }
        if let Some(work) = &mut gate.on_reject {
            self.below(format_args!(".onReject"), work, Place::Elsewhere);
        }
    }
}
