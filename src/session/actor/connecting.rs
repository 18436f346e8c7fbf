//! The link to the agent: opening it, losing it, getting it back.

use tokio::sync::mpsc::error::TrySendError;
use tokio::time::{Duration, Instant};

use super::Actor;
use super::turn::{Ending, Turn};
use crate::agent::{
    AgentCommand, AgentEvent, BoxFuture, Capabilities, Connection, ProcessUse, StartError, StartSpec, SuspendedTurn,
    agent_environment,
};
use crate::model::{AnsweredBy, ErrorClass, NoticeKind, PromptVerdict, RequestOutcome, Response, SessionState, redact};
use crate::session::SessionError;
use crate::store::Change;

/// How long an agent may take to go away before it is left to itself.
const CLOSE_GRACE: Duration = Duration::from_secs(5);

pub(super) enum Link {
    /// Nothing is there and nothing is under way.
    None,
    Starting(BoxFuture<'static, Result<Connection, StartError>>),
    Live(Box<Connection>),
    BackingOff {
        until: Instant,
    },
    /// Nobody is logged in; resolves when somebody may have.
    AwaitingLogin(BoxFuture<'static, ()>),
}

pub(super) enum LinkNews {
    /// In the buffer.
    Events,
    Started(Result<Connection, StartError>),
    TryAgain,
    /// The agent's side ended without saying so.
    Ended,
}

/// What the link does next. May be dropped at any point without losing anything.
pub(super) async fn next(link: &mut Link, buffer: &mut Vec<AgentEvent>, limit: usize) -> LinkNews {
    match link {
        Link::None => std::future::pending().await,
        Link::Starting(start) => LinkNews::Started(start.await),
        Link::BackingOff { until } => {
            tokio::time::sleep_until(*until).await;
            LinkNews::TryAgain
        }
        Link::AwaitingLogin(changed) => {
            changed.await;
            LinkNews::TryAgain
        }
        Link::Live(connection) => match connection.events.recv_many(buffer, limit).await {
            0 => LinkNews::Ended,
            _ => LinkNews::Events,
        },
    }
}

impl Actor {
    pub(super) fn capabilities(&self) -> Capabilities {
        self.around
            .runtimes
            .named(&self.profile.runtime)
            .map(|runtime| runtime.capabilities().clone())
            .unwrap_or_default()
    }

    /// Begins to open a connection.
    pub(super) fn connect(&mut self) {
        let runtime = match self.around.runtimes.named(&self.profile.runtime) {
            Ok(runtime) => runtime,
            Err(error) => {
                let error = StartError::Permanent(error.to_string());
                self.link = Link::Starting(Box::pin(async { Err(error) }));
                return;
            }
        };
        if self.turn.is_none() && self.state != SessionState::Recovering {
            self.set_state(SessionState::Starting, None);
        }
        if !self.has_slot_for(ProcessUse::PerSession) {
            self.link = Link::None;
            return;
        }
        if let Err(problem) = self.take_lease() {
            let error = StartError::Permanent(problem);
            self.link = Link::Starting(Box::pin(async { Err(error) }));
            return;
        }
        let spec = StartSpec {
            session: self.id,
            model: self.profile.model.clone(),
            effort: self.profile.effort.clone(),
            working_directory: self.profile.working_directory.clone(),
            system_prompt: self.profile.system_prompt.clone(),
            options: self.profile.options.clone(),
            environment: agent_environment(std::env::vars(), &self.around.settings.agent_environment),
            permissions: self.policy(),
            agent_session_id: self.agent_session_id.clone(),
            suspended: self.suspended_turn(),
        };
        // Listened for from before the question, so that no login in between is missed.
        self.login_news = Some(runtime.credentials_changed());
        self.link = Link::Starting(Box::pin(async move { runtime.start(spec).await }));
    }

    /// The turn that a new connection is to go on with: one that waited for a person when the last one ended.
    fn suspended_turn(&mut self) -> Option<SuspendedTurn> {
        let turn = self.turn.as_ref()?;
        Some(SuspendedTurn {
            turn_id: turn.id.clone(),
            prompt: turn.prompt_text.clone()?,
            requests: self.requests.take_suspended(),
        })
    }

    pub(super) async fn on_started(&mut self, outcome: Result<Connection, StartError>) {
        match outcome {
            Ok(connection) => {
                // Known before the first prompt is sent, so that the agent's session is found again after a crash.
                if connection.agent_session_id != self.agent_session_id {
                    self.agent_session_id.clone_from(&connection.agent_session_id);
                    self.journal.change(Change::AgentSession(self.agent_session_id.clone()));
                }
                let restored = connection.restored;
                self.link = Link::Live(Box::new(connection));
                if let Err(problem) = self.take_lease() {
                    self.disconnect().await;
                    return self.fail(ErrorClass::Configuration, problem);
                }
                self.tell_restored(restored).await;
                if self.turn.is_some() {
                    self.deliver_answers();
                    if self.turn.as_ref().and_then(Turn::interrupt_deadline).is_some() {
                        self.send(AgentCommand::Interrupt);
                    }
                } else {
                    self.set_state(SessionState::Ready, None);
                    self.go_on().await;
                }
            }
            Err(error) => self.on_start_failed(&error),
        }
    }

    /// Tries again what came to nothing: a login that was missing, an agent that was given up.
    pub(super) fn try_again(&mut self) -> Result<(), SessionError> {
        match self.state {
            SessionState::Closed => Err(SessionError::Closed),
            SessionState::NeedsLogin | SessionState::Failed | SessionState::Recovering => {
                self.deaths = 0;
                self.connect();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    pub(super) fn on_start_failed(&mut self, error: &StartError) {
        self.link = Link::None;
        self.slot = None;
        let message = redact(&error.to_string()).into_owned();
        tracing::warn!(session = %self.id, error = %message, "the agent could not be started");
        if self.turn.is_some() {
            // A turn that was to go on after a restart has nobody to go on with.
            self.cut_lost_turn(&message);
        }
        match error {
            StartError::SessionLost(_) => self.on_session_lost(message),
            StartError::Temporary(_) => self.recover_or_fail(&message),
            // The prompt is kept: it is sent when somebody has logged in.
            StartError::NeedsLogin(_) => {
                if self.state != SessionState::NeedsLogin {
                    self.write_notice(NoticeKind::LoginNeeded, message.clone());
                }
                self.set_state(SessionState::NeedsLogin, Some(message));
                if let Some(changed) = self.login_news.take() {
                    self.link = Link::AwaitingLogin(changed);
                }
            }
            StartError::Permanent(_) => self.fail(ErrorClass::Configuration, message),
        }
    }

    /// The agent is gone. A running turn is closed and says so; then the agent is brought back.
    pub(super) async fn on_agent_lost(&mut self, reason: String) {
        let reason = redact(&reason).into_owned();
        tracing::warn!(session = %self.id, %reason, "the agent is gone");
        self.disconnect().await;
        if self.turn.is_some() {
            self.cut_lost_turn(&reason);
        }
        self.recover_or_fail(&reason);
    }

    fn cut_lost_turn(&mut self, reason: &str) {
        self.journal.write(&Response::session_error(ErrorClass::ProcessGone, reason));
        self.close_requests(RequestOutcome::AgentGone, AnsweredBy::Agent);
        let message = format!("The turn was interrupted: {reason}.");
        self.finish_turn(&Ending::Cut { message: &message, by: AnsweredBy::Agent, verdict: PromptVerdict::Failed });
    }

    fn recover_or_fail(&mut self, reason: &str) {
        let recovery = self.around.settings.recovery;
        if self.deaths >= recovery.attempts {
            let attempts = recovery.attempts;
            let reason = format!("{reason} (given up after {attempts} attempts; the next prompt tries again)");
            return self.fail(ErrorClass::ProcessGone, reason);
        }
        let delay = back_off(self.deaths, recovery.first_delay, recovery.longest_delay);
        self.deaths += 1;
        let (attempt, attempts) = (self.deaths, recovery.attempts);
        let wait = if delay.is_zero() { String::new() } else { format!(" in {}", humantime::format_duration(delay)) };
        self.set_state(SessionState::Recovering, Some(format!("{reason} (attempt {attempt} of {attempts}{wait})")));
        self.link = Link::BackingOff { until: Instant::now() + delay };
    }

    /// Gives up until the next prompt. Prompts that wait end with the reason.
    fn fail(&mut self, class: ErrorClass, reason: String) {
        self.end_waiting_prompts(class, &reason);
        self.set_state(SessionState::Failed, Some(reason));
    }

    /// Ends every prompt that waits as a failed turn of its own: whoever sent it waits for an end.
    pub(super) fn end_waiting_prompts(&mut self, class: ErrorClass, reason: &str) {
        while let Some(prompt) = self.prompts.next() {
            self.open_turn(&prompt.id.turn(), prompt.id);
            self.journal.write(&Response::session_error(class, reason));
            if let Some(turn) = &mut self.turn {
                turn.failed = true;
            }
            self.finish_turn(&Ending::Idle);
        }
    }

    /// Sends a command to the agent. One that does not keep up with a handful of commands is as good as gone; one that
    /// closed its channel says so itself.
    pub(super) fn send(&mut self, command: AgentCommand) {
        let Link::Live(connection) = &self.link else { return };
        self.silence.ends();
        if let Err(TrySendError::Full(_)) = connection.commands.try_send(command) {
            tracing::error!(session = %self.id, "the agent takes no commands; it is started anew");
            if let Link::Live(connection) = std::mem::replace(&mut self.link, Link::None) {
                let error = StartError::Temporary("the agent took no commands any more".to_owned());
                // The old link is gone before a new one is opened.
                self.link = Link::Starting(Box::pin(async move {
                    let _ = tokio::time::timeout(CLOSE_GRACE, connection.close()).await;
                    Err(error)
                }));
            }
        }
    }

    /// Ends the link, if there is one, and waits a bounded time for the agent to go away.
    pub(super) async fn disconnect(&mut self) {
        // Nothing that it said may be numbered after what is written now.
        self.held.take();
        self.buffer.clear();
        self.silence.ends();
        self.is_outdated = false;
        if let Link::Live(connection) = std::mem::replace(&mut self.link, Link::None)
            && tokio::time::timeout(CLOSE_GRACE, connection.close()).await.is_err()
        {
            tracing::warn!(session = %self.id, "the agent did not go away in time");
        }
        // Only now may somebody else drive the agent's session, or have its process.
        self.lease = None;
        (self.slot, self.place) = (None, None);
    }
}

/// No wait before the first attempt, then doubling.
fn back_off(deaths: u32, first: Duration, longest: Duration) -> Duration {
    match deaths {
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
            (0..9).map(|deaths| back_off(deaths, Duration::from_secs(1), Duration::from_mins(1)).as_secs()).collect();
        assert_eq!(waits, [0, 1, 2, 4, 8, 16, 32, 60, 60]);
    }
}
