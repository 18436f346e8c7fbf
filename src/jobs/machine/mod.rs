//! The rules of tasks and jobs, without I/O, clock or randomness.
//!
//! [`Machine::step`] takes an [`Input`] and returns the records that are to be committed. The state changes only by applying
//! records, so a restart rebuilds it with [`Machine::replay`]. What must be done outside follows from the state alone
//! ([`Machine::effects`]); the driver does what is new there, once the records are committed.

mod definition;
mod effect;
mod input;
mod planned_work;
mod rules;
mod task;
mod tree;
mod wording;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

pub use definition::{Borrowed, RunDefinition};
pub use effect::{Effect, EffectKey};
pub use input::Input;
use planned_work::{PlannedWork, planned_works};
use rules::TaskRules;
use task::{Need, TaskRun};
use tree::{Start, Step, Tree};

use super::entry::{RuntimeVariables, expand_dynamic};
use super::gate_view::{GateView, WorkResult};
use super::record::{Record, Subject};
use crate::model::{JobStatus, SessionId, TaskId};

/// Something that waits for a person.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiting {
    /// Its id.
    pub id: String,
    /// What it is about.
    pub subject: Subject,
    /// What the person is shown.
    pub view: GateView,
    /// The digest of that.
    pub digest: String,
}

/// Why an input was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The job is over.
    Over,
    /// The job runs.
    Running,
    /// The job succeeded.
    Succeeded,
    /// Nothing with that id waits.
    NotWaiting,
    /// There is no such task, or it is over.
    NoSuchTask,
    /// The task uses somebody's session.
    Borrowed,
}

/// The state of a job, or of a task outside a job.
#[derive(Clone, Debug)]
pub struct Machine {
    definition: RunDefinition,
    /// What each work of the job does, by its number.
    works: Vec<PlannedWork>,
    tree: Option<Tree>,
    state: State,
}

/// What changes.
#[derive(Clone, Debug, PartialEq)]
struct State {
    status: JobStatus,
    error: Option<String>,
    has_begun: bool,
    /// A task could not be done: the job ends, and nothing else starts.
    is_crashing: bool,
    tasks: BTreeMap<TaskId, TaskRun>,
    /// Works that are over, in the order of their ends; each once, with its last result.
    results: Vec<WorkResult>,
    /// Gates that must ask.
    gates: BTreeSet<u32>,
    waiting: BTreeMap<String, Waiting>,
    waiting_count: u32,
    gate_note: Option<String>,
    /// Sessions that are open although their task is over or gone.
    leftover: BTreeSet<SessionId>,
    /// Sessions that may exist although nobody needs them any more.
    unknown: BTreeSet<(TaskId, u32)>,
}

/// Gives out task ids. Ids that are taken and not committed are never used.
pub type TakeTaskId<'a> = &'a mut dyn FnMut() -> TaskId;

impl Machine {
    /// A run at its beginning.
    pub fn new(definition: RunDefinition) -> Self {
        let (works, tree) = if definition.borrowed.is_some() {
            (Vec::new(), None)
        } else {
            (planned_works(&definition.plan), Some(Tree::new(&definition.plan.job.work)))
        };
        let state = State {
            status: JobStatus::Running,
            error: None,
            has_begun: false,
            is_crashing: false,
            tasks: BTreeMap::new(),
            results: Vec::new(),
            gates: BTreeSet::new(),
            waiting: BTreeMap::new(),
            waiting_count: 0,
            gate_note: None,
            leftover: BTreeSet::new(),
            unknown: BTreeSet::new(),
        };
        Self { definition, works, tree, state }
    }

    /// A run as its log left it.
    pub fn replay<'a>(definition: RunDefinition, records: impl IntoIterator<Item = &'a Record>) -> Self {
        let mut machine = Self::new(definition);
        // Nothing is started here: what follows from a record is in the log behind it.
        let mut nobody = || TaskId::from_number(u32::MAX);
        for record in records {
            machine.apply(record, &mut Vec::new(), &mut nobody);
        }
        machine
    }

    /// What the run is doing.
    pub fn status(&self) -> JobStatus {
        self.state.status
    }

    /// Why it could not be done.
    pub fn error(&self) -> Option<&str> {
        self.state.error.as_deref()
    }

    /// Whether it began.
    pub fn has_begun(&self) -> bool {
        self.state.has_begun
    }

    /// What waits for a person.
    pub fn waiting(&self) -> impl Iterator<Item = &Waiting> {
        self.state.waiting.values()
    }

    /// How many tasks one input can start at most.
    pub fn starts_at_once(&self) -> usize {
        self.tree.as_ref().map_or(0, Tree::starts_at_once)
    }

    /// Whether everything is over, also what must be cleaned up after the end.
    pub fn is_settled(&self) -> bool {
        self.state.status != JobStatus::Running && self.effects().is_empty()
    }

    /// What the works before produced, for those who decide.
    pub fn results(&self) -> &[WorkResult] {
        &self.state.results
    }

    /// The title and text of what a person decides about.
    pub fn question(&self, subject: Subject) -> (String, Option<String>) {
        match subject {
            Subject::Gate { work_id } => match self.planned(work_id) {
                PlannedWork::Gate(gate) => {
                    let variables = self.variables(String::new());
                    let text = gate.prompt.as_ref().map(|prompt| expand_dynamic(&prompt.join("\n"), &variables));
                    (gate.title.clone(), text)
                }
                PlannedWork::Task { .. } | PlannedWork::Nothing => (String::new(), None),
            },
            Subject::Interrupted { work_id, .. } => {
                let name = work_id.and_then(|work_id| match self.planned(work_id) {
                    PlannedWork::Task { name, .. } => Some(name.as_str()),
                    PlannedWork::Gate(_) | PlannedWork::Nothing => None,
                });
                let title = format!("Continue the task {} after the restart?", name.unwrap_or_default());
                let text = "The server was restarted while the agent was working on this task, so some of its work may be done \
                            already. Approve to let the agent continue in the same session, or reject to let the task fail.";
                (title, Some(text.to_owned()))
            }
        }
    }

    /// The number in the job and the name of a task that runs.
    pub fn work_of(&self, task: TaskId) -> Option<(u32, String)> {
        if let Some(borrowed) = self.definition.borrowed.as_ref().filter(|borrowed| borrowed.task_id == task) {
            return Some((0, borrowed.task_name.clone()));
        }
        let work_id = self.state.tasks.get(&task)?.work_id?;
        match self.planned(work_id) {
            PlannedWork::Task { name, .. } => Some((work_id, name.clone())),
            PlannedWork::Gate(_) | PlannedWork::Nothing => None,
        }
    }

    /// What must be done outside.
    pub fn effects(&self) -> Vec<Effect> {
        let state = &self.state;
        let mut effects: Vec<Effect> =
            state.leftover.iter().map(|session| Effect::CloseSession { session: *session }).collect();
        effects
            .extend(state.unknown.iter().map(|(task, number)| Effect::DiscardSession { task: *task, number: *number }));
        if state.status != JobStatus::Running {
            return effects;
        }
        effects.extend(state.tasks.values().filter_map(effect_of));
        effects.extend(state.gates.iter().map(|work_id| Effect::Show { subject: Subject::Gate { work_id: *work_id } }));
        effects
    }

    /// Takes in an input and returns the records that follow, already applied. They must be committed before anything that
    /// follows from them is done; if they cannot be, the machine must be rebuilt from the log.
    pub fn step(&mut self, input: Input, take_id: TakeTaskId<'_>) -> Result<Vec<Record>, Refused> {
        let mut queue: VecDeque<Record> = VecDeque::new();
        let mut first = Vec::new();
        self.take_in(input, &mut first)?;
        queue.extend(first);
        let mut records = Vec::new();
        while let Some(record) = queue.pop_front() {
            let mut follow = Vec::new();
            self.apply(&record, &mut follow, take_id);
            queue.extend(follow);
            records.push(record);
        }
        Ok(records)
    }

    /// The first records of an input. What is no longer waited for is ignored.
    fn take_in(&mut self, input: Input, first: &mut Vec<Record>) -> Result<(), Refused> {
        match input {
            Input::Begin if self.state.has_begun => {}
            Input::Begin => match &self.definition.borrowed {
                Some(Borrowed { task_id, task_name, session, .. }) => first.push(Record::TaskStarted {
                    task_id: *task_id,
                    task_name: task_name.clone(),
                    session_id: *session,
                }),
                None => first.push(Record::JobStarted {}),
            },
            Input::SessionOpened { task, number, session, model } => {
                let is_expected =
                    |run: &&TaskRun| self.is_running() && run.is_opening() && run.next_session() == number;
                match self.state.tasks.get(&task).filter(is_expected).map(TaskRun::need) {
                    Some(Some(Need::Session { is_driving, .. })) => {
                        first.push(Record::TaskSessionStarted {
                            task_id: task,
                            session_id: session,
                            is_driving,
                            model,
                        });
                    }
                    // It comes too late.
                    _ => drop(self.state.leftover.insert(session)),
                }
                self.state.unknown.remove(&(task, number));
            }
            Input::OpenFailed { task, number, end } => {
                if self.running_task(task).is_some_and(|run| run.is_opening() && run.next_session() == number) {
                    first.push(Record::TaskTurnEnded { task_id: task, number: 0, end });
                }
                self.state.unknown.remove(&(task, number));
            }
            Input::TurnEnded { task, number, end } => {
                if self.running_task(task).is_some_and(|run| run.awaits_turn(number)) {
                    first.push(Record::TaskTurnEnded { task_id: task, number, end });
                }
            }
            Input::CommandEnded { task, end } => {
                if self.running_task(task).is_some_and(TaskRun::awaits_command) {
                    first.push(Record::TaskCommandEnded { task_id: task, end });
                }
            }
            Input::SessionClosed { session } => {
                self.state.leftover.remove(&session);
                if self.is_running() {
                    first.extend(self.state.tasks.values().find_map(|run| run.session_stopped(session)));
                }
            }
            Input::SessionDiscarded { task, number } => drop(self.state.unknown.remove(&(task, number))),
            Input::Shown { subject, view } => self.show(subject, view, first),
            Input::Answered { waiting_id, approved, note, by } => {
                let waiting = self.state.waiting.get(&waiting_id).filter(|_| self.is_running());
                let digest = waiting.ok_or(Refused::NotWaiting)?.digest.clone();
                first.push(Record::WaitingAnswered { waiting_id, approved, note, by, digest });
            }
            Input::Stop if self.is_running() => first.push(Record::JobCanceled {}),
            Input::Stop => return Err(Refused::Over),
            Input::StopTask(task) => self.stop_task(task, first)?,
            Input::Retry => match self.state.status {
                JobStatus::Running => return Err(Refused::Running),
                JobStatus::Succeeded => return Err(Refused::Succeeded),
                JobStatus::Failed | JobStatus::Canceled => first.push(Record::JobRetried {}),
            },
        }
        Ok(())
    }

    fn is_running(&self) -> bool {
        self.state.status == JobStatus::Running && !self.state.is_crashing
    }

    fn running_task(&self, task: TaskId) -> Option<&TaskRun> {
        self.state.tasks.get(&task).filter(|_| self.is_running())
    }

    fn stop_task(&self, task: TaskId, first: &mut Vec<Record>) -> Result<(), Refused> {
        if !self.is_running() {
            return Err(Refused::NoSuchTask);
        }
        let run = self.state.tasks.get(&task).filter(|run| !run.is_over()).ok_or(Refused::NoSuchTask)?;
        if run.is_borrowed() {
            return Err(Refused::Borrowed);
        }
        first.push(Record::TaskStopped { task_id: task });
        Ok(())
    }

    /// Something is to be shown to a person: for the first time, or because it has changed.
    fn show(&self, subject: Subject, view: GateView, first: &mut Vec<Record>) {
        let digest = view.digest();
        if let Some(open) = self.state.waiting.values().find(|waiting| waiting.subject == subject) {
            if open.digest != digest {
                first.push(Record::WaitingOpened { waiting_id: open.id.clone(), subject, view, digest });
            }
            return;
        }
        let is_needed = self.is_running()
            && match subject {
                Subject::Gate { work_id } => self.state.gates.contains(&work_id),
                Subject::Interrupted { task_id, .. } => {
                    self.state.tasks.get(&task_id).is_some_and(TaskRun::awaits_question)
                }
            };
        if is_needed {
            let waiting_id = format!("{}-{}", subject.kind(), self.state.waiting_count + 1);
            first.push(Record::WaitingOpened { waiting_id, subject, view, digest });
        }
    }

    /// Applies a record. What follows from it at once is added to `follow`.
    fn apply(&mut self, record: &Record, follow: &mut Vec<Record>, take_id: TakeTaskId<'_>) {
        self.state.has_begun = true;
        match record {
            Record::JobStarted {} => {
                let step = self.tree.as_mut().map(Tree::begin).unwrap_or_default();
                self.follow_tree(step, follow, take_id);
            }
            Record::WorkStarted { work_id, task_id, .. } => self.work_started(*work_id, *task_id, follow),
            Record::TaskStarted { task_id, .. } => self.borrowed_started(*task_id, follow),
            Record::WorkStopped { work_id, succeeded } => self.work_stopped(*work_id, *succeeded, follow, take_id),
            Record::JobSucceeded {} => self.end(JobStatus::Succeeded),
            Record::JobFailed {} => self.end(JobStatus::Failed),
            Record::JobCanceled {} => self.end(JobStatus::Canceled),
            Record::JobError { message } => self.state.error = Some(message.clone()),
            Record::JobRetried {} => self.retried(follow, take_id),
            Record::WaitingOpened { waiting_id, subject, view, digest } => {
                self.state.gates.retain(|gate| *subject != Subject::Gate { work_id: *gate });
                if !self.state.waiting.contains_key(waiting_id) {
                    self.state.waiting_count += 1;
                }
                let waiting =
                    Waiting { id: waiting_id.clone(), subject: *subject, view: view.clone(), digest: digest.clone() };
                self.state.waiting.insert(waiting_id.clone(), waiting);
                if let Subject::Interrupted { task_id, .. } = subject {
                    self.apply_to_task(*task_id, record, follow);
                }
            }
            Record::WaitingAnswered { waiting_id, approved, note, .. } => {
                let Some(waiting) = self.state.waiting.remove(waiting_id) else { return };
                match waiting.subject {
                    Subject::Gate { work_id } => {
                        self.gate_answered(work_id, *approved, note.as_deref(), follow, take_id);
                    }
                    Subject::Interrupted { task_id, .. } => self.apply_to_task(task_id, record, follow),
                }
            }
            Record::TaskStopped { task_id } => {
                if let Some(run) = self.state.tasks.get_mut(task_id) {
                    if run.is_opening() {
                        self.state.unknown.insert((*task_id, run.next_session()));
                    }
                    run.stop(follow);
                }
                self.state.waiting.retain(|_, waiting| !is_about(waiting.subject, *task_id));
            }
            Record::TaskSucceeded { task_id } | Record::TaskFailed { task_id } => {
                self.apply_to_task(*task_id, record, follow);
                self.task_over(*task_id, matches!(record, Record::TaskSucceeded { .. }), follow);
            }
            Record::TaskError { message, .. } => {
                if self.definition.borrowed.is_some() {
                    self.state.error = Some(message.clone());
                }
            }
            Record::TaskDecision { task_id, .. }
            | Record::TaskSessionStarted { task_id, .. }
            | Record::TaskSessionStopped { task_id, .. }
            | Record::TaskPromptSent { task_id, .. }
            | Record::TaskTurnEnded { task_id, .. }
            | Record::TaskCommandEnded { task_id, .. } => self.apply_to_task(*task_id, record, follow),
        }
    }

    fn apply_to_task(&mut self, task: TaskId, record: &Record, follow: &mut Vec<Record>) {
        if let Some(run) = self.state.tasks.get_mut(&task) {
            run.apply(record, follow);
        }
    }

    fn planned(&self, work_id: u32) -> &PlannedWork {
        usize::try_from(work_id).ok().and_then(|work| self.works.get(work)).unwrap_or(&PlannedWork::Nothing)
    }

    fn variables(&self, model: String) -> RuntimeVariables {
        RuntimeVariables {
            user_input: Some(self.definition.user_input.clone()),
            task_model: Some(model),
            gate_note: self.state.gate_note.clone(),
            ..RuntimeVariables::default()
        }
    }

    fn work_started(&mut self, work_id: u32, task_id: TaskId, follow: &mut Vec<Record>) {
        let PlannedWork::Task { rules, .. } = self.planned(work_id) else { return };
        let (rules, variables) = (Arc::clone(rules), self.variables(rules.model.clone()));
        let mut run = TaskRun::new(task_id, Some(work_id), rules, variables);
        run.begin(None, follow);
        self.state.tasks.insert(task_id, run);
    }

    fn borrowed_started(&mut self, task_id: TaskId, follow: &mut Vec<Record>) {
        let Some(borrowed) = &self.definition.borrowed else { return };
        let rules = TaskRules::borrowed(&self.definition.plan, &borrowed.task_name, borrowed.model.clone());
        let (Some(rules), session) = (rules, borrowed.session) else { return };
        let variables = self.variables(rules.model.clone());
        let mut run = TaskRun::new(task_id, None, Arc::new(rules), variables);
        run.begin(Some(session), follow);
        self.state.tasks.insert(task_id, run);
    }

    /// A task is over: its work is, or the job, if the task could not be done.
    fn task_over(&mut self, task: TaskId, succeeded: bool, follow: &mut Vec<Record>) {
        let Some(run) = self.state.tasks.remove(&task) else { return };
        let Some(work_id) = run.work_id else {
            return self.end(if succeeded { JobStatus::Succeeded } else { JobStatus::Failed });
        };
        if let PlannedWork::Task { name, .. } = self.planned(work_id) {
            let result = WorkResult {
                work_id,
                task_name: name.clone(),
                succeeded,
                last_decision: run.last_decision().map(str::to_owned),
            };
            self.state.results.retain(|known| known.work_id != work_id);
            self.state.results.push(result);
        }
        self.state.is_crashing |= run.error().is_some();
        follow.push(Record::WorkStopped { work_id, succeeded });
        if let Some(error) = run.error() {
            let message = match self.planned(work_id) {
                PlannedWork::Task { name, .. } => format!("The task {name:?} could not be done: {error}"),
                PlannedWork::Gate(_) | PlannedWork::Nothing => error.to_owned(),
            };
            follow.extend([Record::JobFailed {}, Record::JobError { message }]);
        }
    }

    fn work_stopped(&mut self, work_id: u32, succeeded: bool, follow: &mut Vec<Record>, take_id: TakeTaskId<'_>) {
        if self.state.is_crashing || self.state.status != JobStatus::Running {
            return;
        }
        let step = self.tree.as_mut().map(|tree| tree.work_over(work_id, succeeded)).unwrap_or_default();
        self.follow_tree(step, follow, take_id);
    }

    fn gate_answered(
        &mut self,
        work_id: u32,
        approved: bool,
        note: Option<&str>,
        follow: &mut Vec<Record>,
        take_id: TakeTaskId<'_>,
    ) {
        self.state.gate_note = note.filter(|_| !approved).map(str::to_owned);
        let answer = |tree: &mut Tree| if approved { tree.gate_approved(work_id) } else { tree.gate_rejected(work_id) };
        let step = self.tree.as_mut().map(answer).unwrap_or_default();
        self.follow_tree(step, follow, take_id);
    }

    fn follow_tree(&mut self, step: Step, follow: &mut Vec<Record>, take_id: TakeTaskId<'_>) {
        for start in step.starts {
            match (start, self.planned(start.work_id())) {
                (Start::Work(work_id), PlannedWork::Task { name, .. }) => {
                    follow.push(Record::WorkStarted { work_id, task_id: take_id(), task_name: name.clone() });
                }
                (Start::Gate(work_id), _) => drop(self.state.gates.insert(work_id)),
                (Start::Work(_), _) => {}
            }
        }
        if let Some(most) = step.too_many_passes {
            self.state.is_crashing = true;
            let message = format!("A loop did not end after {most} passes");
            follow.extend([Record::JobFailed {}, Record::JobError { message }]);
        }
        match step.verdict {
            Some(true) => follow.push(Record::JobSucceeded {}),
            Some(false) => follow.push(Record::JobFailed {}),
            None => {}
        }
    }

    /// The run is over: nothing more starts, and what is open is closed.
    fn end(&mut self, status: JobStatus) {
        let state = &mut self.state;
        state.status = status;
        for run in std::mem::take(&mut state.tasks).into_values().filter(|run| !run.is_borrowed()) {
            state.leftover.extend(run.open_session());
            if run.is_opening() {
                state.unknown.insert((run.id, run.next_session()));
            }
        }
        state.gates.clear();
        state.waiting.clear();
    }

    fn retried(&mut self, follow: &mut Vec<Record>, take_id: TakeTaskId<'_>) {
        (self.state.status, self.state.error, self.state.is_crashing) = (JobStatus::Running, None, false);
        let step = self.tree.as_mut().map(Tree::retry).unwrap_or_default();
        self.follow_tree(step, follow, take_id);
    }
}

fn is_about(subject: Subject, task: TaskId) -> bool {
    matches!(subject, Subject::Interrupted { task_id, .. } if task_id == task)
}

fn effect_of(run: &TaskRun) -> Option<Effect> {
    let task = run.id;
    Some(match run.need()? {
        Need::Session { number, model, is_driving } => Effect::OpenSession { task, number, model, is_driving },
        Need::Turn { session, number, text } => Effect::SendPrompt { task, number, session, text },
        Need::Command { number } => Effect::RunCommand { task, number, command: run.command()?.clone() },
        Need::Close { session } => Effect::CloseSession { session },
        Need::Question => Effect::Show { subject: Subject::Interrupted { task_id: task, work_id: run.work_id } },
    })
}

#[cfg(test)]
impl Machine {
    /// The effects, without what only the memory knows about.
    fn effects_to_do(&self) -> Vec<Effect> {
        let is_cleanup =
            |effect: &Effect| matches!(effect, Effect::CloseSession { .. } | Effect::DiscardSession { .. });
        self.effects().into_iter().filter(|effect| !is_cleanup(effect)).collect()
    }
}
