//! The link to the agent: opening it, losing it, restoring it.

use std::time::Duration;

use super::continuation::Fate;
use super::restart::MAY_HAVE_RUN;
use super::turn::Ending;
use super::{Context, Disconnect, Machine, Opened, Output};
use crate::agent::{AgentCommand, QueuePosition, Restored, StartError};
use crate::model::{
    AnsweredBy, ErrorClass, NoticeKind, PromptId, PromptVerdict, RequestOutcome, Response, SessionOrigin, SessionState,
    redact,
};
use crate::session::SessionError;
use crate::store::Change;

/// The state of the link to the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    /// Not connected and not connecting.
    None,
    /// A connection is being opened, or waits for a process.
    Opening {
        /// The model or effort changed since.
        configure: bool,
        /// The permissions changed since.
        permit: bool,
    },
    Live {
        /// Whether the agent can be probed.
        can_probe: bool,
        /// It must be opened again before the next turn.
        is_outdated: bool,
    },
    /// The next attempt is due at `until`.
    BackingOff { until: Duration },
    /// Nobody is logged in.
    AwaitingLogin,
}

/// State for restoring the agent.
#[derive(Debug, Default)]
pub(super) struct Recovery {
    /// Consecutive losses of the agent without a turn that succeeded.
    pub losses: u32,
    /// The last turn failed because of a missing login, and a new process is being tried.
    pub login_was_refused: bool,
    /// Why the agent's own session could not be restored, until a new one is open.
    pub lost_session: Option<String>,
    /// What the agent gets with the next prompt about a conversation that it has lost.
    pub summary: Option<String>,
    /// The running turn, or the last one, began with a summary: titles that the agent makes in it are of the summary.
    pub began_with_summary: bool,
    /// The prompt that was last queued again, and how many steps the agent had begun for it.
    pub abandoned_steps: Option<(PromptId, u32)>,
}

impl Recovery {
    /// Whether it holds no state.
    pub fn is_forgotten(&self) -> bool {
        let Self { losses, login_was_refused, lost_session, summary, began_with_summary: _, abandoned_steps: _ } = self;
        *losses == 0 && !login_was_refused && lost_session.is_none() && summary.is_none()
    }
}

impl Machine {
    pub(super) fn is_live(&self) -> bool {
        matches!(self.link, Link::Live { .. })
    }

    /// Begins to open a connection.
    pub(super) fn open(&mut self, context: &Context) {
        if context.stopping || self.state == SessionState::Closed {
            return;
        }
        if self.turn.is_none() && self.state != SessionState::Recovering {
            self.set_state(SessionState::Starting, None);
        }
        self.link = Link::Opening { configure: false, permit: false };
        let suspended = self.suspended_turn();
        self.outputs.push(Output::Open { agent_session_id: self.agent_session_id.clone(), suspended });
    }

    /// Whether a new session of the agent gets a summary, because the old one was lost: the prompts that wait, which the
    /// summary leaves out.
    pub fn needs_summary(&self) -> Option<Vec<PromptId>> {
        self.recovery.lost_session.as_ref()?;
        Some(self.prompts.waiting())
    }

    pub(super) fn on_opened(&mut self, context: &Context, opened: Opened) {
        let Opened { agent_session_id, restored, can_probe, pending, summary } = opened;
        // Stored before the first prompt is sent, so that the agent's session is found again after a crash.
        self.set_agent_session(agent_session_id);
        let changed = std::mem::replace(&mut self.link, Link::Live { can_probe, is_outdated: false });
        if let Link::Opening { configure, permit } = changed {
            self.send_changes(context, configure, permit);
        }
        self.silence.note_activity(context.now);
        self.report_restored(restored, summary);
        match &self.turn {
            Some(turn) if turn.is_interrupted() => {
                self.drop_continuation();
                self.send(context, AgentCommand::Interrupt);
            }
            Some(_) => self.on_suspended_opened(context, &pending),
            None => {
                self.set_state(self.resting_state(), None);
                self.advance(context);
            }
        }
    }

    pub(super) fn set_agent_session(&mut self, id: Option<String>) {
        if id != self.agent_session_id {
            self.agent_session_id.clone_from(&id);
            self.draft.change(Change::AgentSession(id));
        }
    }

    /// Writes a notice if the agent's session was not restored completely.
    fn report_restored(&mut self, restored: Restored, summary: Option<String>) {
        // Agents may not store a session without any prompt: nothing is lost with it.
        let had_prompts = summary.is_some() || self.prompts.len() < self.prompts.last().number() as usize;
        if let Some(reason) = self.recovery.lost_session.take().filter(|_| had_prompts) {
            let message = match summary {
                Some(_) => {
                    "The agent's previous session could not be restored, so a new one was started: your history is \
                     intact, and the agent gets a summary of it with your next prompt."
                }
                None => {
                    "The agent's previous session could not be restored, so a new one was started: your history is \
                     intact."
                }
            };
            self.notify_in_detail(NoticeKind::FreshSession, message, reason);
            self.recovery.summary = summary;
        } else if restored == Restored::Incomplete {
            self.notify(
                NoticeKind::Incomplete,
                "The agent's session was restored, but its own record of the last turn has no clean end, so the agent \
                 may not know the last message as it is shown here.",
            );
        }
    }

    pub(super) fn on_open_failed(&mut self, context: &Context, error: &StartError) {
        self.link = Link::None;
        let message = redact(&error.to_string()).into_owned();
        let is_temporary = matches!(error, StartError::Temporary(_) | StartError::NeedsLogin(_));
        if self.turn.is_some() && !(self.is_suspended() && is_temporary) {
            // A turn that should continue has no agent any more.
            self.cut_lost_turn(context, &message);
        }
        match error {
            StartError::SessionLost(_) => self.on_session_lost(context, message),
            StartError::Temporary(_) => self.recover_or_fail(context, &message),
            StartError::NeedsLogin(_) => self.await_login(message),
            StartError::Permanent(_) | StartError::NotConformant(_) => {
                self.fail(context, ErrorClass::Configuration, message);
            }
        }
    }

    /// Queued prompts are kept: they are sent after a login.
    pub(super) fn await_login(&mut self, message: String) {
        if self.state != SessionState::NeedsLogin {
            self.notify(NoticeKind::LoginNeeded, message.clone());
            self.report_needed_login(&message);
        }
        self.set_state(SessionState::NeedsLogin, Some(message));
        self.link = Link::AwaitingLogin;
        self.outputs.push(Output::AwaitLogin);
    }

    /// The agent's session is missing, damaged or not listed: a new one is started.
    pub(super) fn on_session_lost(&mut self, context: &Context, reason: String) {
        // The store keeps the lost id until there is another one: a restart before that must come here again.
        self.agent_session_id = None;
        self.recovery.lost_session = Some(reason);
        let detail = "the agent's session is lost; a new one is being started".to_owned();
        self.set_state(SessionState::Recovering, Some(detail));
        self.open(context);
    }

    /// The connection ended. A running turn is closed with a notice; then the agent is restored.
    pub(super) fn on_agent_lost(&mut self, context: &Context, reason: &str) {
        if !self.is_live() {
            // Its loss has been handled already.
            return;
        }
        self.disconnect(Disconnect::Politely);
        self.lose_agent(context, reason);
    }

    /// As [`Self::on_agent_lost`], for a connection that is ended already.
    pub(super) fn lose_agent(&mut self, context: &Context, reason: &str) {
        let reason = redact(reason).into_owned();
        match self.fate_of_requests(context) {
            Fate::TurnContinues => {
                self.notify(
                    NoticeKind::RequestKept,
                    format!("{reason}. The agent will be restarted once you answer its request."),
                );
                self.suspend_turn();
                if self.requests.is_empty() {
                    self.recover_or_fail(context, &reason);
                }
                return;
            }
            Fate::Kept => {
                self.cut_waiting_turn(context, format!("The turn was interrupted: {reason}."), AnsweredBy::Agent);
                self.end_own_work("the agent is gone", AnsweredBy::Agent);
                // It is started again with the answer.
                return self.set_state(self.resting_state(), None);
            }
            Fate::Lost | Fate::NothingWaits => {}
        }
        if self.turn.is_some() {
            self.cut_lost_turn(context, &reason);
        } else {
            self.end_own_work("the agent is gone", AnsweredBy::Agent);
        }
        self.recover_or_fail(context, &reason);
    }

    fn cut_lost_turn(&mut self, context: &Context, reason: &str) {
        self.write(Response::session_error(ErrorClass::ProcessGone, reason));
        let tool = if self.runs_tool() { MAY_HAVE_RUN } else { "" };
        self.close_requests(RequestOutcome::AgentGone, AnsweredBy::Agent);
        self.drop_continuation();
        if let Some(turn) = &mut self.turn {
            turn.failed_with(ErrorClass::ProcessGone);
        }
        let message = format!("The turn was interrupted: {reason}.{tool}");
        self.finish_turn(context, &Ending::cut(message, AnsweredBy::Agent, PromptVerdict::Failed));
        if self.origin == SessionOrigin::User {
            self.prompts.hold();
        }
        if self.prompts.is_held() {
            self.notify_of_held_queue();
        }
    }

    /// Says that queued prompts wait for a person's decision.
    pub(super) fn notify_of_held_queue(&mut self) {
        let waits = match self.prompts.len() {
            1 => "1 queued prompt waits because the turn before it was interrupted".to_owned(),
            waiting => format!("{waiting} queued prompts wait because the turn before them was interrupted"),
        };
        let message = format!("{waits}. Ask again to repeat that turn first, or continue with the queue.");
        self.notify(NoticeKind::QueueHeld, message);
    }

    fn recover_or_fail(&mut self, context: &Context, reason: &str) {
        let recovery = context.settings.recovery;
        if self.recovery.losses >= recovery.attempts {
            let attempts = recovery.attempts;
            let reason = format!("{reason} (gave up after {attempts} attempts; send a prompt to try again)");
            return self.fail(context, ErrorClass::ProcessGone, reason);
        }
        let delay = back_off(self.recovery.losses, recovery.first_delay, recovery.longest_delay);
        self.recovery.losses += 1;
        let (attempt, attempts) = (self.recovery.losses, recovery.attempts);
        let wait = if delay.is_zero() { String::new() } else { format!(" in {}", humantime::format_duration(delay)) };
        self.set_state(SessionState::Recovering, Some(format!("{reason} (attempt {attempt} of {attempts}{wait})")));
        self.link = Link::BackingOff { until: context.now + delay };
    }

    /// Gives up until the next prompt. Queued prompts fail with the reason.
    fn fail(&mut self, context: &Context, class: ErrorClass, reason: String) {
        if self.turn.is_some() {
            self.cut_waiting_turn(context, format!("The turn was interrupted: {reason}."), AnsweredBy::Agent);
        }
        self.end_waiting_prompts(context, class, &reason);
        if self.state != SessionState::Failed {
            self.report_failure(class, &reason);
        }
        self.set_state(SessionState::Failed, Some(reason));
    }

    /// Tries again after a failure, a missing login or a loss.
    pub(super) fn try_again(&mut self, context: &Context) -> Result<(), SessionError> {
        self.prompts.release();
        match self.state {
            SessionState::Closed => Err(SessionError::Closed),
            SessionState::NeedsLogin | SessionState::Failed | SessionState::Recovering => {
                self.recovery.losses = 0;
                // A turn that was interrupted meanwhile may still be ending in a new connection.
                if !matches!(self.link, Link::Opening { .. } | Link::Live { .. }) {
                    self.open(context);
                }
                Ok(())
            }
            _ => {
                self.advance(context);
                Ok(())
            }
        }
    }

    /// Ends the link, if there is one.
    pub(super) fn disconnect(&mut self, how: Disconnect) {
        self.turn_slot = super::TurnSlot::None;
        self.link = Link::None;
        self.answered_calls = super::AnsweredCalls::default();
        self.outputs.push(Output::Disconnect(how));
    }

    pub(super) fn on_queued(&mut self, position: QueuePosition) {
        let state = if self.state == SessionState::Recovering { self.state } else { SessionState::Starting };
        self.set_state(state, Some(position.to_string()));
    }

    /// Whether the session keeps a process that it does not need and would get again.
    pub fn could_give_up_process(&self, context: &Context) -> bool {
        self.is_idle() && self.prompts.is_empty() && self.is_live() && context.abilities.session_resume
    }

    /// Another session needs a process: this one is ended, and started again with the next prompt.
    pub(super) fn give_up_process(&mut self) {
        self.disconnect(Disconnect::Politely);
        if !self.has_been_prompted() {
            // Agents may not store a session without any prompt.
            self.agent_session_id = None;
            self.draft.change(Change::AgentSession(None));
        }
        self.set_state(SessionState::Ready, None);
    }
}

/// No wait before the first attempt, then doubling.
fn back_off(losses: u32, first: Duration, longest: Duration) -> Duration {
    match losses {
        0 => Duration::ZERO,
        more => first.saturating_mul(2_u32.saturating_pow(more - 1)).min(longest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest() {
        let waits: Vec<u64> =
            (0..9).map(|losses| back_off(losses, Duration::from_secs(1), Duration::from_mins(1)).as_secs()).collect();
        assert_eq!(waits, [0, 1, 2, 4, 8, 16, 32, 60, 60]);
    }
}
