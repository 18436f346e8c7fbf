//! An outside that opens sessions and ends turns as a script says, remembers what it did by key as the real one does, and can
//! be killed.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::jobs::entry::Plan;
use crate::jobs::gate_view::GateView;
use crate::jobs::machine::{Effect, Input, Machine, RunDefinition};
use crate::jobs::record::{CommandEnd, Record, Subject, TurnEnd, TurnVerdict};
use crate::model::{AnsweredBy, JobStatus, SessionId, TaskId, ToolReport, TurnActivity, Usage};

/// What a turn does, by the task's name, how often the work ran before, and how many turns of the run finished before it.
pub type Script = Box<dyn Fn(&str, usize, usize) -> TurnEnd>;

pub struct World {
    pub definition: RunDefinition,
    pub machine: Machine,
    /// The committed log.
    pub log: Vec<Record>,
    pub script: Script,
    /// What a command exits with, by how often it ran.
    pub exits: Vec<i32>,
    /// How a person answers gates, in order; approves when there are no more.
    pub answers: Vec<bool>,
    sessions: BTreeMap<(TaskId, u32), SessionId>,
    /// Prompts that were accepted, by key, and whether their turn is over.
    prompts: BTreeMap<(TaskId, u32), Option<TurnEnd>>,
    pub closed: Vec<SessionId>,
    next_task: u32,
    commands: usize,
}

pub fn finished(tools: &[&str], reports: &[(&str, &str)]) -> TurnEnd {
    let report = |(tool, text): &(&str, &str)| ToolReport { tool: (*tool).to_owned(), text: (*text).to_owned() };
    let mut names: Vec<String> = tools.iter().map(|tool| (*tool).to_owned()).collect();
    names.extend(reports.iter().map(|(tool, _)| (*tool).to_owned()));
    let activity = TurnActivity { tools: names, reports: reports.iter().map(report).collect(), denied: Vec::new() };
    TurnEnd { verdict: TurnVerdict::Finished, reason: None, activity, usage: Usage::default() }
}

pub fn ended(verdict: TurnVerdict) -> TurnEnd {
    let reason = Some("the agent is gone".to_owned());
    TurnEnd { verdict, reason, activity: TurnActivity::default(), usage: Usage::default() }
}

/// A plan from the tasks and the work of a job.
pub fn plan(tasks: &Value, work: &Value) -> Plan {
    let plan = json!({
        "jobName": "job",
        "job": { "requireUserInput": false, "work": work },
        "tasks": tasks,
        "models": { "driving": "driver", "coding": "coder" },
        "drivingSessionRetries": [{ "modelId": "driver", "retries": 2 }, { "modelId": "second", "retries": 1 }],
    });
    serde_json::from_value(plan).expect("a plan")
}

pub fn reference(work_id: u32, task: &str) -> Value {
    json!({ "kind": "Ref", "workIdInJob": work_id, "taskId": task })
}

impl World {
    pub fn new(plan: Plan, script: impl Fn(&str, usize, usize) -> TurnEnd + 'static) -> Self {
        let definition = RunDefinition { plan: Arc::new(plan), user_input: "input".to_owned(), borrowed: None };
        Self::of(definition, script)
    }

    pub fn of(definition: RunDefinition, script: impl Fn(&str, usize, usize) -> TurnEnd + 'static) -> Self {
        Self {
            machine: Machine::new(definition.clone()),
            definition,
            log: Vec::new(),
            script: Box::new(script),
            exits: Vec::new(),
            answers: Vec::new(),
            sessions: BTreeMap::new(),
            prompts: BTreeMap::new(),
            closed: Vec::new(),
            next_task: 0,
            commands: 0,
        }
    }

    /// Hands an input to the machine and commits what follows. The rebuilt machine must have the same state.
    pub fn give(&mut self, input: Input) {
        let next = &mut self.next_task;
        let mut take = || {
            *next += 1;
            TaskId::from_number(*next)
        };
        let records = self.machine.step(input, &mut take).expect("accepted");
        self.log.extend(records);
        let replayed = Machine::replay(self.definition.clone(), &self.log);
        let (live, replayed) = (&self.machine, &replayed);
        assert_eq!(live.tree, replayed.tree, "after {:#?}", self.log);
        assert_eq!(live.state.tasks, replayed.state.tasks, "after {:#?}", self.log);
        assert_eq!(live.effects_to_do(), replayed.effects_to_do(), "after {:#?}", self.log);
        assert_eq!(live.status(), replayed.status());
    }

    /// Carries out one effect. Returns whether there was one.
    pub fn work(&mut self, which: usize) -> bool {
        let effects = self.machine.effects();
        if effects.is_empty() {
            return false;
        }
        match effects[which % effects.len()].clone() {
            Effect::OpenSession { task, number, model, .. } => {
                let session = self.session(task, number);
                self.give(Input::SessionOpened { task, number, session, model });
            }
            Effect::SendPrompt { task, number, .. } => {
                let end = match self.prompts.get(&(task, number)).cloned().flatten() {
                    Some(end) => end,
                    None => self.script_of(task),
                };
                self.prompts.insert((task, number), Some(end.clone()));
                self.give(Input::TurnEnded { task, number, end });
            }
            Effect::RunCommand { task, .. } => {
                let exit = self.exits.get(self.commands).copied().unwrap_or(0);
                self.commands += 1;
                let end = CommandEnd { exit: Some(exit), problem: None, output: format!("exit {exit}") };
                self.give(Input::CommandEnded { task, end });
            }
            Effect::CloseSession { session } => {
                self.closed.push(session);
                self.give(Input::SessionClosed { session });
            }
            Effect::DiscardSession { task, number } => {
                self.closed.extend(self.sessions.get(&(task, number)));
                self.give(Input::SessionDiscarded { task, number });
            }
            Effect::Show { subject } => {
                let (title, prompt) = self.machine.question(subject);
                let view = GateView { title, prompt, works: self.machine.results().to_vec(), changes: None };
                self.give(Input::Shown { subject, view });
            }
        }
        true
    }

    /// The next answer to what waits first. Returns whether something waited.
    pub fn answer(&mut self) -> bool {
        let Some(waiting) = self.machine.waiting().next() else { return false };
        let (waiting_id, is_gate) = (waiting.id.clone(), matches!(waiting.subject, Subject::Gate { .. }));
        let approved = if is_gate && !self.answers.is_empty() { self.answers.remove(0) } else { true };
        let note = (!approved).then(|| "do it better".to_owned());
        self.give(Input::Answered { waiting_id, approved, note, by: AnsweredBy::Api });
        true
    }

    /// Runs to the end; `order` chooses among what can be done.
    pub fn run(&mut self, order: impl Iterator<Item = usize>) {
        if !self.machine.has_begun() {
            self.give(Input::Begin);
        }
        for (step, which) in order.enumerate() {
            assert!(step < 5_000, "the run does not end: {:#?}", self.log);
            if !self.work(which) && !self.answer() {
                break;
            }
        }
        assert_ne!(self.machine.status(), JobStatus::Running, "{:#?}", self.log);
        assert!(self.machine.is_settled());
    }

    pub fn run_in_order(&mut self) {
        self.run(std::iter::repeat(0));
    }

    /// Begins what the state asks for, so that it is in progress when the server is killed: sessions exist and prompts run
    /// that the log does not know the end of.
    pub fn begin_everything(&mut self) {
        for effect in self.machine.effects() {
            match effect {
                Effect::OpenSession { task, number, .. } => drop(self.session(task, number)),
                Effect::SendPrompt { task, number, .. } => drop(self.prompts.entry((task, number)).or_insert(None)),
                _ => {}
            }
        }
    }

    /// Kills the server and starts it again: turns that ran are over, cut off.
    pub fn kill(&mut self) {
        for end in self.prompts.values_mut() {
            end.get_or_insert_with(|| ended(TurnVerdict::Interrupted));
        }
        self.machine = Machine::replay(self.definition.clone(), &self.log);
        if !self.machine.has_begun() {
            self.give(Input::Begin);
        }
    }

    fn session(&mut self, task: TaskId, number: u32) -> SessionId {
        let next = u32::try_from(self.sessions.len()).expect("few") + 1;
        *self.sessions.entry((task, number)).or_insert(SessionId::from_number(next))
    }

    fn script_of(&self, task: TaskId) -> TurnEnd {
        let started = |record: &Record| match record {
            Record::WorkStarted { task_id, work_id, task_name } => Some((*task_id, *work_id, task_name.clone())),
            Record::TaskStarted { task_id, task_name, .. } => Some((*task_id, 0, task_name.clone())),
            _ => None,
        };
        let all: Vec<_> = self.log.iter().filter_map(started).collect();
        let (_, work, name) = all.iter().find(|(id, ..)| *id == task).expect("it started").clone();
        let runs = all.iter().filter(|(id, of, _)| *of == work && *id < task).count();
        let finished = |record: &&Record| {
            matches!(record, Record::TaskTurnEnded { task_id, end, .. }
                if *task_id == task && end.verdict != TurnVerdict::Interrupted)
        };
        (self.script)(&name, runs, self.log.iter().filter(finished).count())
    }

    pub fn decisions(&self) -> Vec<String> {
        let decision = |record: &Record| match record {
            Record::TaskDecision { reason, .. } => Some(reason.clone()),
            _ => None,
        };
        self.log.iter().filter_map(decision).collect()
    }

    pub fn prompts(&self) -> Vec<String> {
        let prompt = |record: &Record| match record {
            Record::TaskPromptSent { text, .. } => Some(text.clone()),
            _ => None,
        };
        self.log.iter().filter_map(prompt).collect()
    }

    /// The works that ended, with how, in order.
    pub fn ended_works(&self) -> Vec<(u32, bool)> {
        let ended = |record: &Record| match record {
            Record::WorkStopped { work_id, succeeded } => Some((*work_id, *succeeded)),
            _ => None,
        };
        self.log.iter().filter_map(ended).collect()
    }

    pub fn models(&self) -> Vec<(String, bool)> {
        let model = |record: &Record| match record {
            Record::TaskSessionStarted { model, is_driving, .. } => Some((model.clone(), *is_driving)),
            _ => None,
        };
        self.log.iter().filter_map(model).collect()
    }

    /// The last words of the log, without decisions.
    pub fn last_callbacks(&self, count: usize) -> Vec<String> {
        let name = |record: &Record| {
            serde_json::to_value(record).expect("plain")["callback"].as_str().expect("a name").to_owned()
        };
        let all: Vec<String> = self.log.iter().map(name).filter(|name| name != "taskDecision").collect();
        all[all.len().saturating_sub(count)..].to_vec()
    }
}
