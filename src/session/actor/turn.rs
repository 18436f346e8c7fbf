//! Turns: from a prompt to idle, whatever happens in between.

use std::collections::HashSet;

use tokio::time::{Duration, Instant};

use super::connecting::Link;
use super::retrying::Attempts;
use super::{Actor, AgentTurn, TAIL_LINGERS};
use crate::agent::{AgentCommand, ProcessUse};
use crate::model::{
    AnsweredBy, Callback, ErrorClass, NoticeKind, PromptId, PromptOutcome, PromptVerdict, RequestOutcome, Response,
    SessionState, TurnId, Usage,
};
use crate::store::{Change, OpenTurn, QueuedPrompt, StoreHealth};

/// How long an agent that did not stop may take to show that it lives.
const SIGN_OF_LIFE_WITHIN: Duration = Duration::from_secs(2);

/// Notices that wait for the first prompt.
const EARLY_NOTICES: usize = 16;

/// The turn that runs.
#[derive(Debug)]
pub(super) struct Turn {
    pub id: TurnId,
    /// The prompts it works on: the first began it, others steered it.
    pub prompts: Vec<PromptId>,
    /// Those that steered it, until it is over: the agent may refuse one.
    pub steered: Vec<QueuedPrompt>,
    /// What the agent said since its last tool call.
    pub text: String,
    pub usage: Usage,
    pub failed: bool,
    /// Messages that sub-agents said to the agent: no part of the answer.
    pub asides: HashSet<String>,
    /// The prompt's text, for a turn that goes on after a restart.
    pub prompt_text: Option<String>,
    pub attempts: Attempts,
    /// When it must be over.
    pub ends_by: Option<Instant>,
    interrupt: Option<Interrupt>,
}

#[derive(Debug)]
struct Interrupt {
    message: String,
    deadline: Instant,
}

impl Turn {
    pub fn new(id: TurnId, prompt: PromptId) -> Self {
        Self {
            id,
            prompts: vec![prompt],
            steered: Vec::new(),
            text: String::new(),
            usage: Usage::default(),
            failed: false,
            asides: HashSet::new(),
            prompt_text: None,
            attempts: Attempts::default(),
            ends_by: None,
            interrupt: None,
        }
    }

    /// Adds a message to what the agent said since its last tool call.
    pub fn add_text(&mut self, content: &str) {
        if !self.text.is_empty() && !content.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.push_str(content);
    }

    /// A prompt that steered it, which is no longer its own.
    pub fn take_steered(&mut self, number: PromptId) -> Option<QueuedPrompt> {
        let position = self.steered.iter().position(|prompt| prompt.id == number)?;
        self.prompts.retain(|prompt| *prompt != number);
        Some(self.steered.remove(position))
    }

    /// When an interrupted agent must have ended its turn.
    pub fn interrupt_deadline(&self) -> Option<Instant> {
        self.interrupt.as_ref().map(|interrupt| interrupt.deadline)
    }
}

/// Why a turn is over.
pub(super) enum Ending<'a> {
    /// The agent says so.
    Idle,
    /// We say so; the agent may not even know.
    Cut {
        /// For people, as a notice.
        message: &'a str,
        /// Who cut it, for requests that are closed with it.
        by: AnsweredBy,
        verdict: PromptVerdict,
    },
}

impl Actor {
    /// Begins the next waiting prompt's turn, or connects first, or does nothing because something is under way.
    pub(super) async fn go_on(&mut self) {
        let refusing = matches!(*self.around.store.health().borrow(), StoreHealth::Refusing { .. });
        let ends = self.state == SessionState::Closed || self.around.stopping.is_cancelled();
        if self.turn.is_none() && self.agent_turn.is_none() && self.is_outdated {
            self.disconnect().await;
        }
        if self.turn.is_some() || self.prompts.is_empty() || ends || refusing {
            return;
        }
        if !matches!(self.link, Link::Starting(_) | Link::BackingOff { .. })
            && let Some(reason) = self.budget_refusal()
        {
            return self.end_waiting_prompts(ErrorClass::Quota, &format!("{reason}."));
        }
        match self.link {
            Link::Live(_) => self.begin_turn().await,
            Link::Starting(_) | Link::BackingOff { .. } => {}
            Link::None if self.place.is_some() => {}
            // Whoever sends a prompt may know of a login that nobody told us of.
            Link::None | Link::AwaitingLogin(_) => self.connect(),
        }
    }

    /// The turn, and the agent's own id of its session, are in the store before the agent hears of the prompt: no
    /// restart sends it twice or to another session.
    async fn begin_turn(&mut self) {
        if !self.has_slot_for(ProcessUse::PerTurn) {
            return;
        }
        let Some(prompt) = self.prompts.next() else { return };
        let turn_id = prompt.id.turn();
        let before = (self.state, self.state_detail.clone());
        self.journal.flush();
        self.open_turn(&turn_id, prompt.id);
        if let Err(error) = self.journal.commit().await {
            tracing::warn!(session = %self.id, error = %error, "a turn could not begin; its prompt waits");
            self.turn = None;
            (self.state, self.state_detail) = before;
            self.prompts.put_back(prompt);
            self.post();
            return;
        }
        let prompt = QueuedPrompt { text: self.with_recap(prompt.text), ..prompt };
        if let Some(turn) = &mut self.turn {
            turn.attempts.untouched = Some(prompt.clone());
            turn.ends_by = self.around.settings.turn_timeout.map(|timeout| Instant::now() + timeout);
        }
        self.send(AgentCommand::Prompt { turn_id, text: prompt.text, attachments: prompt.attachments });
    }

    pub(super) fn open_turn(&mut self, turn_id: &TurnId, prompt: PromptId) {
        let open = OpenTurn { turn_id: turn_id.clone(), prompt, after: self.journal.next_seq() - 1 };
        self.journal.change(Change::PromptStarted(prompt));
        self.journal.change(Change::Turn(Some(open)));
        self.turn = Some(Turn::new(turn_id.clone(), prompt));
        self.let_go_at = None;
        self.set_state(SessionState::Working, None);
    }

    /// The agent began to work.
    pub(super) fn on_agent_turn_started(&mut self, turn_id: TurnId) {
        self.write_agent_end();
        self.journal.write(&Callback::AgentStart { turn_id: turn_id.clone() }.into());
        self.agent_turn = Some(AgentTurn { id: turn_id, ended: false });
        if self.turn.is_none() && self.state == SessionState::Ready {
            // It works by itself, which everybody should see and be able to end.
            self.set_state(SessionState::Working, None);
        }
    }

    /// Writes the end of the agent's own turn, if one is open.
    pub(super) fn write_agent_end(&mut self) {
        if let Some(AgentTurn { id, .. }) = self.agent_turn.take() {
            self.journal.write(&Callback::AgentEnd { turn_id: id }.into());
        }
    }

    /// Asks the agent to end its turn. Gives whether a turn was running.
    pub(super) fn interrupt_turn(&mut self, message: &str, by: AnsweredBy) -> bool {
        let deadline = Instant::now() + self.around.settings.interrupt_grace;
        let Some(turn) = &mut self.turn else {
            if self.agent_turn.is_some() {
                self.close_requests(RequestOutcome::Cancelled, by);
                self.send(AgentCommand::Interrupt);
            }
            return self.agent_turn.is_some();
        };
        if turn.interrupt.is_some() {
            return true;
        }
        turn.interrupt = Some(Interrupt { message: message.to_owned(), deadline });
        self.close_requests(RequestOutcome::Cancelled, by);
        if self.state == SessionState::Waiting {
            self.set_state(SessionState::Working, None);
        }
        let waits = self.turn.as_ref().is_some_and(|turn| turn.attempts.due_at.is_some());
        match self.link {
            // Nobody works on it right now.
            _ if waits => self.end_interrupted_turn(),
            Link::Live(_) => self.send(AgentCommand::Interrupt),
            // A turn that waits for a person after a restart has no agent that could end it.
            Link::None | Link::AwaitingLogin(_) => self.end_interrupted_turn(),
            Link::Starting(_) | Link::BackingOff { .. } => {}
        }
        true
    }

    /// The turn takes longer than it may.
    pub(super) fn end_late_turn(&mut self) {
        let timeout = humantime::format_duration(self.around.settings.turn_timeout.unwrap_or_default());
        let message = format!("The turn took longer than {timeout} (sessions.turn_timeout) and was ended.");
        if let Some(turn) = &mut self.turn {
            turn.ends_by = None;
        }
        self.journal.write(&Response::session_error(ErrorClass::Timeout, message.clone()));
        self.interrupt_turn(&message, AnsweredBy::Timeout);
    }

    /// The agent did not end its turn in time: it is cut off and started anew.
    pub(super) async fn give_up_on_interrupt(&mut self) {
        self.play_held().await;
        if self.turn.as_ref().and_then(Turn::interrupt_deadline).is_none() {
            return;
        }
        let grace = humantime::format_duration(Duration::from_secs(self.around.settings.interrupt_grace.as_secs()));
        tracing::warn!(session = %self.id, "the agent did not end an interrupted turn in time");
        let pulse = match &self.link {
            Link::Live(connection) => connection.pulse().cloned(),
            _ => None,
        };
        if let Some(pulse) = pulse
            && !pulse.feel(SIGN_OF_LIFE_WITHIN).await
        {
            // A program that shows no sign of life would keep the next turn waiting too.
            pulse.cut_off().await;
        }
        self.disconnect().await;
        self.write_notice(NoticeKind::Interrupted, format!("The agent did not stop within {grace} and was cut off."));
        self.end_interrupted_turn();
        self.go_on().await;
    }

    fn end_interrupted_turn(&mut self) {
        let message = self.turn.as_mut().and_then(|turn| turn.interrupt.take()).map(|interrupt| interrupt.message);
        let message = message.unwrap_or_else(|| "The turn was interrupted.".to_owned());
        self.finish_turn(&Ending::Cut {
            message: &message,
            by: AnsweredBy::Interrupt,
            verdict: PromptVerdict::Interrupted,
        });
    }

    /// The agent says that the turn is over.
    pub(super) async fn on_agent_idle(&mut self) {
        if self.takes_second_chance().await {
            return;
        }
        match &self.turn {
            Some(turn) if turn.interrupt.is_some() => self.end_interrupted_turn(),
            // It waits for its next attempt.
            Some(turn) if turn.attempts.due_at.is_some() => return,
            Some(_) => self.finish_turn(&Ending::Idle),
            // Work that the agent did by itself, outside any turn of ours.
            None => {
                self.close_blocks("the agent ended its work without it");
                self.close_requests(RequestOutcome::Cancelled, AnsweredBy::Agent);
                if matches!(self.state, SessionState::Working | SessionState::Waiting) {
                    self.set_state(SessionState::Ready, None);
                }
                if self.agent_turn.is_some() {
                    self.write_agent_end();
                    self.journal.write(&Callback::Idle {}.into());
                }
            }
        }
        self.go_on().await;
    }

    /// Closes whatever is open, then writes `onAgentEnd` and `onIdle`, in this order and always.
    pub(super) fn finish_turn(&mut self, ending: &Ending<'_>) {
        let Some(turn) = self.turn.take() else { return };
        let (reason, by) = match ending {
            Ending::Idle => ("the agent ended its turn without it", AnsweredBy::Agent),
            Ending::Cut { message, by, .. } => (*message, *by),
        };
        self.close_blocks(reason);
        self.close_requests(RequestOutcome::Cancelled, by);
        if let Ending::Cut { message, .. } = ending {
            self.write_notice(NoticeKind::Interrupted, (*message).to_owned());
        }
        let verdict = match ending {
            Ending::Cut { verdict, .. } => *verdict,
            Ending::Idle if turn.failed => PromptVerdict::Failed,
            Ending::Idle => PromptVerdict::Succeeded,
        };
        if verdict == PromptVerdict::Succeeded {
            self.deaths = 0;
            self.login_refusals = 0;
        }
        self.set_state(SessionState::Ready, None);
        if self.agent_turn.is_none() {
            // The agent never said that it began; readers count on the pair. Nobody works any more, so the state stays.
            self.journal.write(&Callback::AgentStart { turn_id: turn.id.clone() }.into());
            self.agent_turn = Some(AgentTurn { id: turn.id.clone(), ended: false });
        }
        self.write_agent_end();
        self.journal.write(&Callback::Idle {}.into());
        self.journal.change(Change::Turn(None));
        for number in turn.prompts {
            self.resolve_prompt(number, turn.text.clone(), verdict, turn.usage.clone());
        }
        self.let_go_at = Some(Instant::now() + TAIL_LINGERS);
        if self.capabilities().processes == ProcessUse::PerTurn {
            self.slot = None;
        }
    }

    pub(super) fn resolve_prompt(&mut self, number: PromptId, text: String, verdict: PromptVerdict, usage: Usage) {
        let outcome = PromptOutcome { prompt_id: number, text, verdict, usage };
        // Whoever waits reads the outcome from the store, so they are told once it has been handed to it.
        let waiting = self.outcomes_awaited.remove(&number).into_iter().flatten();
        self.outcomes_ready.extend(waiting.map(|waiting| (waiting, outcome.clone())));
        self.journal.change(Change::PromptEnded(number, outcome));
    }

    /// Hands what was written to the store, then tells those who waited for the end of a turn.
    pub(super) fn flush(&mut self) {
        self.journal.flush();
        for (waiting, outcome) in self.outcomes_ready.drain(..) {
            // Whoever waited may have hung up.
            let _ = waiting.send(outcome);
        }
    }

    pub(super) fn close_blocks(&mut self, reason: &str) {
        for (key, response) in self.blocks.closing_responses(reason) {
            let seq = self.journal.write(&response);
            if let Some(ended) = self.blocks.end(&key, seq) {
                self.journal.end_block(ended);
            }
        }
    }

    /// Writes a notice, once the session has a list to write it to.
    pub(super) fn write_notice(&mut self, kind: NoticeKind, message: String) {
        if kind.is_repeated() && self.told.get(&kind) == Some(&message) {
            return;
        }
        if !self.has_been_prompted() {
            if self.early_notices.len() < EARLY_NOTICES {
                self.early_notices.push((kind, message));
            }
            return;
        }
        if kind.is_repeated() {
            self.told.insert(kind, message.clone());
        }
        self.journal.write(&Response::notice(kind, message));
    }

    /// What was to be said before the first prompt is said right after it.
    pub(super) fn write_early_notices(&mut self) {
        for (kind, message) in std::mem::take(&mut self.early_notices) {
            if kind.is_repeated() {
                self.told.insert(kind, message.clone());
            }
            self.journal.write(&Response::notice(kind, message));
        }
        if self.place.is_some() && !self.has_been_prompted() {
            self.write_state();
        }
    }
}
