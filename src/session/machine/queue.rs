//! Prompts that wait: changed, cancelled and reordered until their turn begins.

use super::prompts::check_text;
use super::turn::TurnSlot;
use super::waiting::Waiting;
use super::{Context, Machine, Output, Reply};
use crate::model::{Callback, PromptId, PromptOutcome, SessionState};
use crate::session::actor::QueueChange;
use crate::session::{PromptError, SessionError};
use crate::store::{Change, QueuePlace};

/// A change of the queue that happens when it is committed.
pub(super) enum PlannedChange {
    Text(PromptId, String),
    Cancelled(PromptId),
    Moved(Vec<(PromptId, QueuePlace)>),
}

impl Machine {
    pub(super) fn on_queue_change(&mut self, context: &Context, change: QueueChange) {
        let planned = match self.plan_queue_change(context, change) {
            Ok(Some(planned)) => planned,
            // It is as it should be.
            Ok(None) => return self.reply(Reply::Queue(Ok(()))),
            Err(error) => return self.reply(Reply::Queue(Err(error))),
        };
        let first = self.begin_commit();
        match &planned {
            PlannedChange::Text(prompt_id, text) => {
                self.write(Callback::PromptChanged { prompt_id: *prompt_id, text: text.clone() });
                self.draft.change(Change::PromptText(*prompt_id, text.clone()));
            }
            PlannedChange::Cancelled(prompt_id) => {
                self.write(Callback::PromptCancelled { prompt_id: *prompt_id });
                self.draft.change(Change::PromptEnded(*prompt_id, PromptOutcome::dropped(*prompt_id)));
            }
            PlannedChange::Moved(places) => {
                let prompt_ids = places.iter().map(|(prompt, _)| *prompt).collect();
                self.write(Callback::QueueReordered { prompt_ids });
                for (prompt, place) in places {
                    self.draft.change(Change::PromptMoved(*prompt, *place));
                }
            }
        }
        self.commit(Waiting::Queue { change: planned, first });
    }

    /// What a change does; `None` if nothing.
    fn plan_queue_change(&self, context: &Context, change: QueueChange) -> Result<Option<PlannedChange>, PromptError> {
        if context.stopping {
            return Err(SessionError::ShuttingDown.into());
        }
        match change {
            QueueChange::Text { prompt, text, before } => {
                let waiting = self.changeable(prompt)?;
                check_text(context, &text, !waiting.attachments.is_empty())?;
                // Also when a change is repeated, whose `before` has been replaced by the change itself.
                if waiting.text == text {
                    return Ok(None);
                }
                if before.is_some_and(|before| before != waiting.text) {
                    return Err(PromptError::PromptChanged(prompt));
                }
                Ok(Some(PlannedChange::Text(prompt, text)))
            }
            QueueChange::Cancel { prompt } => {
                self.changeable(prompt)?;
                Ok(Some(PlannedChange::Cancelled(prompt)))
            }
            QueueChange::Order(order) => self.plan_order(&order),
        }
    }

    fn changeable(&self, prompt: PromptId) -> Result<&crate::store::QueuedPrompt, PromptError> {
        self.prompts.get(prompt).filter(|waiting| !waiting.is_continuation).ok_or(PromptError::NotQueued(prompt))
    }

    /// The prompts exchange their places, so whatever is accepted later comes after them.
    fn plan_order(&self, order: &[PromptId]) -> Result<Option<PlannedChange>, PromptError> {
        let movable = || self.prompts.iter().filter(|waiting| !waiting.is_continuation);
        let (mut wanted, mut known) = (order.to_vec(), movable().map(|waiting| waiting.id).collect::<Vec<_>>());
        if wanted == known {
            return Ok(None);
        }
        wanted.sort_unstable();
        known.sort_unstable();
        if wanted != known {
            return Err(PromptError::QueueChanged);
        }
        let places = movable().map(|waiting| waiting.place);
        Ok(Some(PlannedChange::Moved(order.iter().copied().zip(places).collect())))
    }

    pub(super) fn on_queue_changed(&mut self, change: PlannedChange) {
        match change {
            PlannedChange::Text(prompt, text) => self.prompts.set_text(prompt, text),
            PlannedChange::Moved(places) => self.prompts.move_to(&places),
            PlannedChange::Cancelled(prompt) => {
                self.prompts.remove(prompt);
                self.outputs.push(Output::PromptEnded(prompt));
                self.give_up_unused_slot();
            }
        }
    }

    /// Nothing waits for the process any more that the next turn would have used.
    fn give_up_unused_slot(&mut self) {
        if !self.prompts.is_empty() || self.turn.is_some() || self.turn_slot == TurnSlot::None {
            return;
        }
        self.turn_slot = TurnSlot::None;
        self.outputs.push(Output::ReleaseTurnSlot);
        if self.state == SessionState::Starting {
            self.settle();
        }
    }
}
