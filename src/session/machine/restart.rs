//! What a session does first when it is loaded after a restart.

use super::continuation::Fate;
use super::fold::Fold;
use super::turn::{Ending, Phase, Turn};
use super::{Context, Machine, Transcript};
use crate::model::{AnsweredBy, PromptVerdict, RequestOutcome, SessionState};
use crate::store::OpenTurn;

/// A tool was running, and nobody knows how far it got.
pub(super) const MAY_HAVE_RUN: &str = " A tool was running; it may have done its work.";

impl Machine {
    /// Something was open when the server stopped; `fold` is the state of its events. [`super::Input::Restarted`] comes
    /// next.
    pub fn resume(&mut self, open: &OpenTurn, fold: Fold) {
        self.transcript = Transcript::resume(fold);
        self.open_after = Some(open.after);
        self.turn = open.prompt.map(|id| Turn::new(open.turn_id.clone(), id, Phase::Suspended));
    }

    /// Closes what the last run left open, or continues it.
    pub(super) fn restart(&mut self, context: &Context) {
        self.requests.restart(context);
        self.drop_steered_that_wait();
        if self.turn.is_none() && self.open_after.is_none() {
            self.requests.keep();
        }
        let tool = if self.runs_tool() { MAY_HAVE_RUN } else { "" };
        match self.fate_of_requests(context) {
            Fate::TurnContinues => {
                self.set_state(SessionState::Waiting, None);
                self.recheck_requests(context);
                // Answers that the agent did not get before the restart.
                if !self.continuation.decided.is_empty() {
                    self.continue_work(context);
                }
                return;
            }
            Fate::Kept if self.turn.is_some() => {
                let message =
                    "The turn was interrupted because the server stopped; everything up to that point is kept.";
                self.cut_waiting_turn(context, message.to_owned(), AnsweredBy::Restart);
            }
            Fate::Kept => {}
            Fate::Lost | Fate::NothingWaits => {
                self.close_requests(RequestOutcome::AgentGone, AnsweredBy::Restart);
            }
        }
        // A rule may have been added that was not applied before the server ended.
        self.recheck_requests(context);
        if self.has_answers() {
            return self.advance(context);
        }
        if self.turn.is_some() {
            let message = format!(
                "The turn was interrupted because the server stopped; everything up to that point is kept.{tool}"
            );
            let ending = Ending::cut(message, AnsweredBy::Restart, PromptVerdict::Interrupted);
            self.finish_turn(context, &ending);
            if !self.prompts.is_empty() && !context.settings.resume_at_start {
                self.notify_of_held_queue();
            }
        }
        self.end_own_work("the server stopped", AnsweredBy::Restart);
        self.settle();
    }

    /// A prompt that the agent did not accept during the turn is in the queue again, although the log shows it as sent.
    fn drop_steered_that_wait(&mut self) {
        let steered = self.transcript.fold().answer().steered_by.clone();
        for prompt in steered.into_iter().filter(|prompt| self.prompts.holds(*prompt)) {
            self.transcript.fold_mut().remove_steered(prompt);
        }
    }
}
