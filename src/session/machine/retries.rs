//! Turns that fail before the agent has produced anything: retried, or kept until after a login.

use std::time::Duration;

use super::turn::{Ending, Phase};
use super::{Context, Disconnect, Machine};
use crate::agent::{AgentCommand, failure::Failure};
use crate::model::{AnsweredBy, NoticeKind, RequestOutcome, SessionState};
use crate::store::{Change, QueuedPrompt};

/// What happens to a turn that failed without any output, once the agent is idle.
#[derive(Debug)]
pub(super) enum Retry {
    /// It is retried after a while.
    Wait(Failure),
    /// It is retried after a login, or in a new session of the agent.
    Login(Failure),
    /// None after all: the agent said or did something after it had failed.
    Missed(Failure),
}

/// One attempt at a turn.
#[derive(Debug, Default)]
pub(super) struct Attempt {
    /// The prompt as the agent got it; `None` once the agent has produced something.
    untouched: Option<QueuedPrompt>,
    /// Attempts that failed before.
    failed: u32,
    retry: Option<Retry>,
}

impl Attempt {
    pub fn first(prompt: QueuedPrompt) -> Self {
        Self { untouched: Some(prompt), failed: 0, retry: None }
    }

    /// From here on, a retry could repeat what the agent has done.
    pub fn touch(&mut self) {
        self.untouched = None;
    }

    pub fn take_retry(&mut self) -> Option<Retry> {
        match self.retry.take()? {
            Retry::Wait(failure) | Retry::Login(failure) if self.untouched.is_none() => Some(Retry::Missed(failure)),
            retry => Some(retry),
        }
    }

    /// Whether the turn is retried after this failure.
    pub fn plans_retry(&mut self, context: &Context, failure: &Failure) -> bool {
        if self.untouched.is_none() {
            return false;
        }
        // Retrying on top of an agent that has asked its model several times only adds to the load, and to the
        // conversation.
        let was_retried = failure.is_of_service() && context.abilities.model_retries;
        let has_attempts = self.failed + 1 < context.settings.recovery.turn_attempts;
        if failure.wants_login || failure.lost_session {
            self.retry = Some(Retry::Login(failure.clone()));
        } else if failure.retries() && !was_retried && has_attempts {
            self.retry = Some(Retry::Wait(failure.clone()));
        }
        self.retry.is_some()
    }
}

impl Machine {
    pub(super) fn wait_for_retry(&mut self, context: &Context, failure: &Failure) {
        let recovery = context.settings.recovery;
        let Some(turn) = &mut self.turn else { return };
        let Phase::Working(attempt) = &mut turn.phase else { return };
        let mut attempt = std::mem::take(attempt);
        let wait = failure.wait_spread(attempt.failed, recovery.first_delay, context.spread);
        attempt.failed += 1;
        let (next, most) = (attempt.failed + 1, recovery.turn_attempts);
        turn.phase = Phase::Retrying { attempt, failure: failure.clone(), due_at: context.now + wait };
        let wait = humantime::format_duration(Duration::from_secs(wait.as_secs().max(1)));
        self.transcript.close_blocks(&mut self.draft, "the attempt failed");
        self.transcript.write_agent_end(&mut self.draft);
        let message = failure.message.trim_end_matches('.');
        self.notify(NoticeKind::Retrying, format!("{message}. Retrying in {wait} (attempt {next} of {most})."));
    }

    /// Sends the same prompt to the same agent again.
    pub(super) fn retry_turn(&mut self, context: &Context) {
        let Some(turn) = &mut self.turn else { return };
        let Phase::Retrying { attempt, failure, .. } = &mut turn.phase else { return };
        let (attempt, failure) = (std::mem::take(attempt), failure.clone());
        let (turn_id, prompt) = (turn.id.clone(), attempt.untouched.clone());
        turn.phase = Phase::Working(attempt);
        let Some(QueuedPrompt { text, attachments, .. }) = prompt else {
            // The agent said or did something in the meantime, and a retry could repeat it.
            self.fail_turn(failure);
            self.finish_turn(context, &Ending::Idle);
            return self.advance(context);
        };
        self.send(context, AgentCommand::Prompt { turn_id, text, attachments });
    }

    /// The prompt is queued again: for a new process, which may know of a login that this one does not; and if that one
    /// needs a login too, for a person.
    pub(super) fn keep_for_login(&mut self, context: &Context, failure: Failure) {
        let Some(turn) = self.turn.take() else { return };
        let Phase::Working(attempt) = turn.phase else { return };
        self.recovery.abandoned_steps = Some((turn.prompt, turn.steps_before + self.transcript.fold().steps()));
        self.end_own_work("the agent needs a login", AnsweredBy::Agent);
        self.close_requests(RequestOutcome::Cancelled, AnsweredBy::Agent);
        for prompt in attempt.untouched.into_iter().chain(turn.steered).rev() {
            self.draft.change(Change::PromptPutBack(prompt.id));
            self.prompts.put_back(prompt);
        }
        self.disconnect(Disconnect::Politely);
        if failure.lost_session {
            return self.on_session_lost(context, failure.message);
        }
        if !std::mem::replace(&mut self.recovery.login_was_refused, true) {
            let detail = "the agent needs a login; checking with a new process".to_owned();
            self.set_state(SessionState::Recovering, Some(detail));
            return self.open(context);
        }
        self.recovery.login_was_refused = false;
        self.await_login(failure.message);
    }
}
