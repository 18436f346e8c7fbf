//! Taking over a session that the agent had before: its past is written into our log.

use super::command::Adoption;
use super::{Actor, prompts};
use crate::agent::Past;
use crate::model::{NoticeKind, PromptId};
use crate::session::SessionError;
use crate::store::Change;

impl Actor {
    /// Writes the past and remembers the agent's id, both in one step: after a crash there is all of it or nothing.
    pub(super) async fn adopt(&mut self, adoption: Adoption) -> Result<(), SessionError> {
        self.journal.flush();
        self.agent_session_id = Some(adoption.agent_session_id);
        self.journal.change(Change::AgentSession(self.agent_session_id.clone()));
        for piece in adoption.past {
            match piece {
                Past::Prompt(text) => self.open_past_turn(text),
                Past::Event(event) => self.on_agent_event(event).await,
            }
        }
        self.write_notice(
            NoticeKind::Adopted,
            "The session was begun elsewhere. What happened there ends here; the next prompt goes on with it."
                .to_owned(),
        );
        Ok(self.journal.commit().await?)
    }

    fn open_past_turn(&mut self, text: String) {
        let number = PromptId::from_number(self.prompts.last().number() + 1);
        let prompt = prompts::past_prompt(number, text);
        self.journal.write(&prompts::accepted(&prompt, false));
        self.journal.change(Change::PromptAccepted(prompt));
        self.prompts.skip_to(number);
        self.open_turn(&number.turn(), number);
    }
}
