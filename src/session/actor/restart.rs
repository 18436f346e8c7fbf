//! What a session does first when it is loaded after the server's end.

use super::turn::{Ending, Turn};
use super::{Actor, AgentTurn};
use crate::model::{AnsweredBy, Callback, PromptVerdict, RequestOutcome, Response, SessionState};
use crate::store::{EventPage, OpenTurn, StoreError};

const PAGE: usize = 1_000;
const PAGE_BYTES: usize = 8 * 1024 * 1024;

impl Actor {
    /// Closes what the last run left open, or takes it up again.
    pub async fn take_up(&mut self, open: Option<OpenTurn>) -> Result<(), StoreError> {
        let Some(open) = open else {
            self.close_requests(RequestOutcome::AgentGone, AnsweredBy::Restart);
            if !matches!(self.state, SessionState::Closed | SessionState::Failed | SessionState::NeedsLogin) {
                // An agent is started when the next prompt wants one.
                self.set_state(SessionState::Ready, None);
            }
            self.journal.flush();
            return Ok(());
        };
        let mut turn = Turn::new(open.turn_id.clone(), open.prompt);
        self.replay(open.after, &mut turn).await?;
        let waits = !self.requests.is_empty() && self.capabilities().durable_requests;
        if waits {
            turn.prompt_text = self.around.store.prompt(self.id, open.prompt.number()).await?.map(|known| known.text);
            self.turn = Some(turn);
            self.set_state(SessionState::Waiting, None);
        } else {
            self.turn = Some(turn);
            self.close_requests(RequestOutcome::AgentGone, AnsweredBy::Restart);
            let mut message =
                "The turn was interrupted because the server ended; what was said until then is kept.".to_owned();
            match self.prompts.len() {
                0 => {}
                waiting => {
                    use std::fmt::Write as _;
                    let _ = write!(message, " {waiting} queued prompt(s) go on with the next one.");
                }
            }
            self.finish_turn(&Ending::Cut {
                message: &message,
                by: AnsweredBy::Restart,
                verdict: PromptVerdict::Interrupted,
            });
        }
        self.journal.flush();
        Ok(())
    }

    /// A session that was just made: its agent is started before the first prompt, so that what is wrong shows early.
    pub fn connect_first(&mut self) {
        self.connect();
    }

    /// Runs prompts that were queued when the server ended.
    pub async fn resume_queue(&mut self) {
        self.go_on().await;
    }

    async fn replay(&mut self, after: u64, turn: &mut Turn) -> Result<(), StoreError> {
        let mut after = after;
        loop {
            let page = EventPage { after, before: None, limit: PAGE, max_bytes: PAGE_BYTES };
            let (events, _) = self.around.store.events(self.id, page).await?;
            let Some(last) = events.last() else { return Ok(()) };
            after = last.seq;
            for event in events {
                let response = std::str::from_utf8(&event.body).ok().and_then(Response::from_json);
                let Some(response) = response else { continue };
                self.blocks.replay(event.seq, &response);
                match response {
                    Response::Callback(Callback::AgentStart { turn_id }) => {
                        self.agent_turn = Some(AgentTurn { id: turn_id, ended: false });
                    }
                    // One that did not wait while a turn ran has steered it.
                    Response::Callback(Callback::UserPrompt { prompt_id, queued: false, .. }) => {
                        turn.prompts.push(prompt_id);
                    }
                    Response::Callback(Callback::Usage(usage)) => turn.usage.add(&usage),
                    Response::Callback(Callback::AgentEnd { .. }) => self.agent_turn = None,
                    Response::Callback(Callback::StartToolExecution { .. }) => turn.text.clear(),
                    Response::Callback(Callback::StartMessage { message_id, parent_tool_call_id: Some(_) }) => {
                        turn.asides.insert(message_id);
                    }
                    Response::Callback(Callback::EndMessage { message_id, complete_content })
                        if !turn.asides.contains(&message_id) =>
                    {
                        turn.add_text(&complete_content);
                    }
                    _ => {}
                }
            }
        }
    }
}
