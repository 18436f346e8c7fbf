//! The queue for agent processes: a session waits for its own, and gives up one that it does not need.

use super::Actor;
use super::connecting::Link;
use crate::agent::{QueuePosition, SlotRequest, SlotStep};
use crate::model::SessionState;
use crate::store::Change;

impl Actor {
    /// Whether a turn may begin as far as processes go. If not, the session waits for one from here on.
    pub(super) fn has_slot_for_turn(&mut self) -> bool {
        let Link::Live(connection) = &self.link else { return false };
        if self.turn_slot.is_none() && self.slot_request.is_none() {
            self.slot_request = connection.request_turn_slot();
        }
        self.slot_request.is_none()
    }

    pub(super) async fn on_slot_step(&mut self, step: SlotStep) {
        match step {
            SlotStep::Queued(position) => self.on_queued(position),
            SlotStep::Granted(slot) => {
                self.slot_request = None;
                self.turn_slot = Some(slot);
                self.set_state(SessionState::Ready, None);
                self.go_on().await;
            }
        }
    }

    pub(super) fn on_queued(&mut self, position: QueuePosition) {
        let state = if self.state == SessionState::Recovering { self.state } else { SessionState::Starting };
        self.set_state(state, Some(position.to_string()));
    }

    /// Whether the session keeps a process that it does not need and would get again.
    pub(super) fn could_give_up_process(&self) -> bool {
        let is_idle = self.turn.is_none() && self.agent_turn.is_none() && self.prompts.is_empty();
        let Link::Live(connection) = &self.link else { return false };
        is_idle && connection.holds_process() && self.capabilities().session_resume
    }

    /// Somebody waits for a process: this one is ended, and comes back with the next prompt.
    pub(super) async fn give_up_process(&mut self) {
        if !self.could_give_up_process() {
            return;
        }
        tracing::info!(session = %self.id, "an idle agent makes room for another session");
        self.disconnect().await;
        if !self.has_been_prompted() {
            // An agent need not keep a session in which nothing was ever said.
            self.agent_session_id = None;
            self.journal.change(Change::AgentSession(None));
        }
        self.set_state(SessionState::Ready, None);
    }
}

/// The next step of a request for a process; nothing for a session that does not wait for one.
pub(super) async fn next(request: &mut Option<SlotRequest>) -> SlotStep {
    match request {
        Some(request) => request.next().await,
        None => std::future::pending().await,
    }
}
