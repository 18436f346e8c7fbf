//! The actor of one session: the only one that numbers its events, talks to its agent and changes its record.
//!
//! Everything a session does goes through [`Actor::run`]: a command, news of the agent, a deadline or news of the
//! store, one at a time. What a step wrote is handed to the store in one piece before the next step begins.

mod adoption;
mod agent_events;
mod command;
mod connecting;
mod held;
mod journal;
mod lifecycle;
mod prompts;
mod queueing;
mod requests;
mod restart;
mod restoring;
mod retrying;
mod silence;
mod turn;
mod usage;

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use tokio::sync::{mpsc, oneshot};
use tokio::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

pub use command::{Accepted, NewPrompt, PromptMode, SessionUpdate};
pub(super) use command::{Adoption, Command};
use connecting::{Link, LinkNews};
use held::Held;
use journal::Journal;
use prompts::PromptQueue;
use requests::Requests;
use silence::Silence;
use turn::Turn;

use super::blocks::Blocks;
use super::bulletin::{Bulletin, BulletinEntry, PendingBrief};
use super::day_usage::DayUsage;
use super::leases::{Lease, Leases};
use super::slots::{Place, Slot, Slots};
use super::{SessionLog, SessionSettings};
use crate::agent::{AgentEvent, BoxFuture, Runtimes};
use crate::model::{
    AnsweredBy, BudgetNews, Callback, NoticeKind, PromptId, PromptOutcome, SessionId, SessionProfile, SessionState,
    ToolImage, TurnId, Usage,
};
use crate::store::{Change, Store, StoreHealth, StoredSession};

/// Events numbered and not yet committed beyond which a session's agent waits.
const WINDOW: u64 = 2_048;
/// Events taken from an agent in one step.
const EVENTS_PER_STEP: usize = 256;
/// A store that has not moved for this long is slow: what the agent says meanwhile is merged.
const STALLED_AFTER: Duration = Duration::from_millis(250);
/// How long after a turn its events stay in memory for readers that are a little behind.
const TAIL_LINGERS: Duration = Duration::from_secs(5);

/// What all actors share.
pub(super) struct Surroundings {
    pub store: Store,
    pub runtimes: Runtimes,
    pub settings: SessionSettings,
    pub bulletin: Arc<Bulletin>,
    pub leases: Leases,
    pub slots: Slots,
    /// What all sessions have used today.
    pub day_usage: DayUsage,
    /// Events of agents that nobody knows, over all sessions.
    pub unknown_events: AtomicU64,
    /// Cancelled when the server begins to end.
    pub stopping: CancellationToken,
}

type PendingBriefs = Vec<PendingBrief>;

pub(super) struct Actor {
    id: SessionId,
    around: Arc<Surroundings>,
    journal: Journal,
    profile: SessionProfile,
    state: SessionState,
    state_detail: Option<String>,
    agent_session_id: Option<String>,
    prompts: PromptQueue,
    turn: Option<Turn>,
    /// The agent's own turn that is open, and whether its end waits to be written.
    agent_turn: Option<AgentTurn>,
    blocks: Blocks,
    requests: Requests,
    link: Link,
    silence: Silence,
    /// The right to drive the agent's own session.
    lease: Option<Lease>,
    /// The right to have a process, where the agent takes one of its own.
    slot: Option<Slot>,
    /// Where the session stands in line for that.
    place: Option<Place>,
    /// What the agent is told of a conversation that it has lost, with the next prompt.
    recap: Option<String>,
    /// Resolves when somebody may have logged in since the agent was last started.
    login_news: Option<BoxFuture<'static, ()>>,
    /// Why the agent's own session could not be taken up again, until another one is there.
    lost_session: Option<String>,
    /// The connection is to be opened anew before the next turn.
    is_outdated: bool,
    /// Notices that came before the first prompt.
    early_notices: Vec<(NoticeKind, String)>,
    /// What was last said of things that are said once, by kind.
    told: HashMap<NoticeKind, String>,
    /// Turns in a row that the agent refused for want of a login.
    login_refusals: u32,
    /// Consecutive deaths of the agent without a turn that went well.
    deaths: u32,
    buffer: Vec<AgentEvent>,
    held: Held,
    stalled_since: Option<Instant>,
    let_go_at: Option<Instant>,
    outcomes_awaited: HashMap<PromptId, Vec<oneshot::Sender<PromptOutcome>>>,
    /// Those who waited for a turn that is over, until its end has been handed to the store.
    outcomes_ready: Vec<(oneshot::Sender<PromptOutcome>, PromptOutcome)>,
    /// All that the session has cost.
    usage: Usage,
    /// Which limits the session has been told of.
    budget_told: BudgetNews,
    /// Pictures of tool calls that have not ended.
    images: HashMap<String, Vec<ToolImage>>,
}

#[derive(Debug)]
struct AgentTurn {
    id: TurnId,
    /// The agent said that it ended. The end is written right before what follows, so that `onAgentEnd` and `onIdle`
    /// stand together at the end of a turn.
    ended: bool,
}

impl Actor {
    pub fn new(around: Arc<Surroundings>, log: Arc<SessionLog>, stored: StoredSession) -> Self {
        let StoredSession { summary, next_seq, agent_session_id, queued, requests, last_prompt, .. } = stored;
        Self {
            id: summary.id,
            journal: Journal::new(summary.id, around.store.clone(), log, next_seq),
            around,
            profile: summary.profile,
            state: summary.state,
            state_detail: summary.state_detail,
            agent_session_id,
            prompts: PromptQueue::new(queued, PromptId::from_number(last_prompt)),
            turn: None,
            agent_turn: None,
            blocks: Blocks::default(),
            requests: Requests::new(requests),
            link: Link::None,
            lease: None,
            slot: None,
            place: None,
            recap: None,
            lost_session: None,
            login_news: None,
            silence: Silence::new(),
            is_outdated: false,
            early_notices: Vec::new(),
            told: HashMap::new(),
            login_refusals: 0,
            deaths: 0,
            buffer: Vec::new(),
            held: Held::default(),
            stalled_since: None,
            let_go_at: None,
            outcomes_awaited: HashMap::new(),
            outcomes_ready: Vec::new(),
            usage: stored.usage,
            budget_told: stored.budget_told,
            images: HashMap::new(),
        }
    }

    /// Obeys until the session is shut down or nobody can command it any more.
    pub async fn run(mut self, mut commands: mpsc::Receiver<Command>) {
        let mut health = self.around.store.health();
        let mut head = self.journal.watch();
        let (stopping, broken) = (self.around.stopping.clone(), self.journal.log().broken().clone());
        self.post();
        loop {
            self.flush();
            let full = self.journal.in_flight() >= WINDOW;
            if full {
                // Nobody listens, so nobody can say that it is quiet.
                self.silence.ends();
                self.stalled_since.get_or_insert_with(Instant::now);
            } else {
                self.stalled_since = None;
                if !self.held.is_empty() {
                    self.play_held().await;
                    continue;
                }
            }
            let listens = !full || (self.is_stalled() && self.held.has_room());
            let deadline = self.next_deadline();
            tokio::select! {
                command = commands.recv() => {
                    let Some(command) = command else { break };
                    if self.obey(command).await == ControlFlow::Break(()) {
                        break;
                    }
                }
                news = connecting::next(&mut self.link, &mut self.buffer, EVENTS_PER_STEP), if listens => {
                    self.on_news(news, full).await;
                }
                served = queueing::served(&mut self.place), if self.place.is_some() => self.on_served(served).await,
                () = self.around.slots.wanted(), if self.could_give_up_slot() => self.give_up_slot().await,
                lives = self.silence.looked(), if self.silence.is_looked_at() => self.on_looked(lives).await,
                _ = head.changed(), if full => {}
                () = stopping.cancelled() => {
                    self.shut_down().await;
                    break;
                }
                () = broken.cancelled() => {
                    // Nothing that is numbered from here on could be read by anybody. Loaded anew, the session goes
                    // on from what the store has.
                    tracing::error!(session = %self.id, "the store rejected events of this session");
                    break;
                }
                () = sleep_until(deadline), if deadline.is_some() => self.on_deadline().await,
                changed = health.changed() => if changed.is_ok() {
                    let health = health.borrow_and_update().clone();
                    self.on_store_health(&health).await;
                }
            }
        }
        self.flush();
        self.disconnect().await;
    }

    async fn on_news(&mut self, news: LinkNews, full: bool) {
        self.silence.ends();
        match news {
            LinkNews::Events => {
                let mut buffer = std::mem::take(&mut self.buffer);
                if full {
                    self.held.extend(buffer.drain(..));
                } else {
                    for event in buffer.drain(..) {
                        self.on_agent_event(event).await;
                    }
                }
                self.buffer = buffer;
            }
            LinkNews::Started(outcome) => self.on_started(outcome).await,
            LinkNews::TryAgain => self.connect(),
            LinkNews::Ended => {
                self.play_held().await;
                self.on_agent_lost("the agent ended without a word".to_owned()).await;
            }
        }
    }

    /// Numbers what was held back while the store was slow. Also done before the agent is let go: what it said counts.
    async fn play_held(&mut self) {
        for event in self.held.take() {
            self.on_agent_event(event).await;
        }
    }

    fn is_stalled(&self) -> bool {
        self.stalled_since.is_some_and(|since| since.elapsed() >= STALLED_AFTER)
    }

    fn next_deadline(&self) -> Option<Instant> {
        let stall = self.stalled_since.filter(|_| !self.is_stalled()).map(|since| since + STALLED_AFTER);
        let turn = self.turn.as_ref();
        let interrupt = turn.and_then(Turn::interrupt_deadline);
        let attempt = turn.and_then(|turn| turn.attempts.due_at);
        let late = turn.and_then(|turn| turn.ends_by);
        [stall, interrupt, attempt, late, self.let_go_at, self.request_deadline(), self.silence_deadline()]
            .into_iter()
            .flatten()
            .min()
    }

    async fn on_deadline(&mut self) {
        let now = Instant::now();
        if self.let_go_at.is_some_and(|at| at <= now) {
            self.let_go_at = None;
            self.journal.log().let_go();
        }
        if self.turn.as_ref().and_then(Turn::interrupt_deadline).is_some_and(|at| at <= now) {
            self.give_up_on_interrupt().await;
        }
        if self.turn.as_ref().and_then(|turn| turn.attempts.due_at).is_some_and(|at| at <= now) {
            self.try_turn_again();
        }
        if self.turn.as_ref().and_then(|turn| turn.ends_by).is_some_and(|at| at <= now) {
            self.end_late_turn();
        }
        if self.silence_deadline().is_some_and(|at| at <= now) {
            self.look_at_silent_agent();
        }
        self.give_up_on_unattended_requests().await;
    }

    /// The disk refuses: a running turn is brought to its end, so that it does not run on unseen.
    async fn on_store_health(&mut self, health: &StoreHealth) {
        match health {
            StoreHealth::Refusing { reason } => {
                self.interrupt_turn(&format!("The turn was ended because {reason}."), AnsweredBy::Storage);
            }
            StoreHealth::Good => self.go_on().await,
        }
    }

    /// Whether anything may be written to the log: a session's list is empty until its first prompt.
    fn has_been_prompted(&self) -> bool {
        self.prompts.last().number() > 0
    }

    /// Changes the state. The log says so where no other event does: when the session begins or ceases to wait, to
    /// recover, to stand in line, to need a login or to have failed.
    fn set_state(&mut self, state: SessionState, detail: Option<String>) {
        if self.state == state && self.state_detail == detail {
            return;
        }
        let is_told = |state, detail: Option<&String>| match state {
            SessionState::Waiting | SessionState::Recovering | SessionState::NeedsLogin | SessionState::Failed => true,
            // In a line, which may take long.
            SessionState::Starting => detail.is_some(),
            SessionState::Ready | SessionState::Working | SessionState::Closed => false,
        };
        let is_told = is_told(state, detail.as_ref()) || is_told(self.state, self.state_detail.as_ref());
        (self.state, self.state_detail) = (state, detail.clone());
        if self.has_been_prompted() && is_told && state != SessionState::Closed {
            self.write_state();
        }
        self.journal.change(Change::State(state, detail));
        self.post();
    }

    fn write_state(&mut self) {
        let (state, detail) = (self.state.as_str().to_owned(), self.state_detail.clone());
        self.journal.write(&Callback::StateChanged { state, detail }.into());
    }

    /// Tells the inbox.
    fn post(&self) {
        self.around.bulletin.post(BulletinEntry {
            session_id: self.id,
            title: self.profile.title.clone(),
            state: Some(self.state),
            detail: self.state_detail.clone(),
            pending: self.requests.briefs(),
        });
    }
}

async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
