//! The tree of a job as indented text.

use super::super::terminal::text::one_line;
use crate::jobs::entry::{DEFAULT_MAX_PASSES, ModelChoice, Work};

/// The tree of a job, one line per node.
pub(super) fn outline(work: &Work) -> String {
    let mut outline = Outline::default();
    match work {
        // What a job does is done in order; saying so would only move everything to the right.
        Work::Seq { works } => works.iter().for_each(|work| outline.work(work)),
        other => outline.work(other),
    }
    outline.lines.join("\n")
}

#[derive(Default)]
struct Outline {
    lines: Vec<String>,
    depth: usize,
}

impl Outline {
    fn line(&mut self, text: &str) {
        self.lines.push(format!("{}{text}", "  ".repeat(self.depth)));
    }

    fn below<'a>(&mut self, heading: &str, works: impl IntoIterator<Item = &'a Work>) {
        self.line(heading);
        self.depth += 1;
        works.into_iter().for_each(|work| self.work(work));
        self.depth -= 1;
    }

    fn work(&mut self, work: &Work) {
        match work {
            Work::Ref { work_id_in_job, task_id, model_override } => {
                let model = match model_override {
                    Some(ModelChoice::Category(name) | ModelChoice::Id(name)) => format!(" ({})", one_line(name)),
                    None => String::new(),
                };
                self.line(&format!("{work_id_in_job} {}{model}", one_line(task_id)));
            }
            Work::Seq { works } => self.below("in order:", works),
            Work::Par { works, max_parallel: Some(most) } => {
                self.below(&format!("in parallel, {most} at a time:"), works);
            }
            Work::Par { works, max_parallel: None } => self.below("in parallel:", works),
            Work::Loop { pre_condition, post_condition, body, max_passes } => {
                self.line(&format!("repeat, at most {} times:", max_passes.unwrap_or(DEFAULT_MAX_PASSES)));
                self.depth += 1;
                if let Some((expected, condition)) = pre_condition {
                    self.below(&format!("only while this {}:", outcome(*expected)), [&**condition]);
                }
                self.work(body);
                match post_condition {
                    Some((expected, condition)) => {
                        self.below(&format!("again if this {}:", outcome(*expected)), [&**condition]);
                    }
                    None if pre_condition.is_none() => self.line("once"),
                    None => {}
                }
                self.depth -= 1;
            }
            Work::Alt { condition, true_work, false_work } => {
                self.below("if this succeeds:", [&**condition]);
                if let Some(work) = true_work {
                    self.below("then:", [&**work]);
                }
                if let Some(work) = false_work {
                    self.below("else:", [&**work]);
                }
            }
            Work::Gate(gate) => {
                self.line(&format!("{} gate: {}", gate.work_id_in_job, one_line(&gate.title)));
                if let Some(work) = &gate.on_reject {
                    self.depth += 1;
                    self.below("if rejected:", [&**work]);
                    match gate.redo_from {
                        Some(position) => self.line(&format!("then again from step {}", position + 1)),
                        None => self.line("then ask again"),
                    }
                    self.depth -= 1;
                }
            }
        }
    }
}

fn outcome(expected: bool) -> &'static str {
    if expected { "succeeds" } else { "fails" }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_kind_of_work_is_shown() {
        let task = |id: u32, name: &str| json!({ "kind": "Ref", "workIdInJob": id, "taskId": name });
        let work = json!({ "kind": "Seq", "works": [
            task(0, "plan"),
            { "kind": "Gate", "workIdInJob": 1, "title": "Go?", "onReject": task(2, "replan"), "redoFrom": 0 },
            { "kind": "Loop", "postCondition": [false, task(3, "judge")], "maxPasses": 4,
              "body": { "kind": "Par", "works": [task(4, "a"), task(5, "b")] } },
            { "kind": "Alt", "condition": task(6, "ready"), "falseWork": task(7, "fix") },
        ] });
        let work: Work = serde_json::from_value(work).expect("a work");
        let expected = [
            "0 plan",
            "1 gate: Go?",
            "  if rejected:",
            "    2 replan",
            "  then again from step 1",
            "repeat, at most 4 times:",
            "  in parallel:",
            "    4 a",
            "    5 b",
            "  again if this fails:",
            "    3 judge",
            "if this succeeds:",
            "  6 ready",
            "else:",
            "  7 fix",
        ];
        assert_eq!(outline(&work), expected.join("\n"));
    }
}
