//! The rules of a session as a pure state machine: an input comes in, and the machine says what to do.
//!
//! What must always hold here:
//!
//! - No I/O, no clock, no task, no randomness: everything the rules may know comes with the input. The actor carries
//!   out the outputs; the tests run the same machine through simulated crashes, slow stores and misbehaving agents.
//! - An event is numbered here and nowhere else. State that the log determines is folded from the events that are
//!   written (`fold.rs`), live and after a restart alike.
//! - What a client is promised is committed first ([`Output::Commit`]); the next input is the result of that commit.
//! - Every turn that began ends with `onAgentEnd`, then `onIdle`; every prompt gets one outcome; every request is
//!   closed once.

mod agent_events;
mod connection;
mod continuation;
mod draft;
mod fold;
mod happenings;
mod input;
mod job_tools;
mod lifecycle;
mod model_retries;
mod notices;
mod output;
mod prompts;
mod queue;
mod requests;
mod restart;
mod retries;
mod rules;
mod silence;
#[cfg(test)]
mod simulation;
mod spending;
mod transcript;
mod turn;
mod waiting;

use std::collections::HashMap;
use std::time::Duration;

pub(super) use draft::{Batch, Entry};
pub(super) use fold::{Effect, Fold, Replay};
pub(super) use input::{Abilities, AgentInput, Command, Context, Input, Opened, PastInput, Stored, StoredBlob};
pub(super) use model_retries::ModelRetries;
pub(super) use output::{Disconnect, Output, Reply};
pub(super) use transcript::{Entries, Transcript};

use connection::{Link, Recovery};
use draft::Draft;
use job_tools::AnsweredCalls;
use notices::Notices;
use prompts::PromptQueue;
use requests::Requests;
use silence::Silence;
use spending::Spending;
use turn::{Turn, TurnSlot};
use waiting::Waiting;

use crate::model::{
    Callback, Continuation, LastTurn, PromptId, Response, Seq, SessionId, SessionOrigin, SessionProfile, SessionState,
    ToolImage,
};
use crate::session::session_feed::{PendingRequest, SessionStatus};
use crate::store::{Change, StoredSession};

/// One session's rules and what they need to remember.
pub(super) struct Machine {
    id: SessionId,
    origin: SessionOrigin,
    profile: SessionProfile,
    state: SessionState,
    state_detail: Option<String>,
    agent_session_id: Option<String>,
    prompts: PromptQueue,
    turn: Option<Turn>,
    turn_slot: TurnSlot,
    /// Everything before this number is closed; `None` while nothing is open.
    open_after: Option<Seq>,
    transcript: Transcript,
    requests: Requests,
    /// Answers that the agent has not received, and what follows from them.
    continuation: Continuation,
    link: Link,
    recovery: Recovery,
    notices: Notices,
    silence: Silence,
    spending: Spending,
    /// Pictures of tool calls that have not ended.
    images: HashMap<String, Vec<ToolImage>>,
    answered_calls: AnsweredCalls,
    draft: Draft,
    /// What waits for a commit.
    waiting: Option<Waiting>,
    outputs: Vec<Output>,
    status_changed: bool,
    last_turn: Option<LastTurn>,
    /// Pages have shown everything up to this event.
    seen_seq: Seq,
    /// People follow the sessions of jobs by their job.
    is_of_job: bool,
}

impl Machine {
    pub fn new(stored: StoredSession) -> Self {
        let StoredSession { summary, next_seq, next_prompt, agent_session_id, queued, requests, last_prompt, .. } =
            stored;
        Self {
            id: summary.id,
            origin: summary.origin,
            profile: summary.profile,
            state: summary.state,
            state_detail: summary.state_detail,
            agent_session_id,
            prompts: PromptQueue::new(queued, PromptId::from_number(last_prompt), next_prompt),
            turn: None,
            turn_slot: TurnSlot::None,
            open_after: None,
            transcript: Transcript::default(),
            requests: Requests::new(requests),
            continuation: stored.continuation,
            link: Link::None,
            recovery: Recovery::default(),
            notices: Notices::default(),
            silence: Silence::default(),
            spending: Spending { used: stored.usage, announced: stored.budget_notified, is_unchecked: false },
            images: HashMap::new(),
            answered_calls: AnsweredCalls::default(),
            draft: Draft::new(next_seq),
            waiting: None,
            outputs: Vec::new(),
            status_changed: true,
            last_turn: summary.last_turn,
            seen_seq: summary.seen_seq,
            is_of_job: summary.job.is_some(),
        }
    }

    /// Takes an input. The actions are in [`Self::take_outputs`]; events are buffered until [`Self::flush`].
    pub fn step(&mut self, context: &Context, input: Input) {
        debug_assert!(
            self.waiting.is_none() || matches!(input, Input::Committed(_)),
            "a commit is reported before anything else happens"
        );
        self.draft.set_time(context.time);
        match input {
            Input::Created => self.open(context),
            Input::Restarted => self.restart(context),
            Input::QueueResumed | Input::StoreRecovered => self.advance(context),
            Input::Command(command) => self.run_command(context, command),
            // What a connection said that has been ended since is not recorded.
            Input::Agent(_) if !self.is_live() => {}
            Input::Agent(input) => {
                self.silence.note_activity(context.now);
                self.on_agent_input(context, input);
            }
            Input::Opened(opened) => self.on_opened(context, opened),
            Input::OpenFailed(error) => self.on_open_failed(context, &error),
            Input::Queued(position) => self.on_queued(position),
            Input::TurnSlotGranted => self.on_turn_slot(context),
            Input::ProcessWanted => self.give_up_process(),
            Input::LoginChanged => {
                if matches!(self.link, Link::AwaitingLogin) {
                    self.open(context);
                }
            }
            Input::RulesChanged => self.on_rules_changed(context),
            Input::Lost(reason) => self.on_agent_lost(context, &reason),
            Input::Probed { alive } => self.on_probed(context, alive),
            Input::StoreRefuses(reason) => self.on_store_refuses(context, &reason),
            Input::Deadline => self.on_deadline(context),
            Input::Committed(outcome) => self.on_committed(context, outcome),
        }
    }

    /// Hands over what was written since the last time.
    pub fn flush(&mut self) {
        if let Some(batch) = self.draft.take() {
            self.outputs.push(Output::Append(batch));
        }
    }

    /// The actions, in order. `spare` is reused for the next outputs.
    pub fn take_outputs(&mut self, spare: Vec<Output>) -> Vec<Output> {
        std::mem::replace(&mut self.outputs, spare)
    }

    pub fn has_outputs(&self) -> bool {
        !self.outputs.is_empty()
    }

    /// Whether queued prompts wait for a person's decision.
    #[cfg(test)]
    fn holds_queue(&self) -> bool {
        self.prompts.is_held()
    }

    /// When [`Input::Deadline`] is due.
    pub fn next_deadline(&self, context: &Context) -> Option<Duration> {
        let turn = self.turn.as_ref().and_then(Turn::next_deadline);
        let link = match self.link {
            Link::BackingOff { until } => Some(until),
            _ => None,
        };
        [turn, link, self.requests.deadline(context, self.patience()), self.silence_deadline(context)]
            .into_iter()
            .flatten()
            .min()
    }

    fn on_deadline(&mut self, context: &Context) {
        if matches!(self.link, Link::BackingOff { until } if until <= context.now) {
            self.open(context);
        }
        self.on_turn_deadline(context);
        if self.silence_deadline(context).is_some_and(|at| at <= context.now) {
            self.probe_silent_agent(context);
        }
        self.close_unattended_request(context);
    }

    /// The disk refuses writes: a running turn is ended, because its events could not be stored.
    fn on_store_refuses(&mut self, context: &Context, reason: &str) {
        let message = format!("The turn was ended because {reason}.");
        self.interrupt_turn(context, message, crate::model::AnsweredBy::Storage);
    }

    /// Whether anything may be written to the log: it is empty until the first prompt.
    pub fn has_been_prompted(&self) -> bool {
        self.prompts.last().number() > 0
    }

    /// Changes the state. It is logged where no other event shows it: when the session begins or ceases to wait, to
    /// recover, to queue, to need a login or to have failed.
    fn set_state(&mut self, state: SessionState, detail: Option<String>) {
        if self.state == state && self.state_detail == detail {
            return;
        }
        let is_logged = |state, detail: Option<&String>| match state {
            SessionState::Waiting | SessionState::Recovering | SessionState::NeedsLogin | SessionState::Failed => true,
            // In a queue, which may take long.
            SessionState::Starting => detail.is_some(),
            SessionState::Ready | SessionState::Working | SessionState::Closed => false,
        };
        let is_logged = is_logged(state, detail.as_ref()) || is_logged(self.state, self.state_detail.as_ref());
        (self.state, self.state_detail) = (state, detail.clone());
        if self.has_been_prompted() && is_logged && state != SessionState::Closed {
            self.write_state();
        }
        self.draft.change(Change::State(state, detail));
        self.status_changed = true;
    }

    fn write_state(&mut self) {
        let (state, detail) = (self.state.as_str().to_owned(), self.state_detail.clone());
        self.write(Callback::StateChanged { state, detail });
    }

    fn write(&mut self, response: impl Into<Response>) -> Seq {
        self.transcript.write(&mut self.draft, response.into())
    }

    fn send(&mut self, context: &Context, command: crate::agent::AgentCommand) {
        self.silence.note_activity(context.now);
        self.outputs.push(Output::Send(command));
    }

    fn reply(&mut self, reply: Reply) {
        self.outputs.push(Output::Reply(reply));
    }

    /// The status for the inbox, if it changed since the last call.
    pub fn take_status(&mut self) -> Option<SessionStatus> {
        std::mem::take(&mut self.status_changed).then(|| SessionStatus {
            session_id: self.id,
            title: self.profile.title.clone(),
            state: Some(self.state),
            detail: self.state_detail.clone(),
            pending: self.pending(),
            working_directory: self
                .profile
                .working_directory
                .as_ref()
                .map(|folder| folder.to_string_lossy().into_owned()),
            unread: !self.is_of_job && self.last_turn.is_some_and(|turn| turn.end > self.seen_seq),
            failed: self.last_turn.is_some_and(|turn| turn.is_failed),
        })
    }

    /// A page has shown the session up to this event. Nothing is logged: reading is not part of the session.
    pub fn mark_seen(&mut self, through: Seq) {
        if through > self.seen_seq {
            self.seen_seq = through;
            self.status_changed = true;
        }
    }

    /// A turn ended with the last event.
    fn note_turn_end(&mut self, is_failed: bool) {
        let turn = LastTurn { end: self.draft.last_seq(), is_failed };
        self.last_turn = Some(turn);
        self.draft.change(Change::TurnOver(turn));
        self.status_changed = true;
    }

    fn pending(&self) -> Vec<PendingRequest> {
        self.requests.briefs()
    }

    pub fn origin(&self) -> SessionOrigin {
        self.origin
    }

    pub fn profile(&self) -> &SessionProfile {
        &self.profile
    }

    pub fn agent_session_id(&self) -> Option<&str> {
        self.agent_session_id.as_deref()
    }

    /// Whether a prompt's turn is not over yet.
    pub fn is_unfinished(&self, prompt: PromptId) -> bool {
        self.prompts.holds(prompt) || self.turn.as_ref().is_some_and(|_| self.turn_prompts().contains(&prompt))
    }

    /// Whether the store has the whole state of this machine: nothing runs, nothing waits, and nothing is kept for the
    /// next turn. A closed session has no state that matters.
    pub fn is_at_rest(&self) -> bool {
        let nothing_is_under_way = self.turn.is_none()
            && self.open_after.is_none()
            && self.waiting.is_none()
            && self.link == Link::None
            && matches!(self.turn_slot, TurnSlot::None)
            && self.prompts.is_empty()
            && self.requests.is_empty();
        nothing_is_under_way
            && match self.state {
                SessionState::Closed => true,
                SessionState::Ready => self.recovery.is_forgotten() && self.notices.is_empty(),
                _ => false,
            }
    }

    /// Whether a turn runs.
    pub fn has_turn(&self) -> bool {
        self.turn.is_some()
    }
}
