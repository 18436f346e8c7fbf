//! Turns that fail before the agent has said or done anything: sent again, or kept for after a login.

use std::time::Duration;

use super::turn::Phase;
use super::{Context, Disconnect, Machine};
use crate::agent::{AgentCommand, failure::Failure};
use crate::model::{AnsweredBy, NoticeKind, RequestOutcome, SessionState};
use crate::store::{Change, QueuedPrompt};

/// What becomes of a turn that failed with nothing to show for it, once the agent is idle.
#[derive(Debug)]
pub(super) enum SecondChance {
    /// The same again after a while.
    Wait(Failure),
    /// The same again by an agent that knows of a login.
    Login(Failure),
    /// None after all: the agent said or did something after it had failed.
    Missed(Failure),
}

/// One attempt at a turn.
#[derive(Debug, Default)]
pub(super) struct Attempt {
    /// The prompt as the agent got it; `None` once the agent has said or done something.
    untouched: Option<QueuedPrompt>,
    /// Attempts that failed before.
    failed: u32,
    chance: Option<SecondChance>,
}

impl Attempt {
    pub fn first(prompt: QueuedPrompt) -> Self {
        Self { untouched: Some(prompt), failed: 0, chance: None }
    }

    /// From here on, sending the same prompt again would say or do things twice.
    pub fn touch(&mut self) {
        self.untouched = None;
    }

    pub fn take_chance(&mut self) -> Option<SecondChance> {
        match self.chance.take()? {
            SecondChance::Wait(failure) | SecondChance::Login(failure) if self.untouched.is_none() => {
                Some(SecondChance::Missed(failure))
            }
            chance => Some(chance),
        }
    }

    /// Whether the turn gets a second chance after this failure.
    pub fn takes_chance(&mut self, context: &Context<'_>, failure: &Failure) -> bool {
        if self.untouched.is_none() {
            return false;
        }
        // Retrying on top of an agent that has asked its model several times only adds to the load, and to the
        // conversation.
        let was_retried = failure.is_of_service() && context.abilities.model_retries;
        let has_attempts = self.failed + 1 < context.settings.recovery.turn_attempts;
        if failure.wants_login {
            self.chance = Some(SecondChance::Login(failure.clone()));
        } else if failure.retries() && !was_retried && has_attempts {
            self.chance = Some(SecondChance::Wait(failure.clone()));
        }
        self.chance.is_some()
    }
}

impl Machine {
    pub(super) fn wait_for_retry(&mut self, context: &Context<'_>, failure: &Failure) {
        let recovery = context.settings.recovery;
        let Some(turn) = &mut self.turn else { return };
        let Phase::Working(attempt) = &mut turn.phase else { return };
        let mut attempt = std::mem::take(attempt);
        let wait = failure.wait_spread(attempt.failed, recovery.first_delay, context.spread);
        attempt.failed += 1;
        let (next, most) = (attempt.failed + 1, recovery.turn_attempts);
        turn.phase = Phase::Retrying { attempt, due_at: context.now + wait };
        let wait = humantime::format_duration(Duration::from_secs(wait.as_secs().max(1)));
        self.transcript.close_blocks(&mut self.draft, "the attempt failed");
        self.transcript.write_agent_end(&mut self.draft);
        let message = failure.message.trim_end_matches('.');
        self.notify(NoticeKind::Retrying, format!("{message}. Retrying in {wait} (attempt {next} of {most})."));
    }

    /// The same prompt once more, to the same agent.
    pub(super) fn retry_turn(&mut self, context: &Context<'_>) {
        let Some(turn) = &mut self.turn else { return };
        let Phase::Retrying { attempt, .. } = &mut turn.phase else { return };
        let attempt = std::mem::take(attempt);
        let (turn_id, prompt) = (turn.id.clone(), attempt.untouched.clone());
        turn.phase = Phase::Working(attempt);
        let Some(QueuedPrompt { text, attachments, .. }) = prompt else { return };
        self.send(context, AgentCommand::Prompt { turn_id, text, attachments });
    }

    /// The prompt waits again: for a fresh agent, which may know of a login that this one does not; and if that one
    /// wants a login too, for a person.
    pub(super) fn keep_for_login(&mut self, context: &Context<'_>, failure: Failure) {
        let Some(turn) = self.turn.take() else { return };
        let Phase::Working(attempt) = turn.phase else { return };
        self.end_own_work("the agent needs a login", AnsweredBy::Agent);
        self.close_requests(RequestOutcome::Cancelled, AnsweredBy::Agent);
        for prompt in attempt.untouched.into_iter().chain(turn.steered).rev() {
            self.draft.change(Change::PromptPutBack(prompt.id));
            self.prompts.put_back(prompt);
        }
        self.disconnect(Disconnect::Politely);
        if !std::mem::replace(&mut self.recovery.login_was_refused, true) {
            let detail = "the agent needs a login; a fresh process is being asked".to_owned();
            self.set_state(SessionState::Recovering, Some(detail));
            return self.open(context);
        }
        self.recovery.login_was_refused = false;
        self.await_login(failure.message);
    }
}
