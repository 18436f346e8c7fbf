//! The handle on a loaded session.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::actor::{Accepted, Adoption, Command, NewPrompt, PromptMode, QueueChange, SessionUpdate};
use super::operations::Operations;
use super::readers::Readers;
use super::rest::Rest;
use super::{AnswerError, PromptError, SessionError, SessionLog};
use crate::agent::RequestAnswer;
use crate::model::{Always, AnsweredBy, PromptId, PromptOutcome, PromptVerdict, RequestId, Seq, SessionId};
use crate::store::{KnownPrompt, QueuedPrompt, Store};

/// A session that is in memory. Commands go to its actor; reading does not.
pub struct Session {
    pub(super) id: SessionId,
    pub(super) log: Arc<SessionLog>,
    pub(super) readers: Readers,
    pub(super) positions_changed: Arc<Notify>,
    pub(super) closed_grace: Duration,
    /// Numbers below this may have been seen before a power cut, even if the store does not have them.
    pub(super) first_new_seq: Seq,
    pub(super) commands: mpsc::Sender<Command>,
    pub(super) rest: Arc<Rest>,
    pub(super) operations: Operations,
    pub(super) store: Store,
    pub(super) stopping: CancellationToken,
}

impl Session {
    /// Which.
    pub fn id(&self) -> SessionId {
        self.id
    }

    /// Its log.
    pub fn log(&self) -> &Arc<SessionLog> {
        &self.log
    }

    /// Cancelled when the server shuts down.
    pub fn stopping(&self) -> &CancellationToken {
        &self.stopping
    }

    /// Resolves when the session's actor ends: nothing more will be written to this log.
    pub async fn gone(&self) {
        self.commands.closed().await;
    }

    /// Accepts a prompt: it is in the store when this returns. Does not wait for the turn.
    pub async fn prompt(&self, prompt: NewPrompt) -> Result<Accepted, PromptError> {
        self.ask(|reply| Command::Prompt(Box::new(prompt), reply)).await.map_err(PromptError::Session)?
    }

    /// Sends a prompt that was cut off or failed again, with its attachments, before others that wait.
    pub async fn ask_again(&self, prompt: PromptId, key: Option<String>) -> Result<Accepted, PromptError> {
        let repeated = async {
            // The turn may have ended a moment ago.
            self.store.flush().await?;
            let outcome = self.stored_outcome(prompt).await?;
            Ok::<_, SessionError>((self.store.whole_prompt(self.id, prompt.number()).await?, outcome))
        };
        let (found, outcome) = repeated.await?;
        let QueuedPrompt { text, attachments, .. } = found.ok_or(PromptError::NotFound(prompt))?;
        match outcome.map(|outcome| outcome.verdict) {
            None => return Err(PromptError::NotOver(prompt)),
            Some(PromptVerdict::Succeeded) => return Err(PromptError::Succeeded(prompt)),
            Some(PromptVerdict::Failed | PromptVerdict::Interrupted | PromptVerdict::Dropped) => {}
        }
        let mode = PromptMode::First;
        self.prompt(NewPrompt { text, attachments, mode, idempotency_key: key, ..NewPrompt::default() }).await
    }

    /// Changes, cancels or reorders prompts that wait. To repeat a change is harmless.
    pub async fn change_queue(&self, change: QueueChange) -> Result<(), PromptError> {
        let is_cancel = matches!(change, QueueChange::Cancel { .. });
        let changed = self.ask(|reply| Command::Queue(change, reply)).await.map_err(PromptError::Session)?;
        let Err(PromptError::NotQueued(prompt)) = changed else { return changed };
        // Its turn may have ended a moment ago.
        self.store.flush().await.map_err(SessionError::Store)?;
        let known = self.store.prompt(self.id, prompt.number()).await.map_err(SessionError::Store)?;
        match known {
            None => Err(PromptError::NotFound(prompt)),
            Some(KnownPrompt { outcome: Some(outcome), .. })
                if is_cancel && outcome.verdict == PromptVerdict::Dropped =>
            {
                Ok(())
            }
            Some(_) => Err(PromptError::NotQueued(prompt)),
        }
    }

    /// Waits until a prompt's turn is over.
    pub async fn outcome(&self, prompt: PromptId) -> Result<PromptOutcome, SessionError> {
        let pending = self.ask(|reply| Command::AwaitOutcome(prompt, reply)).await?;
        if let Some(pending) = pending {
            pending.await.map_err(|_| SessionError::ShuttingDown)?;
        }
        // An outcome is in the store before it is announced, so it is read from there.
        self.store.flush().await?;
        if let Some(outcome) = self.stored_outcome(prompt).await? {
            return Ok(outcome);
        }
        // The turn is over, but the disk may have refused its end.
        self.store.all_written().await?;
        self.stored_outcome(prompt).await?.ok_or(SessionError::NotFound)
    }

    async fn stored_outcome(&self, prompt: PromptId) -> Result<Option<PromptOutcome>, SessionError> {
        Ok(self.store.prompt(self.id, prompt.number()).await?.and_then(|known| known.outcome))
    }

    /// Ends the running turn and keeps the session. Returns whether a turn was running.
    pub async fn interrupt(&self) -> Result<bool, SessionError> {
        self.ask(Command::Interrupt).await?
    }

    /// Ends the agent and closes the session.
    pub async fn close(&self) -> Result<(), SessionError> {
        self.ask(Command::Close).await?
    }

    /// Reopens a closed session.
    pub async fn reopen(self: &Arc<Self>) -> Result<(), SessionError> {
        let session = Arc::clone(self);
        let reopening = async move {
            session.ask(Command::Reopen).await??;
            session.readers.reopen();
            Ok(())
        };
        self.operations.run(reopening).await
    }

    /// Retries a session that failed, needs a login or is recovering.
    pub async fn try_again(&self) -> Result<(), SessionError> {
        self.ask(Command::TryAgain).await?
    }

    pub(super) async fn adopt(&self, adoption: Adoption) -> Result<(), SessionError> {
        self.ask(|reply| Command::Adopt(Box::new(adoption), reply)).await?
    }

    /// Changes title, model, effort or permissions.
    pub async fn update(&self, update: SessionUpdate) -> Result<(), SessionError> {
        self.ask(|reply| Command::Update(Box::new(update), reply)).await?
    }

    /// Answers a request, exactly once.
    pub async fn answer(
        &self,
        request_id: &RequestId,
        answer: RequestAnswer,
        always: Always,
        by: AnsweredBy,
    ) -> Result<(), AnswerError> {
        let id = request_id.clone();
        let answered = self
            .ask(|reply| Command::Answer { request_id: id, answer, always, by, reply })
            .await
            .map_err(AnswerError::Session)?;
        match answered {
            Err(AnswerError::NotFound) => Err(self.why_not_open(request_id).await?),
            other => other,
        }
    }

    /// Why a request that is not open cannot be answered.
    async fn why_not_open(&self, request_id: &RequestId) -> Result<AnswerError, SessionError> {
        let closed = || self.store.closed_request(self.id, request_id.to_string());
        if let Some(closed) = closed().await? {
            return Ok(AnswerError::AlreadyAnswered { closed });
        }
        // A full disk interrupts turns, and their requests are gone before that is written. Then the disk is the
        // reason.
        self.store.all_written().await?;
        Ok(match closed().await? {
            Some(closed) => AnswerError::AlreadyAnswered { closed },
            None => AnswerError::NotFound,
        })
    }

    /// A page has shown the session up to this event: it is not unread any more, on any device. Nothing is written to the
    /// log, and readers notice nothing.
    pub async fn mark_seen(&self, through: Seq) -> Result<(), SessionError> {
        let through = through.min(self.log.head().committed);
        self.store.mark_seen(self.id, through).await?;
        self.ask(|reply| Command::Seen(through, reply)).await
    }

    /// Ends the turn and the agent because the server shuts down; the session stays open.
    pub(super) async fn shut_down(&self) {
        // An error means that the actor has ended already.
        let _ = self.ask(Command::ShutDown).await;
    }

    async fn ask<T>(&self, command: impl FnOnce(oneshot::Sender<T>) -> Command) -> Result<T, SessionError> {
        let (reply, answer) = oneshot::channel();
        let gone = || if self.log.head().deleted { SessionError::NotFound } else { SessionError::ShuttingDown };
        let place = self.commands.reserve().await.map_err(|_| gone())?;
        self.rest.count_command();
        place.send(command(reply));
        answer.await.map_err(|_| gone())
    }
}
