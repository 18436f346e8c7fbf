//! After a lost connection: the agent's own session is taken up again, or a new one is begun and told what was lost.

use super::Actor;
use crate::agent::Restored;
use crate::model::{NoticeKind, PromptVerdict, SessionState};

/// Characters of the last request that a new session of the agent is told.
const RECAP_CHARACTERS: usize = 600;

impl Actor {
    /// The right to drive the agent's own session, which another session of ours may have. Gives who, if so.
    pub(super) fn take_lease(&mut self) -> Result<(), String> {
        let Some(agent_session) = &self.agent_session_id else { return Ok(()) };
        let runtime = self.around.runtimes.named(&self.profile.runtime).ok();
        let family = runtime.as_ref().map_or(self.profile.runtime.as_str(), |runtime| runtime.family());
        if self.lease.as_ref().is_some_and(|lease| lease.is_of(family, agent_session)) {
            return Ok(());
        }
        match self.around.leases.take(family, agent_session, self.id) {
            Ok(lease) => {
                self.lease = Some(lease);
                Ok(())
            }
            Err(other) => {
                Err(format!("{other} already drives the agent's session {agent_session}; close it there first"))
            }
        }
    }

    /// The agent's session is missing, damaged or not listed: a new one is begun.
    pub(super) fn on_session_lost(&mut self, reason: String) {
        let lost = self.agent_session_id.take().unwrap_or_default();
        tracing::error!(
            session = %self.id, agent_session = %lost, code = "session-lost", %reason,
            "the agent's session could not be restored; a new one is begun"
        );
        self.lease = None;
        // The store keeps the lost id until there is another one: a restart before that must come here again.
        self.lost_session = Some(reason);
        self.set_state(SessionState::Recovering, Some("the agent's session is lost; a new one is begun".to_owned()));
        self.connect();
    }

    /// Says what became of the agent's session, if that is not what everybody expects.
    pub(super) async fn tell_restored(&mut self, restored: Restored) {
        if let Some(reason) = self.lost_session.take() {
            self.write_notice(
                NoticeKind::FreshSession,
                format!(
                    "The agent's previous session could not be restored ({reason}). A new one was started; your history \
                     is intact, and the agent is told of your last request."
                ),
            );
            self.recap = self.recap_of_last_request().await;
        } else if restored == Restored::Incomplete {
            self.write_notice(
                NoticeKind::Incomplete,
                "The agent was taken up again where it was. Its own record of the last turn has no clean end, so it may \
                 not know the last message as it stands here."
                    .to_owned(),
            );
        }
    }

    /// One short summary of the last request and its state, from our own log; never the whole history.
    async fn recap_of_last_request(&mut self) -> Option<String> {
        let waiting = u32::try_from(self.prompts.len()).unwrap_or(u32::MAX);
        let last = self.prompts.last().number().saturating_sub(waiting);
        let known = self.around.store.prompt(self.id, last).await.ok().flatten()?;
        let state = match known.outcome.map(|outcome| outcome.verdict) {
            Some(PromptVerdict::Succeeded) => "It was answered",
            Some(PromptVerdict::Failed) => "It failed",
            Some(PromptVerdict::Interrupted) | None => "It was interrupted before its end",
            Some(PromptVerdict::Dropped) => "It was not sent",
        };
        let text: String = known.text.chars().take(RECAP_CHARACTERS).collect();
        let cut = if text.len() < known.text.len() { " …" } else { "" };
        Some(format!(
            "[This conversation goes on from an earlier one that could not be restored. The last request in it was:\n\
             {text}{cut}\n{state}. Work that it led to may be in the folder; look before you do it again.]"
        ))
    }

    /// The prompt as the agent gets it.
    pub(super) fn with_recap(&mut self, text: String) -> String {
        match self.recap.take() {
            Some(recap) => format!("{recap}\n\n{text}"),
            None => text,
        }
    }
}
