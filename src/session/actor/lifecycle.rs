//! Commands: what a session does when it is told to.

use std::ops::ControlFlow;

use tokio::sync::oneshot;

use super::turn::Ending;
use super::{Actor, Command, SessionUpdate};
use crate::agent::AgentCommand;
use crate::model::{AnsweredBy, NoticeKind, PromptId, PromptOutcome, PromptVerdict, SessionState, Usage};
use crate::session::{SessionError, clock};
use crate::store::Change;

impl Actor {
    /// Breaks when the actor is to end. An answer that nobody waits for any more is dropped.
    pub(super) async fn obey(&mut self, command: Command) -> ControlFlow<()> {
        match command {
            Command::Prompt(prompt, reply) => {
                let _ = reply.send(self.accept_prompt(*prompt).await);
            }
            Command::AwaitOutcome(number, reply) => {
                let _ = reply.send(self.await_outcome(number));
            }
            Command::Interrupt(reply) => {
                let _ = reply.send(self.accept_interrupt());
                // A turn that nobody works on is over at once, and others may wait.
                self.go_on().await;
            }
            Command::Close(reply) => {
                let _ = reply.send(self.close().await);
            }
            Command::Reopen(reply) => {
                let _ = reply.send(self.reopen().await);
            }
            Command::TryAgain(reply) => {
                let _ = reply.send(self.try_again());
            }
            Command::Adopt(adoption, reply) => {
                let _ = reply.send(self.adopt(*adoption).await);
            }
            Command::Update(update, reply) => {
                let _ = reply.send(self.update(*update).await);
            }
            Command::Answer { request_id, answer, by, reply } => {
                let _ = reply.send(self.accept_answer(&request_id, answer, by).await);
            }
            Command::ShutDown(reply) => {
                self.shut_down().await;
                let _ = reply.send(());
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    fn await_outcome(&mut self, number: PromptId) -> Option<oneshot::Receiver<PromptOutcome>> {
        let runs = self.turn.as_ref().is_some_and(|turn| turn.prompts.contains(&number));
        if !runs && !self.prompts.holds(number) {
            return None;
        }
        let (sender, receiver) = oneshot::channel();
        self.outcomes_awaited.entry(number).or_default().push(sender);
        Some(receiver)
    }

    fn accept_interrupt(&mut self) -> Result<bool, SessionError> {
        if self.state == SessionState::Closed {
            return Err(SessionError::Closed);
        }
        Ok(self.interrupt_turn("The turn was interrupted.", AnsweredBy::Interrupt))
    }

    /// Ends agent and session. Everything it has said is committed when this returns.
    async fn close(&mut self) -> Result<(), SessionError> {
        if self.state == SessionState::Closed {
            return Err(SessionError::Closed);
        }
        // First of all, so that none of them begins when the running turn ends by itself this moment.
        let dropped = std::iter::from_fn(|| self.prompts.next()).map(|prompt| prompt.id).collect::<Vec<_>>();
        self.play_held().await;
        self.disconnect().await;
        self.finish_turn(&Ending::Cut {
            message: "The session was closed.",
            by: AnsweredBy::Close,
            verdict: PromptVerdict::Interrupted,
        });
        for number in &dropped {
            self.resolve_prompt(*number, String::new(), PromptVerdict::Dropped, Usage::default());
        }
        if !dropped.is_empty() {
            let count = dropped.len();
            self.write_notice(
                NoticeKind::Dropped,
                format!("{count} queued prompt(s) were not sent: the session was closed."),
            );
        }
        let closed_at = clock::now();
        self.set_state(SessionState::Closed, None);
        self.journal.change(Change::ClosedAt(Some(closed_at)));
        self.journal.flush();
        let flushed = self.around.store.flush().await;
        self.journal.log().let_go();
        self.journal.log().set_closed(closed_at, self.journal.last_numbered());
        Ok(flushed?)
    }

    async fn reopen(&mut self) -> Result<(), SessionError> {
        if self.state != SessionState::Closed {
            return Err(SessionError::NotClosed);
        }
        self.journal.flush();
        self.journal.change(Change::ClosedAt(None));
        self.journal.change(Change::ReadersReopened);
        self.journal.change(Change::State(SessionState::Ready, None));
        self.journal.commit().await?;
        self.deaths = 0;
        self.state = SessionState::Ready;
        self.state_detail = None;
        self.journal.log().set_reopened();
        self.post();
        Ok(())
    }

    async fn update(&mut self, update: SessionUpdate) -> Result<(), SessionError> {
        if self.state == SessionState::Closed && (update.model.is_some() || update.effort.is_some()) {
            return Err(SessionError::Closed);
        }
        let switches = update.model.is_some() || update.effort.is_some();
        if switches && !self.capabilities().model_switch {
            let runtime = &self.profile.runtime;
            return Err(SessionError::Unsupported(format!(
                "the runtime {runtime} cannot switch model or effort in a running session; start a new session"
            )));
        }
        let mut profile = self.profile.clone();
        self.journal.flush();
        if let Some(title) = update.title {
            // The list of a closed session has its end already.
            if self.has_been_prompted() && self.state != SessionState::Closed {
                self.journal.write(&crate::model::Callback::TitleChanged { title: title.clone() }.into());
            }
            self.journal.change(Change::Title(title.clone()));
            profile.title = Some(title);
        }
        if switches {
            profile.model = update.model.unwrap_or(profile.model);
            profile.effort = update.effort.or(profile.effort);
            self.journal.change(Change::Model(profile.model.clone(), profile.effort.clone()));
            self.write_notice(NoticeKind::Model, format!("The model is {} from the next turn on.", profile.model));
        }
        let permits = update.permissions.is_some();
        if let Some(permissions) = update.permissions {
            self.journal.change(Change::Permissions(permissions.clone()));
            profile.permissions = permissions;
        }
        if let Some(budget) = update.budget {
            self.journal.change(Change::Budget(budget));
            profile.budget = budget;
        }
        self.journal.commit().await?;
        self.profile = profile;
        if switches {
            if let Some(warning) = self.model_misfit() {
                self.write_notice(NoticeKind::Warning, warning);
            }
            let (model, effort) = (self.profile.model.clone(), self.profile.effort.clone());
            self.send(AgentCommand::Configure { model, effort });
        }
        if permits && !self.capabilities().permissions {
            self.send(AgentCommand::Permit(self.policy()));
        }
        self.post();
        Ok(())
    }

    /// The server ends: the turn is interrupted, the agent ended, the session stays open. A turn that can go on after
    /// a restart because it only waits for a person is left as it is.
    pub(super) async fn shut_down(&mut self) {
        self.play_held().await;
        let survives = !self.requests.is_empty() && self.capabilities().durable_requests;
        self.disconnect().await;
        if !survives {
            self.finish_turn(&Ending::Cut {
                message: "The turn was interrupted because the server was stopped.",
                by: AnsweredBy::Shutdown,
                verdict: PromptVerdict::Interrupted,
            });
            if !matches!(self.state, SessionState::Closed | SessionState::Failed | SessionState::NeedsLogin) {
                self.set_state(SessionState::Ready, None);
            }
        }
        self.journal.flush();
        if let Err(error) = self.around.store.flush().await {
            tracing::error!(session = %self.id, error = %error, "the last events could not be written");
        }
    }
}
