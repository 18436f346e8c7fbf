//! Turns: from a prompt to idle, whatever happens in between.

use std::time::Duration;

use super::fold::Answer;
use super::happenings::TurnEnd;
use super::retries::{Attempt, Retry};
use super::waiting::Waiting;
use super::{Context, Disconnect, Entries as _, Link, Machine, Output, Reply};
use crate::agent::{AgentCommand, failure::Failure};
use crate::model::{
    AnsweredBy, Callback, ErrorClass, NoticeKind, PromptId, PromptOutcome, PromptVerdict, RequestOutcome, Response,
    RetryHint, Seq, SessionState, TurnId,
};
use crate::session::SessionError;
use crate::store::{Change, OpenTurn, QueuedPrompt};

/// The turn that runs.
#[derive(Debug)]
pub(super) struct Turn {
    pub id: TurnId,
    /// The prompt that began it.
    pub prompt: PromptId,
    /// Prompts that were added to it, until it is over: the agent may refuse one.
    pub steered: Vec<QueuedPrompt>,
    /// Why it failed, if it has.
    failed: Option<ErrorClass>,
    /// When it began; `None` if a restart came in between.
    began_at: Option<Duration>,
    /// When it must be over.
    ends_by: Option<Duration>,
    /// Steps that the agent began in an earlier attempt, before the prompt was queued again.
    pub steps_before: u32,
    pub phase: Phase,
}

/// What a turn is doing.
#[derive(Debug)]
pub(super) enum Phase {
    /// The agent works on it.
    Working(Attempt),
    /// It failed before the agent produced anything, and is sent again at `due_at`.
    Retrying { attempt: Attempt, failure: Failure, due_at: Duration },
    /// The agent was asked to end it, and has until `deadline`.
    Interrupting { message: String, deadline: Duration },
    /// It waits for a person, and its connection ended; a new one continues it.
    Suspended,
}

/// Whether the next turn has a process slot, where agents take a process per turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TurnSlot {
    None,
    Queued,
    Held,
}

/// What the beginning of a turn changes before it is committed.
pub(super) struct BeforeTurn {
    state: SessionState,
    state_detail: Option<String>,
    open_after: Option<Seq>,
    answer: Answer,
}

/// Why a turn is over.
pub(super) enum Ending {
    /// The agent reported its end.
    Idle,
    /// We ended it; the agent may not know.
    Cut {
        /// The text of the notice.
        message: String,
        /// What closes requests that are open.
        by: AnsweredBy,
        verdict: PromptVerdict,
    },
}

impl Ending {
    pub fn cut(message: impl Into<String>, by: AnsweredBy, verdict: PromptVerdict) -> Self {
        Self::Cut { message: message.into(), by, verdict }
    }
}

impl Turn {
    pub fn new(id: TurnId, prompt: PromptId, phase: Phase) -> Self {
        Self { id, prompt, steered: Vec::new(), failed: None, began_at: None, ends_by: None, steps_before: 0, phase }
    }

    pub fn is_interrupted(&self) -> bool {
        matches!(self.phase, Phase::Interrupting { .. })
    }

    /// Whether a prompt may be added to it.
    pub fn can_be_steered(&self) -> bool {
        matches!(self.phase, Phase::Working(_) | Phase::Suspended)
    }

    pub fn is_worked_on(&self) -> bool {
        !matches!(self.phase, Phase::Retrying { .. })
    }

    pub fn failed_with(&mut self, class: ErrorClass) {
        self.failed = Some(class);
    }

    /// A prompt that was added to it and is no longer its own.
    pub fn take_steered(&mut self, prompt: PromptId) -> Option<QueuedPrompt> {
        let position = self.steered.iter().position(|steered| steered.id == prompt)?;
        Some(self.steered.remove(position))
    }

    pub fn next_deadline(&self) -> Option<Duration> {
        let phase = match &self.phase {
            Phase::Retrying { due_at, .. } => Some(*due_at),
            Phase::Interrupting { deadline, .. } => Some(*deadline),
            Phase::Working(_) | Phase::Suspended => None,
        };
        [phase, self.ends_by].into_iter().flatten().min()
    }
}

impl Machine {
    /// The prompts that the running turn works on: the first began it, others were added.
    pub(super) fn turn_prompts(&self) -> Vec<PromptId> {
        let first = self.turn.as_ref().map(|turn| turn.prompt);
        let steered = self.transcript.fold().answer().steered_by.iter().copied();
        first.into_iter().chain(steered.filter(|prompt| Some(*prompt) != first)).collect()
    }

    /// Begins the turn of the next queued prompt, or connects first, or does nothing because something is in progress.
    pub(super) fn advance(&mut self, context: &Context) {
        self.renew_outdated_link();
        let ends = self.state == SessionState::Closed || context.stopping;
        if self.has_answers() && !ends && !context.store_refuses && self.waiting.is_none() {
            self.begin_continuation();
        }
        if self.is_suspended() && !self.continuation.decided.is_empty() && matches!(self.link, Link::None) && !ends {
            return self.open(context);
        }
        // Queued prompts wait until it is decided how the interrupted work continues.
        if self.requests.are_kept() || self.has_answers() || self.prompts.is_held() {
            return;
        }
        if self.turn.is_some() || self.prompts.is_empty() || ends || context.store_refuses || self.waiting.is_some() {
            return;
        }
        let is_opening = matches!(self.link, Link::Opening { .. } | Link::BackingOff { .. });
        if !is_opening && let Some(reason) = self.budget_refusal(context) {
            return self.end_waiting_prompts(context, ErrorClass::Budget, &format!("{reason}."));
        }
        match self.link {
            Link::Live { .. } => self.begin_turn(context),
            Link::Opening { .. } | Link::BackingOff { .. } => {}
            // The user may have logged in without Flightdeck noticing.
            Link::None | Link::AwaitingLogin => self.open(context),
        }
    }

    /// The turn, and the agent's own id of its session, are in the store before the agent gets the prompt: no restart
    /// sends it twice or to another session.
    fn begin_turn(&mut self, context: &Context) {
        if context.abilities.process_per_turn && self.turn_slot != TurnSlot::Held {
            if self.turn_slot == TurnSlot::None {
                self.turn_slot = TurnSlot::Queued;
                self.outputs.push(Output::AcquireTurnSlot);
            }
            return;
        }
        let Some(prompt) = self.prompts.pop() else { return };
        let first = self.begin_commit();
        let before = Box::new(self.before_turn());
        self.open_turn(prompt.id);
        self.commit(Waiting::Turn { prompt: Box::new(prompt), before, first });
    }

    pub(super) fn on_turn_slot(&mut self, context: &Context) {
        self.turn_slot = TurnSlot::Held;
        self.set_state(SessionState::Ready, None);
        self.advance(context);
    }

    pub(super) fn on_turn_committed(&mut self, context: &Context, prompt: QueuedPrompt) {
        let summary = self.recovery.summary.take();
        self.recovery.began_with_summary = summary.is_some();
        let text = match summary {
            Some(summary) => format!("{summary}\n\n{}", prompt.text),
            None => prompt.text,
        };
        let prompt = QueuedPrompt { text, ..prompt };
        let Some(turn) = &mut self.turn else { return };
        turn.phase = Phase::Working(Attempt::first(prompt.clone()));
        turn.began_at = Some(context.now);
        self.outputs.push(Output::TurnStarted(turn.prompt));
        turn.ends_by = context.settings.turn_timeout.map(|timeout| context.now + timeout);
        let turn_id = turn.id.clone();
        self.send(context, AgentCommand::Prompt { turn_id, text: prompt.text, attachments: prompt.attachments });
    }

    /// The store refused the beginning of the turn: its prompt is queued again.
    pub(super) fn on_turn_refused(&mut self, prompt: QueuedPrompt, before: BeforeTurn) {
        self.take_back_turn(before);
        self.prompts.put_back(prompt);
    }

    /// What a turn that does not begin after all must leave as it was.
    pub(super) fn before_turn(&self) -> BeforeTurn {
        BeforeTurn {
            state: self.state,
            state_detail: self.state_detail.clone(),
            open_after: self.open_after,
            answer: self.transcript.fold().answer().clone(),
        }
    }

    pub(super) fn take_back_turn(&mut self, before: BeforeTurn) {
        self.turn = None;
        let BeforeTurn { state, state_detail, open_after, answer } = before;
        (self.state, self.state_detail, self.open_after) = (state, state_detail, open_after);
        self.transcript.fold_mut().restore_answer(answer);
        self.status_changed = true;
    }

    pub(super) fn open_turn(&mut self, prompt: PromptId) {
        let begun = self.draft.next_seq() - 1;
        let after = *self.open_after.get_or_insert(begun);
        let id = prompt.turn();
        let open = OpenTurn { turn_id: id.clone(), prompt: Some(prompt), after, begun: Some(begun) };
        self.draft.change(Change::PromptStarted(prompt));
        self.draft.change(Change::Turn(Some(open)));
        self.transcript.begin_turn();
        let mut turn = Turn::new(id, prompt, Phase::Working(Attempt::default()));
        turn.steps_before = self.recovery.abandoned_steps.filter(|(of, _)| *of == prompt).map_or(0, |(_, steps)| steps);
        self.turn = Some(turn);
        self.set_state(SessionState::Working, None);
    }

    /// The agent began to work.
    pub(super) fn on_agent_turn_started(&mut self) {
        self.note_own_work();
        let (turn_id, steps_before) = match (&self.turn, self.open_after) {
            (Some(turn), _) => (turn.id.clone(), turn.steps_before),
            (None, after) => (own_work_id(after.unwrap_or_default()), 0),
        };
        self.transcript.start_agent_turn(&mut self.draft, &turn_id, steps_before);
        if self.turn.is_none() && self.state == SessionState::Ready {
            // So that users see that it works and can interrupt it.
            self.set_state(SessionState::Working, None);
        }
    }

    /// The agent does something outside any turn of ours: recorded, so that a restart closes what it leaves open.
    pub(super) fn note_own_work(&mut self) {
        if self.turn.is_none() && self.open_after.is_none() {
            let after = self.draft.next_seq() - 1;
            self.open_after = Some(after);
            self.transcript.begin_turn();
            let open = OpenTurn { turn_id: own_work_id(after), prompt: None, after, begun: None };
            self.draft.change(Change::Turn(Some(open)));
        }
    }

    /// Nothing is open any more.
    fn forget_open(&mut self) {
        if self.open_after.take().is_some() {
            self.draft.change(Change::Turn(None));
        }
    }

    /// Whether nothing is under way that the connection is needed for.
    pub(super) fn is_idle(&self) -> bool {
        let asks = !self.requests.is_empty() && !self.requests.are_kept();
        self.turn.is_none() && self.open_after.is_none() && !asks && !self.transcript.agent_works()
    }

    pub(super) fn on_interrupt(&mut self, context: &Context) {
        if self.state == SessionState::Closed {
            return self.reply(Reply::Interrupt(Err(SessionError::Closed)));
        }
        let message = "The turn was interrupted.".to_owned();
        let is_kept = self.requests.are_kept() || self.has_answers();
        if is_kept {
            self.close_requests(RequestOutcome::Cancelled, AnsweredBy::Interrupt);
            self.drop_continuation();
            self.settle();
        }
        let was_running = self.interrupt_turn(context, message, AnsweredBy::Interrupt) || is_kept;
        self.reply(Reply::Interrupt(Ok(was_running)));
        // A turn that the agent does not work on ends at once, and other prompts may be queued.
        self.advance(context);
    }

    /// Asks the agent to end its turn. Returns whether a turn was running.
    pub(super) fn interrupt_turn(&mut self, context: &Context, message: String, by: AnsweredBy) -> bool {
        let deadline = context.now + context.settings.interrupt_grace;
        let Some(turn) = &mut self.turn else {
            let works = self.transcript.agent_works();
            if works {
                self.close_requests(RequestOutcome::Cancelled, by);
                self.send(context, AgentCommand::Interrupt);
            }
            return works;
        };
        if turn.is_interrupted() {
            return true;
        }
        let nobody_works = !turn.is_worked_on();
        turn.phase = Phase::Interrupting { message, deadline };
        self.close_requests(RequestOutcome::Cancelled, by);
        self.drop_continuation();
        if self.state == SessionState::Waiting {
            self.set_state(SessionState::Working, None);
        }
        match self.link {
            _ if nobody_works => self.end_interrupted_turn(context),
            Link::Live { .. } => self.send(context, AgentCommand::Interrupt),
            // A turn that waits for a person after a restart has no agent that could end it.
            Link::None | Link::AwaitingLogin => self.end_interrupted_turn(context),
            Link::Opening { .. } | Link::BackingOff { .. } => {}
        }
        true
    }

    pub(super) fn on_turn_deadline(&mut self, context: &Context) {
        let Some(turn) = &mut self.turn else { return };
        if turn.ends_by.is_some_and(|at| at <= context.now) {
            turn.ends_by = None;
            return self.end_late_turn(context);
        }
        match &turn.phase {
            Phase::Interrupting { deadline, .. } if *deadline <= context.now => self.give_up_on_interrupt(context),
            Phase::Retrying { due_at, .. } if *due_at <= context.now => self.retry_turn(context),
            _ => {}
        }
    }

    fn end_late_turn(&mut self, context: &Context) {
        let timeout = humantime::format_duration(context.settings.turn_timeout.unwrap_or_default());
        let message = format!("The turn exceeded {timeout} (sessions.turn_timeout) and was ended.");
        if let Some(turn) = &mut self.turn {
            turn.failed_with(ErrorClass::Timeout);
        }
        self.write(Response::session_error(ErrorClass::Timeout, message.clone()));
        self.interrupt_turn(context, message, AnsweredBy::Timeout);
        // A turn that waited for a retry is over at once, and others may be queued.
        self.advance(context);
    }

    /// The agent did not end its turn in time: the connection is ended and opened again when needed.
    fn give_up_on_interrupt(&mut self, context: &Context) {
        let grace = humantime::format_duration(Duration::from_secs(context.settings.interrupt_grace.as_secs()));
        self.disconnect(Disconnect::Unresponsive);
        self.notify(NoticeKind::Interrupted, format!("The agent did not stop within {grace} and was disconnected."));
        self.end_interrupted_turn(context);
        self.advance(context);
    }

    fn end_interrupted_turn(&mut self, context: &Context) {
        let Some(Phase::Interrupting { message, .. }) = self.turn.as_ref().map(|turn| &turn.phase) else { return };
        let message = message.clone();
        self.finish_turn(context, &Ending::cut(message, AnsweredBy::Interrupt, PromptVerdict::Interrupted));
    }

    /// The agent reports that the turn is over.
    pub(super) fn on_agent_idle(&mut self, context: &Context) {
        match self.turn.as_mut().map(|turn| &mut turn.phase) {
            Some(Phase::Interrupting { .. }) => self.end_interrupted_turn(context),
            // It waits for its next attempt.
            Some(Phase::Retrying { .. }) => return,
            Some(Phase::Working(attempt)) => match attempt.take_retry() {
                Some(Retry::Wait(failure)) => return self.wait_for_retry(context, &failure),
                Some(Retry::Login(failure)) => return self.keep_for_login(context, failure),
                Some(Retry::Missed(failure)) => {
                    self.fail_turn(failure);
                    self.finish_turn(context, &Ending::Idle);
                }
                None => self.finish_turn(context, &Ending::Idle),
            },
            Some(Phase::Suspended) => self.finish_turn(context, &Ending::Idle),
            // Work that the agent did outside any turn of ours.
            None => {
                self.end_own_work("the agent ended its work without it", AnsweredBy::Agent);
                if matches!(self.state, SessionState::Working | SessionState::Waiting) {
                    self.set_state(SessionState::Ready, None);
                }
            }
        }
        self.advance(context);
    }

    /// Closes what the agent left open of its work outside a turn.
    pub(super) fn end_own_work(&mut self, reason: &str, by: AnsweredBy) {
        self.write_model_retries();
        self.transcript.close_blocks(&mut self.draft, reason);
        if !self.requests.are_kept() {
            self.close_requests(RequestOutcome::Cancelled, by);
        }
        if self.transcript.agent_works() {
            self.transcript.write_agent_end(&mut self.draft);
            self.write(Callback::Idle {});
            self.note_turn_end(false);
        }
        self.forget_open();
        self.transcript.fold_mut().take_answer();
    }

    /// Closes whatever is open, then writes `onAgentEnd` and `onIdle`, in this order and always.
    pub(super) fn finish_turn(&mut self, context: &Context, ending: &Ending) {
        let prompts = self.turn_prompts();
        let Some(turn) = self.turn.take() else { return };
        let (reason, by) = match ending {
            Ending::Idle => ("the agent ended its turn without it", AnsweredBy::Agent),
            Ending::Cut { message, by, .. } => (message.as_str(), *by),
        };
        self.write_model_retries();
        self.transcript.close_blocks(&mut self.draft, reason);
        if !self.requests.are_kept() {
            self.close_requests(RequestOutcome::Cancelled, by);
        }
        self.drop_grants();
        if let Ending::Cut { message, .. } = ending {
            self.notify(NoticeKind::Interrupted, message.clone());
        }
        let verdict = match ending {
            Ending::Cut { verdict, .. } => *verdict,
            Ending::Idle if turn.failed.is_some() => PromptVerdict::Failed,
            Ending::Idle => PromptVerdict::Succeeded,
        };
        if verdict == PromptVerdict::Succeeded {
            self.recovery.losses = 0;
            self.recovery.login_was_refused = false;
        }
        self.set_state(self.resting_state(), None);
        if self.transcript.fold().steps() == 0 {
            // The agent never reported that it began, but readers expect the pair. The state stays, because the turn is
            // over.
            self.transcript.start_agent_turn(&mut self.draft, &turn.id, turn.steps_before);
        }
        self.transcript.write_agent_end(&mut self.draft);
        self.write(Callback::Idle {});
        self.forget_open();
        let mut answer = self.transcript.fold_mut().take_answer();
        let activity = answer.activity();
        let Answer { text, usage, .. } = answer;
        let (error_class, retry) = (turn.failed, RetryHint::of(verdict, turn.failed));
        let duration = turn.began_at.map(|began| context.now.saturating_sub(began));
        self.report_turn_end(&TurnEnd { prompt: turn.prompt, verdict, error_class, by, text: &text, duration });
        self.outputs.push(Output::TurnEnded { prompt: turn.prompt, verdict, error_class, duration });
        // The text may be long: only prompts that were added to the turn need a copy of it.
        if let Some((last, others)) = prompts.split_last() {
            let outcome = PromptOutcome { prompt_id: *last, text, verdict, usage, error_class, retry, activity };
            for prompt in others {
                self.resolve_prompt(PromptOutcome { prompt_id: *prompt, ..outcome.clone() });
            }
            self.resolve_prompt(outcome);
        }
        if context.abilities.process_per_turn && self.turn_slot != TurnSlot::None {
            self.turn_slot = TurnSlot::None;
            self.outputs.push(Output::ReleaseTurnSlot);
        }
    }

    /// Records the one outcome of a prompt.
    pub(super) fn resolve_prompt(&mut self, outcome: PromptOutcome) {
        let prompt = outcome.prompt_id;
        self.draft.change(Change::PromptEnded(prompt, outcome));
        self.outputs.push(Output::PromptEnded(prompt));
    }

    /// Ends every queued prompt as a failed turn, because its sender waits for an outcome.
    pub(super) fn end_waiting_prompts(&mut self, context: &Context, class: ErrorClass, reason: &str) {
        while let Some(prompt) = self.prompts.pop() {
            self.open_turn(prompt.id);
            self.write(Response::session_error(class, reason));
            if let Some(turn) = &mut self.turn {
                turn.failed_with(class);
            }
            self.finish_turn(context, &Ending::Idle);
        }
    }

    /// The agent reports that the turn failed; it becomes idle next.
    pub(super) fn on_turn_failed(&mut self, context: &Context, failure: Failure) {
        if let Some(Phase::Working(attempt)) = self.turn.as_mut().map(|turn| &mut turn.phase)
            && attempt.plans_retry(context, &failure)
        {
            return;
        }
        self.fail_turn(failure);
    }

    pub(super) fn fail_turn(&mut self, failure: Failure) {
        if let Some(turn) = &mut self.turn {
            turn.failed_with(failure.class);
        }
        self.write(Response::from(failure));
    }
}

/// The id of work that an agent does outside any turn and that begins after this event.
fn own_work_id(after: Seq) -> TurnId {
    format!("work-{}", after + 1).into()
}
