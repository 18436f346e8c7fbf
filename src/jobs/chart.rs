//! The flow chart of a job, in the portal's format.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

use super::entry::{GateWork, ModelChoice, Work};

/// A node of a chart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChartNode {
    /// Its number: its position in the chart.
    pub id: usize,
    /// What it is.
    pub hint: ChartHint,
    /// What it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What follows it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arrows: Vec<ChartArrow>,
}

/// A line from one node to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChartArrow {
    /// Where it ends.
    pub to: usize,
    /// It leads back to what was there before.
    pub loop_back: bool,
    /// When it is taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<&'static str>,
}

/// What a node of a chart is. Numbers are those of works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChartHint {
    /// A task.
    TaskNode(u32),
    /// A task that decides what follows.
    CondNode(u32),
    /// A gate.
    GateNode(u32),
    /// Works begin at the same time.
    ParBegin,
    /// They are all done.
    ParEnd,
    /// Works begin that decide what follows.
    CondBegin,
    /// They are all done.
    CondEnd,
    /// A loop is over.
    LoopEnd,
    /// The branches meet.
    AltEnd,
}

impl Serialize for ChartHint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::TaskNode(work) => ("TaskNode", work).serialize(serializer),
            Self::CondNode(work) => ("CondNode", work).serialize(serializer),
            Self::GateNode(work) => ("GateNode", work).serialize(serializer),
            Self::ParBegin => serializer.serialize_str("ParBegin"),
            Self::ParEnd => serializer.serialize_str("ParEnd"),
            Self::CondBegin => serializer.serialize_str("CondBegin"),
            Self::CondEnd => serializer.serialize_str("CondEnd"),
            Self::LoopEnd => serializer.serialize_str("LoopEnd"),
            Self::AltEnd => serializer.serialize_str("AltEnd"),
        }
    }
}

impl JsonSchema for ChartHint {
    fn schema_name() -> Cow<'static, str> {
        "ChartHint".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "What a node of a chart is: a word, or a word and the number of a work.",
            "oneOf": [
                { "enum": ["ParBegin", "ParEnd", "CondBegin", "CondEnd", "LoopEnd", "AltEnd"] },
                {
                    "type": "array",
                    "prefixItems": [
                        { "enum": ["TaskNode", "CondNode", "GateNode"] },
                        { "type": "integer", "minimum": 0 },
                    ],
                    "minItems": 2,
                    "maxItems": 2,
                },
            ],
        })
    }
}

/// The chart of a checked tree.
pub fn chart(work: &Work) -> Vec<ChartNode> {
    let mut chart = Chart::default();
    chart.work(work, None);
    chart.nodes
}

/// Where a part of a chart begins and ends.
#[derive(Clone, Copy)]
struct Part {
    first: usize,
    last: usize,
}

#[derive(Default)]
struct Chart {
    nodes: Vec<ChartNode>,
}

impl Chart {
    fn node(&mut self, hint: ChartHint, label: Option<String>) -> Part {
        let id = self.nodes.len();
        self.nodes.push(ChartNode { id, hint, label, arrows: Vec::new() });
        Part { first: id, last: id }
    }

    fn arrow(&mut self, from: Part, to: Part, label: Option<&'static str>) {
        self.nodes[from.last].arrows.push(ChartArrow { to: to.first, loop_back: false, label });
    }

    fn arrow_back(&mut self, from: Part, to: usize, label: Option<&'static str>) {
        self.nodes[from.last].arrows.push(ChartArrow { to, loop_back: true, label });
    }

    /// `redo` is the node that a rejected gate leads back to, unless to itself. A work without any node gives `None`.
    fn work(&mut self, work: &Work, redo: Option<usize>) -> Option<Part> {
        match work {
            Work::Ref { work_id_in_job, task_id, model_override } => {
                let label = match model_override {
                    Some(ModelChoice::Category(model) | ModelChoice::Id(model)) => format!("{task_id} ({model})"),
                    None => task_id.clone(),
                };
                Some(self.node(ChartHint::TaskNode(*work_id_in_job), Some(label)))
            }
            Work::Gate(gate) => Some(self.gate(gate, redo)),
            Work::Seq { works } => self.seq(works),
            Work::Par { works, .. } => Some(self.par(works)),
            Work::Loop { pre_condition, post_condition, body, .. } => {
                let expected =
                    |condition: &Option<(bool, Box<Work>)>| condition.as_ref().map(|(expected, _)| *expected);
                let conditions = (expected(pre_condition), expected(post_condition));
                let before = pre_condition.as_ref().and_then(|(_, work)| self.condition(work));
                let pass = self.work(body, None);
                let after = post_condition.as_ref().and_then(|(_, work)| self.condition(work));
                Some(self.connected_loop(before.zip(conditions.0), pass, after.zip(conditions.1)))
            }
            Work::Alt { condition, true_work, false_work } => {
                let decides = self.condition(condition);
                let branches = [("true", true_work), ("false", false_work)]
                    .map(|(label, work)| (label, work.as_ref().and_then(|work| self.work(work, None))));
                let end = self.node(ChartHint::AltEnd, None);
                for (label, branch) in branches {
                    if let Some(decides) = decides {
                        self.arrow(decides, branch.unwrap_or(end), Some(label));
                    }
                    if let Some(branch) = branch {
                        self.arrow(branch, end, None);
                    }
                }
                let first = decides.or(branches[0].1).or(branches[1].1).unwrap_or(end).first;
                Some(Part { first, last: end.last })
            }
        }
    }

    fn seq(&mut self, works: &[Work]) -> Option<Part> {
        let mut firsts: Vec<Option<usize>> = Vec::with_capacity(works.len());
        let mut whole: Option<Part> = None;
        for work in works {
            let redo = match work {
                Work::Gate(gate) => gate.redo_from.and_then(|position| firsts.get(position).copied().flatten()),
                _ => None,
            };
            let part = self.work(work, redo);
            firsts.push(part.map(|part| part.first));
            whole = match (whole, part) {
                (Some(before), Some(part)) => {
                    self.arrow(before, part, None);
                    Some(Part { first: before.first, last: part.last })
                }
                (before, part) => before.or(part),
            };
        }
        whole
    }

    fn par(&mut self, works: &[Work]) -> Part {
        let begin = self.node(ChartHint::ParBegin, None);
        let parts: Vec<_> = works.iter().filter_map(|work| self.work(work, None)).collect();
        let end = self.node(ChartHint::ParEnd, None);
        for part in &parts {
            self.arrow(begin, *part, None);
            self.arrow(*part, end, None);
        }
        if parts.is_empty() {
            self.arrow(begin, end, None);
        }
        Part { first: begin.first, last: end.last }
    }

    /// A task that decides gets a hint of its own; several works that decide get a beginning and an end. Whatever else
    /// decides has an end already.
    fn condition(&mut self, work: &Work) -> Option<Part> {
        match work {
            Work::Seq { works } if works.len() > 1 => {
                let begin = self.node(ChartHint::CondBegin, None);
                let inner = self.seq(works);
                let end = self.node(ChartHint::CondEnd, None);
                self.arrow(begin, inner.unwrap_or(end), None);
                if let Some(inner) = inner {
                    self.arrow(inner, end, None);
                }
                Some(Part { first: begin.first, last: end.last })
            }
            _ => {
                let part = self.work(work, None)?;
                let hint = &mut self.nodes[part.first].hint;
                if let ChartHint::TaskNode(work) = *hint
                    && part.first == part.last
                {
                    *hint = ChartHint::CondNode(work);
                }
                Some(part)
            }
        }
    }

    fn connected_loop(
        &mut self,
        before: Option<(Part, bool)>,
        pass: Option<Part>,
        after: Option<(Part, bool)>,
    ) -> Part {
        let end = self.node(ChartHint::LoopEnd, None);
        let after_part = after.map(|(part, _)| part);
        let entered = pass.or(after_part).unwrap_or(end);
        let first = before.map_or(entered.first, |(part, _)| part.first);
        if let Some((part, expected)) = before {
            self.arrow(part, entered, Some(word(expected)));
            self.arrow(part, end, Some(word(!expected)));
        }
        if let Some(pass) = pass {
            self.arrow(pass, after_part.unwrap_or(end), None);
        }
        if let Some((part, expected)) = after {
            self.arrow_back(part, first, Some(word(expected)));
            self.arrow(part, end, Some(word(!expected)));
        }
        Part { first, last: end.last }
    }

    fn gate(&mut self, gate: &GateWork, redo: Option<usize>) -> Part {
        let asks = self.node(ChartHint::GateNode(gate.work_id_in_job), Some(gate.title.clone()));
        if let Some(rework) = gate.on_reject.as_ref().and_then(|work| self.work(work, None)) {
            self.arrow(asks, rework, Some("rejected"));
            self.arrow_back(rework, redo.unwrap_or(asks.first), None);
        }
        asks
    }
}

fn word(expected: bool) -> &'static str {
    if expected { "true" } else { "false" }
}

#[cfg(test)]
mod tests;
