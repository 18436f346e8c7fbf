//! Turns that fail before the agent has said or done anything: tried again, or kept for after a login.

use tokio::time::{Duration, Instant};

use super::Actor;
use crate::agent::{AgentCommand, StartError, failure::Failure};
use crate::model::{AnsweredBy, Callback, NoticeKind, RequestOutcome, SessionState};
use crate::store::{Change, QueuedPrompt};

/// What becomes of a turn that failed with nothing to show for it, once the agent is idle.
#[derive(Debug)]
pub(super) enum SecondChance {
    /// The same again after a while.
    Wait(Failure),
    /// The same again by an agent that knows of a login.
    Login(Failure),
}

/// What a second chance of a turn needs.
#[derive(Debug, Default)]
pub(super) struct Attempts {
    /// The prompt as the agent got it; `None` once the agent has said or done something.
    pub untouched: Option<QueuedPrompt>,
    /// Attempts that failed.
    pub failed: u32,
    pub chance: Option<SecondChance>,
    /// When the next attempt is due.
    pub due_at: Option<Instant>,
}

impl Actor {
    /// The agent says that the turn failed; it is idle next.
    pub(super) fn on_turn_failed(&mut self, failure: Failure) {
        let most = self.around.settings.recovery.turn_attempts;
        // Asking on top of an agent that has asked its model several times only adds to the trouble, and to the
        // conversation.
        let is_settled = failure.is_of_service() && self.capabilities().model_retries;
        if let Some(turn) = &mut self.turn
            && turn.interrupt_deadline().is_none()
            && turn.attempts.untouched.is_some()
        {
            if failure.wants_login {
                turn.attempts.chance = Some(SecondChance::Login(failure));
                return;
            }
            if failure.retries() && !is_settled && turn.attempts.failed + 1 < most {
                turn.attempts.chance = Some(SecondChance::Wait(failure));
                return;
            }
        }
        if let Some(turn) = &mut self.turn {
            turn.failed = true;
        }
        self.journal.write(&failure.into());
    }

    /// Takes the second chance of the turn that has just failed, if it has one. Gives whether it goes on.
    pub(super) async fn takes_second_chance(&mut self) -> bool {
        let Some(turn) = &mut self.turn else { return false };
        let is_interrupted = turn.interrupt_deadline().is_some();
        match turn.attempts.chance.take().filter(|_| !is_interrupted) {
            None => false,
            Some(SecondChance::Wait(failure)) => {
                self.wait_for_next_attempt(&failure);
                true
            }
            Some(SecondChance::Login(failure)) => {
                self.keep_for_login(failure).await;
                true
            }
        }
    }

    fn wait_for_next_attempt(&mut self, failure: &Failure) {
        let recovery = self.around.settings.recovery;
        let Some(turn) = &mut self.turn else { return };
        let wait = failure.wait(turn.attempts.failed, recovery.first_delay);
        turn.attempts.failed += 1;
        turn.attempts.due_at = Some(Instant::now() + wait);
        let (next, most) = (turn.attempts.failed + 1, recovery.turn_attempts);
        let wait = humantime::format_duration(Duration::from_secs(wait.as_secs().max(1)));
        self.close_blocks("the attempt failed");
        self.write_agent_end();
        self.write_notice(
            NoticeKind::Retrying,
            format!(
                "{}. It is tried again in {wait} (attempt {next} of {most}).",
                failure.message.trim_end_matches('.')
            ),
        );
    }

    /// The same prompt once more, to the same agent.
    pub(super) fn try_turn_again(&mut self) {
        let Some(turn) = &mut self.turn else { return };
        turn.attempts.due_at = None;
        let (turn_id, prompt) = (turn.id.clone(), turn.attempts.untouched.clone());
        let Some(QueuedPrompt { text, attachments, .. }) = prompt else { return };
        self.send(AgentCommand::Prompt { turn_id, text, attachments });
    }

    /// The prompt waits again: for a fresh agent, which may know of a login that this one does not; and if that one
    /// wants a login too, for a person.
    async fn keep_for_login(&mut self, failure: Failure) {
        let Some(turn) = self.turn.take() else { return };
        self.close_blocks("the agent wants a login");
        self.close_requests(RequestOutcome::Cancelled, AnsweredBy::Agent);
        if self.agent_turn.is_some() {
            self.write_agent_end();
            self.journal.write(&Callback::Idle {}.into());
        }
        self.journal.change(Change::Turn(None));
        for prompt in turn.attempts.untouched.into_iter().chain(turn.steered).rev() {
            self.journal.change(Change::PromptPutBack(prompt.id));
            self.prompts.put_back(prompt);
        }
        self.disconnect().await;
        self.login_refusals += 1;
        if self.login_refusals == 1 {
            let detail = "the agent wants a login; a fresh one is asked".to_owned();
            self.set_state(SessionState::Recovering, Some(detail));
            return self.connect();
        }
        self.login_refusals = 0;
        self.login_news = self.around.runtimes.named(&self.profile.runtime).ok().map(|it| it.credentials_changed());
        self.on_start_failed(&StartError::NeedsLogin(failure.message));
    }
}
