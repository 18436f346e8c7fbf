//! The tree of a job's works: which run, which are over, and what starts next.
//!
//! The nodes are in one list with links to their parents, so that the end of a work costs the depth of the tree and not its
//! size.

use super::super::entry::Work;

/// How many passes a loop may have if it does not say.
const DEFAULT_PASSES: u32 = 20;

type NodeIndex = usize;

/// A tree and its state.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    nodes: Vec<Node>,
    /// The nodes of works and gates, by their number in the job.
    works: Vec<NodeIndex>,
}

#[derive(Clone, Debug, PartialEq)]
struct Node {
    kind: Kind,
    parent: Option<NodeIndex>,
    children: Vec<NodeIndex>,
    status: Status,
    /// The child that runs: of a Seq, a Loop, an Alt.
    at: usize,
    /// Passes of a Loop that have begun.
    passes: u32,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Ref { work_id: u32 },
    Seq,
    Par { at_once: usize },
    Loop { pre: Option<bool>, post: Option<bool>, most: u32 },
    Alt { has_true: bool, has_false: bool },
    Gate { work_id: u32, redo_from: Option<usize> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Idle,
    Running,
    Over(bool),
}

/// A work or gate that is to start, by its number in the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// A task.
    Work(u32),
    /// A gate asks.
    Gate(u32),
}

impl Start {
    /// The number in the job.
    pub fn work_id(&self) -> u32 {
        match self {
            Self::Work(work_id) | Self::Gate(work_id) => *work_id,
        }
    }
}

/// What follows from a step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// In this order.
    pub starts: Vec<Start>,
    /// The whole tree is over.
    pub verdict: Option<bool>,
    /// A loop would begin more passes than it may have; this many.
    pub too_many_passes: Option<u32>,
}

impl Tree {
    /// The tree of a checked job, at its beginning.
    pub fn new(work: &Work) -> Self {
        let mut tree = Self { nodes: Vec::new(), works: Vec::new() };
        tree.add(work, None);
        tree
    }

    /// How many works can start in one step at most.
    pub fn starts_at_once(&self) -> usize {
        // Children come after their parents, so from the end everything below a node is known.
        let mut widths = vec![1; self.nodes.len()];
        for (index, node) in self.nodes.iter().enumerate().rev() {
            let below = node.children.iter().map(|child| widths[*child]);
            widths[index] = match node.kind {
                Kind::Ref { .. } => 1,
                Kind::Par { .. } => below.sum(),
                Kind::Seq | Kind::Loop { .. } | Kind::Alt { .. } | Kind::Gate { .. } => below.max().unwrap_or(0),
            };
        }
        widths.first().copied().unwrap_or(0)
    }

    fn add(&mut self, work: &Work, parent: Option<NodeIndex>) -> NodeIndex {
        let index = self.nodes.len();
        let (kind, children): (Kind, Vec<&Work>) = match work {
            Work::Ref { work_id_in_job, .. } => (Kind::Ref { work_id: *work_id_in_job }, Vec::new()),
            Work::Seq { works } => (Kind::Seq, works.iter().collect()),
            Work::Par { works, max_parallel } => {
                let at_once = max_parallel.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX).max(1);
                (Kind::Par { at_once }, works.iter().collect())
            }
            Work::Loop { pre_condition, post_condition, body, max_passes } => {
                let kind = Kind::Loop {
                    pre: pre_condition.as_ref().map(|(expected, _)| *expected),
                    post: post_condition.as_ref().map(|(expected, _)| *expected),
                    most: max_passes.unwrap_or(DEFAULT_PASSES),
                };
                // In the order of their numbers.
                let children = pre_condition
                    .iter()
                    .chain(post_condition)
                    .map(|(_, work)| work.as_ref())
                    .chain(std::iter::once(body.as_ref()))
                    .collect();
                (kind, children)
            }
            Work::Alt { condition, true_work, false_work } => {
                let kind = Kind::Alt { has_true: true_work.is_some(), has_false: false_work.is_some() };
                let branches = true_work.iter().chain(false_work).map(|work| work.as_ref());
                (kind, std::iter::once(condition.as_ref()).chain(branches).collect())
            }
            Work::Gate(gate) => {
                let kind = Kind::Gate { work_id: gate.work_id_in_job, redo_from: gate.redo_from };
                (kind, gate.on_reject.iter().map(|work| work.as_ref()).collect())
            }
        };
        if let Kind::Ref { work_id } | Kind::Gate { work_id, .. } = &kind {
            let place = usize::try_from(*work_id).unwrap_or(usize::MAX);
            if self.works.len() <= place {
                self.works.resize(place + 1, index);
            }
            self.works[place] = index;
        }
        self.nodes.push(Node { kind, parent, children: Vec::new(), status: Status::Idle, at: 0, passes: 0 });
        let children: Vec<NodeIndex> = children.into_iter().map(|child| self.add(child, Some(index))).collect();
        self.nodes[index].children = children;
        index
    }

    /// Begins.
    pub fn begin(&mut self) -> Step {
        let mut step = Step::default();
        self.start(0, &mut step);
        step
    }

    /// A task is over.
    pub fn work_over(&mut self, work_id: u32, succeeded: bool) -> Step {
        let mut step = Step::default();
        if let Some(node) = self.running(work_id) {
            self.over(node, succeeded, &mut step);
        }
        step
    }

    /// A person approved a gate.
    pub fn gate_approved(&mut self, work_id: u32) -> Step {
        self.work_over(work_id, true)
    }

    /// A person rejected a gate: it fails, or what it says for that runs.
    pub fn gate_rejected(&mut self, work_id: u32) -> Step {
        let mut step = Step::default();
        if let Some(node) = self.running(work_id) {
            match self.nodes[node].children.first().copied() {
                Some(child) => self.start_again(child, &mut step),
                None => self.over(node, false, &mut step),
            }
        }
        step
    }

    /// Continues a tree that failed or was stopped: what failed it, or was running, starts again; what succeeded stays.
    pub fn retry(&mut self) -> Step {
        let mut step = Step::default();
        self.revive(0, &mut step);
        step
    }

    fn running(&self, work_id: u32) -> Option<NodeIndex> {
        let node = *self.works.get(usize::try_from(work_id).ok()?)?;
        (self.nodes[node].status == Status::Running).then_some(node)
    }

    fn start_again(&mut self, node: NodeIndex, step: &mut Step) {
        self.reset(node);
        self.start(node, step);
    }

    fn reset(&mut self, node: NodeIndex) {
        let mut rest = vec![node];
        while let Some(node) = rest.pop() {
            let state = &mut self.nodes[node];
            (state.status, state.at, state.passes) = (Status::Idle, 0, 0);
            rest.extend(&state.children);
        }
    }

    fn start(&mut self, node: NodeIndex, step: &mut Step) {
        self.nodes[node].status = Status::Running;
        match self.nodes[node].kind {
            Kind::Ref { work_id } => step.starts.push(Start::Work(work_id)),
            Kind::Gate { work_id, .. } => step.starts.push(Start::Gate(work_id)),
            Kind::Seq => match self.nodes[node].children.first().copied() {
                Some(first) => self.start(first, step),
                None => self.over(node, true, step),
            },
            Kind::Par { .. } => self.start_more(node, step),
            Kind::Loop { .. } => self.start_pass(node, step),
            Kind::Alt { .. } => self.start(self.nodes[node].children[0], step),
        }
    }

    /// Starts children of a Par, as many as may run at once.
    fn start_more(&mut self, node: NodeIndex, step: &mut Step) {
        let Kind::Par { at_once } = self.nodes[node].kind else { return };
        let children = self.nodes[node].children.clone();
        let count =
            |status: Status, tree: &Self| children.iter().filter(|child| tree.nodes[**child].status == status).count();
        let free = at_once.saturating_sub(count(Status::Running, self));
        let idle: Vec<NodeIndex> =
            children.iter().copied().filter(|child| self.nodes[*child].status == Status::Idle).take(free).collect();
        if idle.is_empty() && count(Status::Running, self) == 0 {
            let succeeded = children.iter().all(|child| self.nodes[*child].status == Status::Over(true));
            return self.over(node, succeeded, step);
        }
        // All are marked first: the start of one may be its end, and then the Par is not over yet.
        for child in &idle {
            self.nodes[*child].status = Status::Running;
        }
        for child in idle {
            self.start(child, step);
        }
    }

    /// Begins a pass of a Loop, unless it has had all of them.
    fn start_pass(&mut self, node: NodeIndex, step: &mut Step) {
        let Kind::Loop { pre, most, .. } = self.nodes[node].kind else { return };
        if self.nodes[node].passes >= most {
            step.too_many_passes = Some(most);
            return;
        }
        self.nodes[node].passes += 1;
        for child in self.nodes[node].children.clone() {
            self.reset(child);
        }
        let first = if pre.is_some() { 0 } else { self.body(node) };
        self.start_child(node, first, step);
    }

    fn start_child(&mut self, node: NodeIndex, at: usize, step: &mut Step) {
        self.nodes[node].at = at;
        let child = self.nodes[node].children[at];
        self.start(child, step);
    }

    /// The place of a Loop's body among its children.
    fn body(&self, node: NodeIndex) -> usize {
        self.nodes[node].children.len() - 1
    }

    fn over(&mut self, node: NodeIndex, succeeded: bool, step: &mut Step) {
        self.nodes[node].status = Status::Over(succeeded);
        match self.nodes[node].parent {
            Some(parent) => self.child_over(parent, succeeded, step),
            None => step.verdict = Some(succeeded),
        }
    }

    fn child_over(&mut self, node: NodeIndex, succeeded: bool, step: &mut Step) {
        let at = self.nodes[node].at;
        match self.nodes[node].kind.clone() {
            Kind::Ref { .. } => {}
            Kind::Seq if !succeeded => self.over(node, false, step),
            Kind::Seq if at + 1 < self.nodes[node].children.len() => self.start_child(node, at + 1, step),
            Kind::Seq => self.over(node, true, step),
            Kind::Par { .. } => self.start_more(node, step),
            Kind::Loop { pre, post, .. } => {
                let body = self.body(node);
                let is_pre = at != body && pre.is_some() && at == 0;
                if is_pre {
                    if Some(succeeded) == pre {
                        self.start_child(node, body, step)
                    } else {
                        self.over(node, true, step)
                    }
                } else if at == body {
                    match post {
                        _ if !succeeded => self.over(node, false, step),
                        Some(_) => self.start_child(node, body - 1, step),
                        None => self.over(node, true, step),
                    }
                } else if Some(succeeded) == post {
                    self.start_pass(node, step);
                } else {
                    self.over(node, true, step);
                }
            }
            Kind::Alt { has_true, has_false } => {
                if at > 0 {
                    return self.over(node, succeeded, step);
                }
                match (succeeded, has_true, has_false) {
                    (true, true, _) => self.start_child(node, 1, step),
                    (false, _, true) => self.start_child(node, 1 + usize::from(has_true), step),
                    (true, false, _) | (false, _, false) => self.over(node, true, step),
                }
            }
            // What a rejected gate does instead.
            Kind::Gate { .. } if !succeeded => self.over(node, false, step),
            Kind::Gate { redo_from, .. } => self.redo(node, redo_from, step),
        }
    }

    /// After a rejection: works before the gate are done again, then the gate asks again.
    fn redo(&mut self, gate: NodeIndex, redo_from: Option<usize>, step: &mut Step) {
        let seq = self.nodes[gate].parent.filter(|parent| self.nodes[*parent].kind == Kind::Seq);
        match (seq, redo_from) {
            (Some(seq), Some(from)) if from < self.nodes[seq].at => {
                let redone = self.nodes[seq].children[from..=self.nodes[seq].at].to_vec();
                for child in redone {
                    self.reset(child);
                }
                self.start_child(seq, from, step);
            }
            _ => self.start_again(gate, step),
        }
    }

    /// Starts again what failed below a node, or was running.
    fn revive(&mut self, node: NodeIndex, step: &mut Step) {
        match self.nodes[node].status {
            Status::Idle | Status::Over(true) => return,
            Status::Running | Status::Over(false) => {}
        }
        self.nodes[node].status = Status::Running;
        self.nodes[node].passes = self.nodes[node].passes.min(1);
        let at = self.nodes[node].at;
        match self.nodes[node].kind.clone() {
            Kind::Ref { .. } => self.start(node, step),
            Kind::Gate { .. } => {
                let rejecting = self.nodes[node].children.first().copied();
                match rejecting.filter(|child| self.nodes[*child].status != Status::Idle) {
                    Some(child) => self.revive(child, step),
                    None => self.start(node, step),
                }
            }
            Kind::Par { at_once } => {
                let is_to_revive =
                    |child: &NodeIndex| matches!(self.nodes[*child].status, Status::Running | Status::Over(false));
                let revived: Vec<NodeIndex> = self.nodes[node].children.iter().copied().filter(is_to_revive).collect();
                for (place, child) in revived.into_iter().enumerate() {
                    if place < at_once {
                        self.revive(child, step);
                    } else {
                        // Its turn comes later, and it begins at its beginning.
                        self.reset(child);
                    }
                }
                self.start_more(node, step);
            }
            Kind::Seq | Kind::Alt { .. } => {
                let child = self.nodes[node].children[at];
                self.revive(child, step);
            }
            Kind::Loop { .. } => {
                let child = self.nodes[node].children[at];
                let condition_said_again = matches!(self.nodes[child].status, Status::Over(_)) && at != self.body(node);
                if condition_said_again {
                    // It had all its passes; a retry gives it as many again.
                    self.nodes[node].passes = 0;
                    self.start_pass(node, step);
                } else {
                    self.revive(child, step);
                }
            }
        }
    }
}

#[cfg(test)]
pub mod tests;
