//! What a session does first when it is loaded after a restart.

use super::fold::Fold;
use super::turn::{Ending, Phase, Turn};
use super::{Context, Machine, Transcript};
use crate::model::{AnsweredBy, PromptVerdict, RequestOutcome, SessionState};
use crate::store::OpenTurn;

impl Machine {
    /// Something was open when the server stopped; `fold` is the state of its events. `prompt` is the text of the
    /// prompt that began the turn. [`super::Input::Restarted`] comes next.
    pub fn resume(&mut self, open: &OpenTurn, prompt: Option<String>, fold: Fold) {
        self.transcript = Transcript::resume(fold);
        self.open_after = Some(open.after);
        self.turn = open.prompt.map(|id| {
            let prompt = prompt.unwrap_or_default();
            Turn::new(open.turn_id.clone(), id, Phase::Suspended { prompt })
        });
    }

    /// Closes what the last run left open, or continues it.
    pub(super) fn restart(&mut self, context: &Context<'_>) {
        self.requests.restart(context);
        self.drop_steered_that_wait();
        let waits = self.turn.is_some() && !self.requests.is_empty() && context.abilities.durable_requests;
        if waits {
            return self.set_state(SessionState::Waiting, None);
        }
        self.close_requests(RequestOutcome::AgentGone, AnsweredBy::Restart);
        if self.turn.is_some() {
            let queued = match self.prompts.len() {
                0 => String::new(),
                1 => " 1 queued prompt waits for the next prompt.".to_owned(),
                waiting => format!(" {waiting} queued prompts wait for the next prompt."),
            };
            let message = format!(
                "The turn was interrupted because the server stopped; everything up to that point is kept.{queued}"
            );
            let ending = Ending::cut(message, AnsweredBy::Restart, PromptVerdict::Interrupted);
            self.finish_turn(context, &ending);
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
