//! Handles a session that cannot keep up: its turn is interrupted, and continued when the session has received
//! everything.

use std::time::Duration;

use serde_json::json;

use super::{Calls, Link, Outcome};
use crate::agent::copilot::outbox::{Refused, SessionClosed};
use crate::agent::copilot::parameters;
use crate::agent::failure::Failure;
use crate::agent::{AgentEvent, QuestionAnswer};
use crate::model::ErrorClass;

/// How long a program may take to confirm that an aborted turn is over. It sends no confirmation if the turn was
/// already over.
const STOPPED_WITHIN: Duration = Duration::from_secs(10);
/// The most times that one turn is continued for a session that keeps falling behind.
pub(super) const CONTINUED_AT_MOST: u32 = 3;
pub(super) const CONTINUE: &str = "Your last reply was cut off because its reader could not keep up. Continue where you stopped; \
    do not repeat what you have already done or said.";

/// Whether the session keeps up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::agent::copilot) enum Pace {
    #[default]
    KeepsUp,
    /// The program was asked to abort the turn. Its output is dropped.
    Stopping(Then),
    /// The turn was aborted and continues when the session has received everything.
    Stopped,
    /// There was no turn to abort. The program's output is dropped until the session has received everything.
    Skipping,
}

/// What to do when a turn has been aborted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::agent::copilot) enum Then {
    Continue,
    /// The user interrupted the turn meanwhile.
    End,
}

impl Link {
    /// Passes an event on, unless the session is too far behind.
    pub(super) fn emit(&mut self, event: AgentEvent, calls: &mut Calls) -> Result<(), SessionClosed> {
        if matches!((self.pace, &event), (Pace::Stopping(_), AgentEvent::TurnFailed { .. })) {
            // The turn ended by itself, so there is nothing to continue.
            self.pace = Pace::Stopping(Then::End);
        }
        if self.pace != Pace::KeepsUp && is_of_turn(&event) {
            return match event {
                AgentEvent::Idle => self.stopped(calls),
                // Outside a turn nothing is aborted, so the program still waits for an answer.
                AgentEvent::RequestMade { .. } if self.pace == Pace::Skipping => {
                    self.outbox.push(event).map_err(|_| SessionClosed)
                }
                AgentEvent::RequestMade { agent_request_id, .. } => {
                    if let Some(question) = self.questions.remove(&agent_request_id) {
                        self.reply(&question, QuestionAnswer::Nobody, calls);
                    }
                    Ok(())
                }
                _ => Ok(()),
            };
        }
        if matches!(event, AgentEvent::Idle) {
            self.is_working = false;
            self.commands.forget();
        }
        match self.outbox.push(event) {
            Ok(()) => Ok(()),
            Err(Refused::TooFarBehind) => self.fall_behind(calls),
            Err(Refused::SessionClosed) => Err(SessionClosed),
        }
    }

    /// Aborts the turn of a session that cannot keep up. There is no other way to slow it down, because the program
    /// shares its output with other sessions.
    pub(super) fn fall_behind(&mut self, calls: &mut Calls) -> Result<(), SessionClosed> {
        if self.pace != Pace::KeepsUp {
            return Ok(());
        }
        let waiting = self.outbox.bytes();
        tracing::warn!(session = %self.session, waiting, "a session cannot keep up with its agent");
        if self.is_working {
            self.pace = Pace::Stopping(Then::Continue);
            self.withdraw_questions(calls);
            let (client, params) = (self.lease.server.client.clone(), json!({ "sessionId": self.session }));
            let time = self.times_continued;
            calls.push(Box::pin(async move {
                if let Err(error) = client.call("session.abort", Some(params)).await {
                    tracing::warn!(%error, "copilot did not abort a turn");
                }
                tokio::time::sleep(STOPPED_WITHIN).await;
                Outcome::Stopped { time }
            }));
        } else {
            self.pace = Pace::Skipping;
        }
        self.outbox.push(AgentEvent::FellBehind { waiting }).map_err(|_| SessionClosed)
    }

    /// The program has aborted the turn.
    pub(super) fn stopped(&mut self, calls: &mut Calls) -> Result<(), SessionClosed> {
        // Unfinished blocks were dropped.
        drop(self.translator.left_open());
        match self.pace {
            Pace::Stopping(Then::Continue) if self.times_continued < CONTINUED_AT_MOST => {
                self.pace = Pace::Stopped;
                Ok(())
            }
            Pace::Stopping(Then::Continue) => {
                let message = format!(
                    "The turn was ended because the session did not keep up with Copilot, although it was continued \
                     {CONTINUED_AT_MOST} times"
                );
                self.pace = Pace::KeepsUp;
                self.emit(
                    AgentEvent::TurnFailed { failure: Failure::with_message(ErrorClass::Timeout, &message) },
                    calls,
                )?;
                self.emit(AgentEvent::Idle, calls)
            }
            Pace::Stopping(Then::End) => {
                self.pace = Pace::KeepsUp;
                self.emit(AgentEvent::Idle, calls)
            }
            Pace::Stopped | Pace::Skipping | Pace::KeepsUp => Ok(()),
        }
    }

    pub(super) fn waits_for_session(&self) -> bool {
        matches!(self.pace, Pace::Stopped | Pace::Skipping)
    }

    /// The session has received everything.
    pub(super) fn caught_up(&mut self, calls: &mut Calls) {
        if std::mem::take(&mut self.pace) == Pace::Stopped {
            self.times_continued += 1;
            let params = parameters::prompt(&self.session, CONTINUE, &[], None);
            self.call(calls, "session.send", params, Outcome::PromptRefused);
        }
    }
}

/// Whether an event is part of a turn's output, which is useless without the parts that were dropped.
fn is_of_turn(event: &AgentEvent) -> bool {
    matches!(
        event,
        AgentEvent::TurnStarted { .. }
            | AgentEvent::BlockStarted(_)
            | AgentEvent::BlockDelta { .. }
            | AgentEvent::BlockEnded(_)
            | AgentEvent::BlockDiscarded(_)
            | AgentEvent::ImageMade { .. }
            | AgentEvent::PromptGenerated(_)
            | AgentEvent::RequestMade { .. }
            | AgentEvent::Unknown { .. }
            | AgentEvent::Idle
    )
}
