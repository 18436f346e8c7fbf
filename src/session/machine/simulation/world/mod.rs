//! The world around one machine: a clock, a store, an agent, people, and accidents.

mod accidents;
mod people;

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use crate::agent::{
    AgentCommand, AgentEvent, Pending, QueuePosition, RequestAnswer, Restored, StartError, SuspendedTurn,
};
use crate::model::{
    BudgetLimits, Decision, PermissionMode, PermissionPolicy, PermissionRule, PromptId, RuleDecision, SessionOrigin,
    SessionState, Timestamp, Usage,
};
use crate::session::machine::simulation::agent::Agent;
use crate::session::machine::simulation::random::Random;
use crate::session::machine::simulation::store::{PromptState, Store};
use crate::session::machine::{Abilities, AgentInput, Command, Context, Input, Machine, Opened, Output, Reply};
use crate::session::{BudgetSettings, SessionSettings};
use crate::store::StoreError;

/// The state of the connection to the agent.
enum Link {
    None,
    Opening,
    Live(Box<Agent>),
    AwaitingLogin,
}

#[expect(clippy::struct_excessive_bools, reason = "each is a fact about another part of the world")]
pub(super) struct World {
    pub random: Random,
    trace: bool,
    settings: Arc<SessionSettings>,
    abilities: Abilities,
    mode: PermissionMode,
    pub store: Store,
    pub machine: Machine,
    link: Link,
    now: Duration,
    unsent: VecDeque<(u64, AgentCommand)>,
    wants_turn_slot: bool,
    probes: bool,
    /// Prompts that were reported as accepted, by key.
    accepted: BTreeMap<String, PromptId>,
    opens: u32,
    keys: usize,
    steps: usize,
    /// The last restart left the queue for the next prompt.
    queue_rests: bool,
    /// The turn that the connection is to continue.
    suspended: Option<SuspendedTurn>,
    /// Prompts whose outcome was reported.
    reported: HashSet<PromptId>,
}

impl World {
    pub fn new(mut random: Random, trace: bool) -> Self {
        let rule = PermissionRule::for_tool;
        let settings = SessionSettings {
            permissions: PermissionPolicy {
                mode: PermissionMode::Ask,
                rules: vec![rule("forbidden", RuleDecision::Deny), rule("harmless", RuleDecision::Allow)],
            },
            turn_timeout: random.one_in(3).then_some(Duration::from_mins(30)),
            queued_prompts: 4,
            ..SessionSettings::default()
        };
        let settings = if random.one_in(6) {
            let session = BudgetLimits { tokens: Some(60), ..BudgetLimits::default() };
            let budget = BudgetSettings { session, stop_turns: true, ..settings.budget };
            SessionSettings { budget, ..settings }
        } else {
            settings
        };
        let abilities = Abilities {
            steering: random.one_in(2),
            model_switch: true,
            model_retries: random.one_in(2),
            durable_requests: random.one_in(2),
            durable_questions: random.one_in(2),
            permissions: random.one_in(2),
            session_resume: true,
            demo: random.one_in(4),
            process_per_turn: random.one_in(4),
            own_server: false,
        };
        let mode = if random.one_in(4) { PermissionMode::Folder } else { PermissionMode::Ask };
        let store = Store::new(*random.pick(&SessionOrigin::ALL), mode);
        let machine = Machine::new(store.load());
        let mut world = Self {
            random,
            trace,
            settings: Arc::new(settings),
            abilities,
            mode,
            store,
            machine,
            link: Link::None,
            now: Duration::ZERO,
            unsent: VecDeque::new(),
            wants_turn_slot: false,
            probes: false,
            accepted: BTreeMap::new(),
            opens: 0,
            keys: 0,
            steps: 0,
            queue_rests: false,
            suspended: None,
            reported: HashSet::new(),
        };
        world.drive(Input::Created);
        world
    }

    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Everything that is committed, as readers see it.
    pub fn log(&self) -> Vec<String> {
        self.store.records.log.iter().map(|(seq, (_, response))| format!("{seq} {}", response.to_json())).collect()
    }

    /// Something happens.
    pub fn step(&mut self) {
        self.steps += 1;
        match self.random.below(100) {
            0..=44 => self.agent_acts(),
            45..=54 => self.store.work(),
            55..=62 => self.somebody_prompts(),
            63..=66 => self.somebody_answers(),
            67..=68 => drop(self.drive(Input::Command(Command::Interrupt))),
            69..=74 => self.link_moves(),
            75..=80 => self.time_passes(),
            81 => self.somebody_closes(),
            82..=83 => drop(self.drive(Input::Command(Command::Reopen))),
            84..=85 => drop(self.drive(Input::Command(Command::TryAgain))),
            86 => self.somebody_updates(),
            93 if self.random.one_in(4) => self.folder_rules_change(),
            87..=88 => self.disk_changes(),
            89 if self.random.one_in(3) => self.crash(),
            90 if self.random.one_in(6) => self.lose_power(),
            91 if self.random.one_in(4) => self.shut_down(),
            92 => self.process_is_wanted(),
            94..=95 => self.somebody_changes_the_queue(),
            _ => self.flush(),
        }
        self.check();
    }

    /// Runs without failures until nothing is left to do.
    pub fn settle(&mut self) {
        if self.store.refuses {
            self.store.refuses = false;
            self.drive(Input::StoreRecovered);
        }
        for _ in 0..2_000 {
            self.steps += 1;
            self.flush();
            while self.store.has_handed() {
                self.store.work();
            }
            self.send_committed();
            if let Link::Live(agent) = &self.link {
                assert!(!agent.waits_for_result(), "every call of a job tool is answered");
            }
            if let Some(request) = self.open_request() {
                self.answer(&request, RequestAnswer::Permission { decision: Decision::Deny, feedback: None });
                self.answer(&request, RequestAnswer::Question(crate::agent::QuestionAnswer::Declined));
            } else if matches!(&self.link, Link::Live(agent) if agent.is_busy())
                || self.machine.has_turn() && matches!(self.link, Link::Live(_))
            {
                let Link::Live(agent) = &mut self.link else { unreachable!("it is live") };
                let idle = agent.finish();
                self.drive(Input::Agent(AgentInput::Event(idle)));
            } else if matches!(self.link, Link::Opening) {
                self.open_succeeds();
            } else if matches!(self.link, Link::AwaitingLogin) {
                self.drive(Input::LoginChanged);
            } else if self.wants_turn_slot {
                self.grant_turn_slot();
            } else if let Some(at) = self.next_deadline().filter(|_| self.is_unsettled()) {
                self.now = self.now.max(at);
                self.drive(Input::Deadline);
            } else if self.is_unsettled() && std::mem::take(&mut self.queue_rests) {
                self.drive(Input::QueueResumed);
            } else if self.is_unsettled() && self.machine.holds_queue() {
                self.drive(Input::Command(Command::TryAgain));
            } else if self.is_unsettled() && !self.has_given_up() {
                panic!("prompts wait and nobody begins the next turn: {:?}", self.store.queued());
            } else {
                break;
            }
            self.check();
        }
        // Work of the agent outside a turn ends with the connection.
        self.shut_down();
    }

    /// The session waits for a person: its queue rests until somebody sends a prompt or logs in.
    fn has_given_up(&self) -> bool {
        matches!(self.store.records.state, SessionState::Failed | SessionState::NeedsLogin)
    }

    fn is_unsettled(&self) -> bool {
        self.store.records.state != SessionState::Closed && (self.machine.has_turn() || self.store.has_queued())
    }

    fn context(&self) -> Context {
        Context {
            now: self.now,
            time: Timestamp::from_millis(i64::try_from(self.now.as_millis()).unwrap_or_default()),
            settings: Arc::clone(&self.settings),
            folder_rules: self.store.folder_rules(),
            abilities: self.abilities,
            day_usage: Usage::default(),
            store_refuses: self.store.refuses,
            stopping: false,
            unattended_since: Some(Duration::ZERO),
            spread: 0.5,
        }
    }

    fn next_deadline(&self) -> Option<Duration> {
        self.machine.next_deadline(&self.context())
    }

    pub fn drive(&mut self, input: Input) -> Option<Reply> {
        let is_command = matches!(input, Input::Command(_));
        let mut inputs = VecDeque::from([input]);
        let mut reply = None;
        while let Some(input) = inputs.pop_front() {
            if self.trace {
                eprintln!("{:>8?} {}", self.now, name(&input));
            }
            let context = self.context();
            self.machine.step(&context, input);
            self.carry_out(&mut inputs, &mut reply);
        }
        assert_eq!(reply.is_some(), is_command, "a command gets its reply, and nothing else does");
        assert_eq!(self.machine.is_live(), matches!(self.link, Link::Live(_)), "the machine knows its connection");
        self.machine.take_status();
        reply
    }

    pub fn flush(&mut self) {
        self.machine.flush();
        self.carry_out(&mut VecDeque::new(), &mut None);
        self.send_committed();
    }

    fn carry_out(&mut self, inputs: &mut VecDeque<Input>, reply: &mut Option<Reply>) {
        for output in self.machine.take_outputs(Vec::new()) {
            match output {
                Output::Append(batch) => self.store.append(batch),
                Output::Commit(batch) => {
                    let outcome = if self.store.commit(batch) { Ok(()) } else { Err(StoreError::Closed) };
                    inputs.push_front(Input::Committed(outcome));
                }
                Output::Send(command) => self.agent_hears(command),
                Output::SendCommitted(after, command) => self.unsent.push_back((after, command)),
                Output::Open { suspended, .. } => {
                    self.suspended = suspended;
                    assert!(matches!(self.link, Link::None | Link::AwaitingLogin), "a connection is opened twice");
                    self.link = Link::Opening;
                }
                Output::AwaitLogin => self.link = Link::AwaitingLogin,
                Output::Disconnect(_) => self.disconnect(),
                Output::Probe { .. } => self.probes = true,
                Output::AcquireTurnSlot => self.wants_turn_slot = true,
                Output::ReleaseTurnSlot => self.wants_turn_slot = false,
                Output::Reply(answer) => {
                    assert!(reply.replace(answer).is_none(), "a command is answered twice");
                }
                Output::PromptEnded(prompt) => {
                    assert!(self.reported.insert(prompt), "{prompt} is reported twice");
                }
                // The actor replies once everything is written.
                Output::Closed { .. } => {
                    assert!(reply.replace(Reply::Done(Ok(()))).is_none(), "a command is answered twice");
                }
                Output::FolderRuleAdded => inputs.push_back(Input::RulesChanged),
                Output::PromptAccepted(_)
                | Output::TurnStarted(_)
                | Output::TurnEnded { .. }
                | Output::CountUnknown
                | Output::Reopened => {}
            }
        }
    }

    fn disconnect(&mut self) {
        (self.link, self.wants_turn_slot, self.probes) = (Link::None, false, false);
        self.unsent.clear();
    }

    fn send_committed(&mut self) {
        while self.unsent.front().is_some_and(|(after, _)| *after <= self.store.committed()) {
            let (_, command) = self.unsent.pop_front().expect("there is one");
            self.agent_hears(command);
        }
    }

    fn agent_hears(&mut self, command: AgentCommand) {
        let Link::Live(agent) = &mut self.link else { panic!("no agent is connected for {command:?}") };
        let turn = match &command {
            AgentCommand::Prompt { turn_id, text, .. } => Some((turn_id.clone(), text.clone())),
            _ => None,
        };
        let agent_said_something = turn.as_ref().is_some_and(|(turn, _)| agent.has_said_something_in(turn));
        let answered = agent.run_command(command);
        if let Some((turn_id, text)) = turn {
            assert!(!agent_said_something, "{turn_id} is sent again although the agent has said something");
            let committed = self.store.records.turn.as_ref().map(|turn| turn.turn_id.clone());
            assert_eq!(committed, Some(turn_id.clone()), "a turn is committed before its prompt is sent");
            let number = turn_id.as_str().trim_start_matches("turn-").parse().expect("a turn of ours");
            self.check_sent(PromptId::from_number(number), &text);
        }
        if let Some((agent_request_id, allows)) = answered {
            self.check_answer(&agent_request_id, allows);
        }
    }

    /// A prompt is sent as it was last changed, never after it was cancelled, and before all that wait.
    fn check_sent(&self, id: PromptId, text: &str) {
        let sent = &self.store.records.prompts[&id];
        assert_eq!(sent.state, PromptState::Running, "{id} is sent");
        assert!(text.ends_with(&sent.queued.text), "{id} is sent as it was before it was changed");
        for waiting in self.store.queued() {
            assert!(waiting.place.rank() > sent.queued.place.rank(), "{id} is sent before {}", waiting.id);
        }
    }

    /// Nothing runs that was denied, and nothing is answered before the answer is committed.
    fn check_answer(&self, agent_request_id: &str, allows: bool) {
        let mut requests = self.store.records.requests.values();
        let ours = requests.find(|(request, _)| request.agent_request_id == agent_request_id);
        match ours {
            // What is allowed without asking leaves an event, but no record of a request.
            None => {
                assert!(allows, "{agent_request_id} was denied without a record");
                assert!(self.may_be_allowed(agent_request_id), "nobody allowed {agent_request_id}");
            }
            Some((_, outcome)) => {
                let outcome = outcome.expect("an answer is committed before the agent gets it");
                let allowed = matches!(outcome.as_str(), "allow-once" | "allow-always");
                assert_eq!(allows, allowed, "{agent_request_id}");
            }
        }
    }

    /// In mode `folder`, only a rule or a place in the folder allows anything.
    fn may_be_allowed(&self, agent_request_id: &str) -> bool {
        let Link::Live(agent) = &self.link else { return false };
        self.mode != PermissionMode::Folder || agent.asked_harmlessly(agent_request_id)
    }

    fn agent_acts(&mut self) {
        let last = self.store.records.prompts.keys().next_back().map_or(1, |id| id.number());
        let Link::Live(agent) = &mut self.link else { return self.link_moves() };
        let event = agent.act(&mut self.random, last);
        if self.trace {
            eprintln!("         agent: {event:?}");
        }
        let input = match event {
            AgentEvent::UsageReported(usage) => AgentInput::Usage { of_day: usage.clone(), usage },
            event => AgentInput::Event(event),
        };
        self.drive(Input::Agent(input));
    }

    fn open_succeeds(&mut self) {
        self.opens += 1;
        let mut agent = Agent::new(self.opens);
        // The agent may have forgotten what it waited for.
        let pending = match self.suspended.take() {
            Some(turn) if self.random.one_in(2) => {
                agent.continue_turn(turn);
                Pending::All
            }
            Some(mut turn) => {
                turn.requests.retain(|_| self.random.one_in(2));
                let ids = turn.requests.iter().map(|request| request.agent_request_id.clone()).collect();
                if !turn.requests.is_empty() {
                    agent.continue_turn(turn);
                }
                Pending::Only(ids)
            }
            None => Pending::All,
        };
        self.link = Link::Live(Box::new(agent));
        let summary = self.machine.needs_summary().and_then(|waiting| self.store.summary(waiting));
        let opened = Opened {
            agent_session_id: Some(format!("agent-{}", self.random.below(3))),
            restored: *self.random.pick(&[Restored::New, Restored::Whole, Restored::Incomplete]),
            can_probe: self.random.one_in(2),
            pending,
            summary,
        };
        self.drive(Input::Opened(opened));
    }

    fn link_moves(&mut self) {
        match self.link {
            Link::Opening if self.random.one_in(4) => {
                let reason = "it did not start".to_owned();
                let error = match self.random.below(5) {
                    0 => StartError::NeedsLogin(reason),
                    1 => StartError::SessionLost(reason),
                    2 => StartError::Permanent(reason),
                    _ => StartError::Temporary(reason),
                };
                self.link = Link::None;
                self.drive(Input::OpenFailed(error));
            }
            Link::Opening if self.random.one_in(6) => {
                let position = 1 + self.random.below(3);
                self.drive(Input::Queued(QueuePosition { position, limit: 1 }));
            }
            Link::Opening => self.open_succeeds(),
            Link::AwaitingLogin => {
                self.link = Link::None;
                self.drive(Input::LoginChanged);
            }
            Link::Live(_) if self.wants_turn_slot => self.grant_turn_slot(),
            Link::Live(_) if self.probes && self.machine.is_probing() => {
                self.probes = false;
                let alive = self.random.one_in(2);
                self.drive(Input::Probed { alive });
            }
            Link::Live(_) if self.random.one_in(10) => {
                self.drive(Input::Lost("it ended".to_owned()));
            }
            Link::Live(_) | Link::None => {}
        }
    }

    fn grant_turn_slot(&mut self) {
        self.wants_turn_slot = false;
        self.drive(Input::TurnSlotGranted);
    }

    fn process_is_wanted(&mut self) {
        if self.machine.could_give_up_process(&self.context()) {
            self.drive(Input::ProcessWanted);
        }
    }

    fn time_passes(&mut self) {
        let jump = Duration::from_millis(self.random.below(400_000) as u64);
        self.now += jump;
        if self.next_deadline().is_some_and(|at| at <= self.now) {
            self.drive(Input::Deadline);
        }
    }

    pub fn ended(&self, id: PromptId) -> bool {
        let prompt = self.store.records.prompts.get(&id);
        prompt.is_some_and(|prompt| matches!(prompt.state, PromptState::Ended(_)))
    }
}

fn name(input: &Input) -> &'static str {
    match input {
        Input::Created => "created",
        Input::Restarted => "restarted",
        Input::QueueResumed => "queue resumed",
        Input::Command(Command::Prompt { .. }) => "prompt",
        Input::Command(Command::Queue(_)) => "change of the queue",
        Input::Command(Command::Interrupt) => "interrupt",
        Input::Command(Command::Close) => "close",
        Input::Command(Command::Reopen) => "reopen",
        Input::Command(Command::TryAgain) => "try again",
        Input::Command(Command::Adopt { .. }) => "adopt",
        Input::Command(Command::Update { .. }) => "update",
        Input::Command(Command::Answer { .. }) => "answer",
        Input::Command(Command::ShutDown) => "shut down",
        Input::Agent(_) => "agent",
        Input::Opened(_) => "opened",
        Input::OpenFailed(_) => "open failed",
        Input::Queued(_) => "queued",
        Input::TurnSlotGranted => "turn slot granted",
        Input::ProcessWanted => "process wanted",
        Input::LoginChanged => "login changed",
        Input::RulesChanged => "rules changed",
        Input::Lost(_) => "lost",
        Input::Probed { .. } => "probed",
        Input::StoreRefuses(_) => "store refuses",
        Input::StoreRecovered => "store recovered",
        Input::Deadline => "deadline",
        Input::Committed(Ok(())) => "committed",
        Input::Committed(Err(_)) => "not committed",
    }
}
