//! The actor of one session: it drives the session's rules.
//!
//! Everything a session does goes through [`Actor::run`]: it waits for a command, the agent, a deadline or the store,
//! hands what happened to the machine (`session/machine`), and carries out what the machine asks for. It decides
//! nothing itself. What a step wrote is handed to the store in one piece before the next step begins.

mod backlog;
mod command;
mod ended_prompts;
mod inside;
mod intake;
mod journal;
mod link;
mod outputs;
mod restore;
mod spans;
mod summary;

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use tokio::sync::{mpsc, watch};
use tokio::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

use backlog::Backlog;
pub use command::{Accepted, NewPrompt, PromptMode, QueueChange, SessionUpdate};
pub(super) use command::{Adoption, Command};
use ended_prompts::EndedPrompts;
use journal::Journal;
use link::{Link, LinkEvent};
use spans::Spans;

use super::answerers::Answerers;
use super::day_usage::DayUsage;
use super::folder_rules::{FolderRuleSet, FolderRules};
use super::live_settings::LiveSettings;
use super::machine::{self, Abilities, Context, Input, Machine, Output, Reply};
use super::presence::Presence;
use super::rest::Rest;
use super::session_feed::SessionFeed;
use super::settings::JobTools;
use super::statistics::SessionStatistics;
use super::turn_observer::TurnObserverSlot;
use super::{SessionLog, SessionSettings, clock};
use crate::agent::{AgentCommand, AgentEvent, BoxFuture, ProcessSlot, ProcessUse, Runtimes, SlotRequest, SlotStep};
use crate::model::{Day, Seq, SessionId};
use crate::store::{Store, StoreHealth, StoredSession};

/// A session's agent waits when this many of its events are numbered and not committed.
const WINDOW: u64 = 2_048;
/// Events taken from an agent in one step.
const EVENTS_PER_STEP: usize = 256;
/// A store without a commit for this long is slow: deltas that arrive meanwhile are merged.
const STALLED_AFTER: Duration = Duration::from_millis(250);
/// How long after a turn its events stay in memory for readers that are a little behind.
const TAIL_LINGERS: Duration = Duration::from_secs(5);

/// What all actors share.
pub(super) struct SessionServices {
    pub store: Store,
    pub runtimes: Runtimes,
    pub settings: LiveSettings,
    pub session_feed: Arc<SessionFeed>,
    /// Those who see the requests of all sessions and could answer them.
    pub answerers: Arc<Answerers>,
    /// What all sessions have used today.
    pub day_usage: DayUsage,
    pub folder_rules: FolderRules,
    /// Figures of all sessions.
    pub statistics: SessionStatistics,
    /// Who is told when turns begin and end.
    pub turn_observer: TurnObserverSlot,
    /// Who is looking at which session or job.
    pub presence: Arc<Presence>,
    /// Agent events of unknown kinds, over all sessions.
    pub unknown_events: AtomicU64,
    /// Cancelled when the server begins to shut down.
    pub stopping: CancellationToken,
}

pub(super) struct Actor {
    id: SessionId,
    services: Arc<SessionServices>,
    machine: Machine,
    journal: Journal,
    /// The start of the machine's time.
    began: Instant,
    /// The session is being closed or shut down: nothing may begin any more.
    is_ending: bool,
    /// Spreads the retries of different sessions.
    spread: f64,
    link: Link,
    /// The process of the running turn, where the agent takes one for each.
    turn_slot: Option<ProcessSlot>,
    /// The request for that, while the session waits for it.
    slot_request: Option<SlotRequest>,
    /// Resolves when somebody may have logged in since the agent was last started.
    login_change: Option<BoxFuture<'static, ()>>,
    probe: Option<BoxFuture<'static, bool>>,
    /// Notices changes since the session was loaded.
    folder_rules: watch::Receiver<FolderRuleSet>,
    /// The same for the configuration.
    settings: watch::Receiver<Arc<SessionSettings>>,
    /// Commands to send once everything up to a number is committed.
    unsent: VecDeque<(Seq, AgentCommand)>,
    ended_prompts: EndedPrompts,
    spans: Spans,
    buffer: Vec<AgentEvent>,
    backlog: Backlog,
    stalled_since: Option<Instant>,
    tail_release_at: Option<Instant>,
    spare: Vec<Output>,
}

impl Actor {
    pub fn new(services: Arc<SessionServices>, log: Arc<SessionLog>, stored: StoredSession) -> Self {
        let (id, next_seq) = (stored.summary.id, stored.next_seq);
        Self {
            id,
            journal: Journal::new(id, services.store.clone(), log, next_seq),
            machine: Machine::new(stored),
            folder_rules: services.folder_rules.subscribe(),
            settings: services.settings.subscribe(),
            services,
            began: Instant::now(),
            is_ending: false,
            // Without randomness all sessions retry at the same moment; that is no reason to fail.
            spread: getrandom::u32().map_or(0.5, |random| f64::from(random) / f64::from(u32::MAX)),
            link: Link::None,
            turn_slot: None,
            slot_request: None,
            login_change: None,
            probe: None,
            unsent: VecDeque::new(),
            ended_prompts: EndedPrompts::default(),
            spans: Spans::default(),
            buffer: Vec::new(),
            backlog: Backlog::default(),
            stalled_since: None,
            tail_release_at: None,
            spare: Vec::new(),
        }
    }

    /// Runs until the session is shut down or its last handle is dropped.
    pub async fn run(mut self, mut commands: mpsc::Receiver<Command>, rest: Arc<Rest>) {
        let mut carried_out = 0;
        let mut health = self.services.store.health();
        let mut health_is_known = true;
        let mut head = self.journal.watch();
        let (stopping, broken) = (self.services.stopping.clone(), self.journal.log().broken().clone());
        loop {
            self.flush().await;
            let full = self.journal.in_flight() >= WINDOW;
            if full {
                // The agent is not being read, so its silence means nothing.
                self.machine.note_activity(self.began.elapsed());
                self.stalled_since.get_or_insert_with(Instant::now);
            } else {
                self.stalled_since = None;
                if !self.backlog.is_empty() {
                    self.process_backlog().await;
                    continue;
                }
            }
            // An agent that is being started or queued says nothing that could fill the window.
            let listens =
                !matches!(self.link, Link::Live(_)) || !full || (self.is_stalled() && self.backlog.has_room());
            let deadline = self.next_deadline();
            rest.report(carried_out, !full && self.is_at_rest());
            let could_give_up = self.holds_process() && self.with_context(Machine::could_give_up_process);
            tokio::select! {
                command = commands.recv() => {
                    let Some(command) = command else { break };
                    carried_out += 1;
                    if self.run_command(command).await == ControlFlow::Break(()) {
                        break;
                    }
                }
                news = link::next(&mut self.link, &mut self.buffer, EVENTS_PER_STEP), if listens => {
                    self.on_link_event(news, full).await;
                }
                step = link::slot_step(&mut self.slot_request), if self.slot_request.is_some() => {
                    self.on_slot_step(step).await;
                }
                () = self.services.runtimes.process_wanted(), if could_give_up => {
                    tracing::info!(session = %self.id, "closing an idle agent to free its process for another session");
                    self.drive(Input::ProcessWanted).await;
                }
                alive = link::probed(&mut self.probe), if self.machine.is_probing() && self.probe.is_some() => {
                    self.probe = None;
                    tracing::debug!(session = %self.id, alive, "a silent agent was probed");
                    self.drive(Input::Probed { alive }).await;
                }
                () = link::login(&mut self.login_change), if matches!(self.link, Link::AwaitingLogin) => {
                    self.login_change = None;
                    self.link = Link::None;
                    self.drive(Input::LoginChanged).await;
                }
                // The sender is one of the services, which this actor holds.
                _ = self.folder_rules.changed() => {
                    self.drive(Input::RulesChanged).await;
                    self.refresh_opening();
                }
                // Configured rules count like those of a folder, and what is due is worked out again.
                _ = self.settings.changed() => {
                    self.drive(Input::RulesChanged).await;
                    self.refresh_opening();
                }
                _ = head.changed(), if full || !self.unsent.is_empty() => self.send_committed().await,
                () = stopping.cancelled() => {
                    self.shut_down().await;
                    break;
                }
                () = broken.cancelled() => {
                    // No reader could ever see what is numbered from here on. When it is reloaded, the session
                    // continues from what the store has.
                    tracing::error!(session = %self.id, "the store rejected events of this session");
                    break;
                }
                () = sleep_until(deadline), if deadline.is_some() => self.on_deadline().await,
                changed = health.changed(), if health_is_known => {
                    // The writer is gone and the server exits.
                    health_is_known = changed.is_ok();
                    if health_is_known {
                        let health = health.borrow_and_update().clone();
                        self.on_store_health(health).await;
                    }
                }
            }
        }
        self.flush().await;
        self.disconnect(machine::Disconnect::Politely).await;
    }

    async fn on_link_event(&mut self, news: LinkEvent, full: bool) {
        match news {
            LinkEvent::Events => {
                let mut buffer = std::mem::take(&mut self.buffer);
                if full {
                    self.machine.note_activity(self.began.elapsed());
                    self.backlog.extend(buffer.drain(..));
                } else {
                    self.take_in(buffer.drain(..)).await;
                }
                self.buffer = buffer;
            }
            LinkEvent::Queued(position) => {
                self.drive(Input::Queued(position)).await;
            }
            LinkEvent::Started(outcome) => self.on_started(outcome).await,
            LinkEvent::Ended => {
                self.process_backlog().await;
                self.lose("the agent ended without giving a reason".to_owned()).await;
            }
        }
    }

    async fn on_slot_step(&mut self, step: SlotStep) {
        match step {
            SlotStep::Queued(position) => {
                self.drive(Input::Queued(position)).await;
            }
            SlotStep::Granted(slot) => {
                (self.slot_request, self.turn_slot) = (None, Some(slot));
                self.drive(Input::TurnSlotGranted).await;
            }
        }
    }

    /// Processes events that arrived while the store was slow. Also done before disconnecting, so that none is lost.
    async fn process_backlog(&mut self) {
        let backlog = self.backlog.take();
        self.take_in(backlog.into_iter()).await;
    }

    /// Whether a new actor, restored from the store, would have the same state.
    fn is_at_rest(&self) -> bool {
        matches!(self.link, Link::None)
            && self.unsent.is_empty()
            && self.slot_request.is_none()
            && self.turn_slot.is_none()
            && self.machine.is_at_rest()
    }

    fn is_stalled(&self) -> bool {
        self.stalled_since.is_some_and(|since| since.elapsed() >= STALLED_AFTER)
    }

    fn next_deadline(&self) -> Option<Instant> {
        let stall = self.stalled_since.filter(|_| !self.is_stalled()).map(|since| since + STALLED_AFTER);
        let rules = self.with_context(Machine::next_deadline).map(|at| self.began + at);
        [stall, rules, self.tail_release_at].into_iter().flatten().min()
    }

    async fn on_deadline(&mut self) {
        if self.tail_release_at.is_some_and(|at| at <= Instant::now()) {
            self.tail_release_at = self.journal.log().release_tail();
            // It has capacity for hundreds of events, which most sessions do not need again soon.
            (self.buffer, self.spare) = (Vec::new(), Vec::new());
        }
        let is_due = |machine: &Machine, now: &Context| machine.next_deadline(now).is_some_and(|at| at <= now.now);
        if self.with_context(is_due) {
            self.process_backlog().await;
            self.drive(Input::Deadline).await;
        }
    }

    async fn on_store_health(&mut self, health: StoreHealth) {
        match health {
            StoreHealth::Refusing { reason } => self.drive(Input::StoreRefuses(reason)).await,
            StoreHealth::Good => self.drive(Input::StoreRecovered).await,
            // The server exits.
            StoreHealth::Dead { .. } => None,
        };
    }

    /// Asks the machine something that depends on the time.
    fn with_context<T>(&self, ask: impl FnOnce(&Machine, &Context) -> T) -> T {
        ask(&self.machine, &self.context())
    }

    fn context(&self) -> Context {
        let services = &self.services;
        let time = clock::now();
        let since_began = |moment: Instant| moment.saturating_duration_since(self.began);
        Context {
            now: self.began.elapsed(),
            time,
            settings: services.settings.current(),
            folder_rules: services.folder_rules.current(),
            abilities: self.abilities(),
            day_usage: services.day_usage.of(Day::of(time)),
            store_refuses: !matches!(*services.store.health().borrow(), StoreHealth::Good),
            stopping: self.is_ending || services.stopping.is_cancelled(),
            unattended_since: self.unattended_since().map(since_began),
            spread: self.spread,
        }
    }

    /// Since when nobody could answer a request: nobody reads this session who could, and no page shows the inbox.
    fn unattended_since(&self) -> Option<Instant> {
        let here = self.journal.log().answerers().absent_since()?;
        Some(here.max(self.services.answerers.absent_since()?))
    }

    /// How the session gets the job tools.
    fn job_tools(&self) -> JobTools {
        match self.services.runtimes.named(&self.machine.profile().runtime) {
            Ok(runtime) => self.services.settings.current().job_tools(runtime.capabilities(), self.machine.origin()),
            Err(_) => JobTools::None,
        }
    }

    fn abilities(&self) -> Abilities {
        let Ok(runtime) = self.services.runtimes.named(&self.machine.profile().runtime) else {
            return Abilities::default();
        };
        let capabilities = runtime.capabilities();
        Abilities {
            steering: capabilities.steering,
            model_switch: capabilities.model_switch,
            model_retries: capabilities.model_retries,
            durable_requests: capabilities.durable_requests,
            durable_questions: capabilities.durable_questions,
            permissions: capabilities.permissions,
            session_resume: capabilities.session_resume,
            demo: capabilities.demo,
            process_per_turn: capabilities.processes == ProcessUse::PerTurn,
            own_server: matches!(self.job_tools(), JobTools::OverMcp(_)),
        }
    }

    /// Hands an input to the machine and carries out what follows. Returns the answer to a command.
    async fn drive(&mut self, input: Input) -> Option<Reply> {
        let mut inputs = VecDeque::from([input]);
        let mut reply = None;
        while let Some(input) = inputs.pop_front() {
            let context = self.context();
            self.machine.step(&context, input);
            self.carry_out(&mut inputs, &mut reply).await;
        }
        self.after_step();
        reply
    }

    /// Hands everything that was written to the store, then notifies callers that wait for the end of a turn.
    async fn flush(&mut self) {
        self.machine.flush();
        let mut inputs = VecDeque::new();
        self.carry_out(&mut inputs, &mut None).await;
        debug_assert!(inputs.is_empty(), "handing events to the store leads to nothing else");
        self.after_step();
        self.ended_prompts.announce();
    }

    fn after_step(&mut self) {
        if self.machine.has_turn() {
            self.tail_release_at = None;
        } else if self.ended_prompts.is_turn_over() {
            self.tail_release_at = Some(Instant::now() + TAIL_LINGERS);
        }
        if let Some(entry) = self.machine.take_status() {
            self.services.session_feed.post(entry);
        }
    }
}

async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
