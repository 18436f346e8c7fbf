//! The line for agent processes: joined before one is started, left when it is gone.

use super::Actor;
use super::connecting::Link;
use crate::agent::ProcessUse;
use crate::model::SessionState;
use crate::session::slots::{Place, Served};
use crate::store::Change;

impl Actor {
    /// Whether a process may be started for this use. If not, the session stands in line from here on.
    pub(super) fn has_slot_for(&mut self, processes: ProcessUse) -> bool {
        let needs_one = self.capabilities().processes == processes;
        if needs_one && self.slot.is_none() && self.place.is_none() {
            self.place = Some(self.around.slots.join());
        }
        !needs_one || self.slot.is_some()
    }

    pub(super) async fn on_served(&mut self, served: Served) {
        match served {
            Served::Position(position) => {
                let limit = self.around.slots.limit();
                let detail = format!(
                    "waits for one of {limit} agent processes (limits.agent_processes), position {position} in the line"
                );
                let state = if self.state == SessionState::Recovering { self.state } else { SessionState::Starting };
                self.set_state(state, Some(detail));
            }
            Served::Slot(slot) => {
                self.place = None;
                self.slot = Some(slot);
                if matches!(self.link, Link::None) {
                    self.connect();
                } else {
                    self.set_state(SessionState::Ready, None);
                    self.go_on().await;
                }
            }
        }
    }

    /// Whether the session keeps a process that it does not need and would get again.
    pub(super) fn could_give_up_slot(&self) -> bool {
        let is_idle = self.turn.is_none() && self.agent_turn.is_none() && self.prompts.is_empty();
        is_idle && self.slot.is_some() && matches!(self.link, Link::Live(_)) && self.capabilities().session_resume
    }

    /// Somebody waits for a process: this one is ended, and comes back with the next prompt.
    pub(super) async fn give_up_slot(&mut self) {
        if !self.could_give_up_slot() {
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

/// What happens in the line; nothing for somebody who does not stand in it.
pub(super) async fn served(place: &mut Option<Place>) -> Served {
    match place {
        Some(place) => place.served().await,
        None => std::future::pending().await,
    }
}
