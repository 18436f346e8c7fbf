//! Carrying out what the machine asks for, and commands from outside.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use super::intake::Intake;
use super::link::Link;
use super::spans::EndedTurn;
use super::{Actor, Command, Input, Output, Reply};
use crate::agent::{AgentCommand, Past};
use crate::model::SessionProfile;
use crate::session::machine::{self, Disconnect, PastInput};
use crate::session::{AnswerError, PromptError, SessionError};

impl Actor {
    /// Carries out the machine's outputs in order. What follows from them is added to `inputs`.
    pub(super) async fn carry_out(&mut self, inputs: &mut VecDeque<Input>, reply: &mut Option<Reply>) {
        if !self.machine.has_outputs() {
            return;
        }
        let spare = std::mem::take(&mut self.spare);
        let mut outputs = self.machine.take_outputs(spare);
        for output in outputs.drain(..) {
            match output {
                Output::Append(batch) => self.journal.append(batch),
                Output::Commit(batch) => {
                    let outcome = self.journal.commit(batch).await;
                    if let Err(error) = &outcome {
                        tracing::warn!(session = %self.id, error = %error, "the store refused a change");
                    }
                    // Before anything else that this step may have led to.
                    inputs.push_front(Input::Committed(outcome));
                }
                Output::Send(command) => self.send_now(command, inputs),
                // No commit that could wake this actor may follow.
                Output::SendCommitted(after, command)
                    if self.unsent.is_empty() && after <= self.journal.committed() =>
                {
                    self.send_now(command, inputs);
                }
                Output::SendCommitted(after, command) => self.unsent.push_back((after, command)),
                Output::Open { agent_session_id, suspended } => self.open(agent_session_id, suspended),
                Output::AwaitLogin => self.await_login(),
                Output::Disconnect(how) => self.disconnect(how).await,
                Output::Probe { within } => self.begin_probe(within),
                Output::AcquireTurnSlot => {
                    if self.request_turn_slot() {
                        inputs.push_back(Input::TurnSlotGranted);
                    }
                }
                Output::ReleaseTurnSlot => (self.turn_slot, self.slot_request) = (None, None),
                Output::PromptEnded(prompt) => {
                    self.spans.prompt_ended(prompt);
                    self.ended_prompts.add(prompt);
                }
                Output::PromptAccepted(prompt) => self.spans.prompt_accepted(self.id, prompt),
                Output::TurnStarted(prompt) => {
                    self.spans.turn_started(self.id, prompt, self.machine.profile());
                    if let Some(observer) = self.services.turn_observer.get() {
                        observer.turn_began(self.id, prompt, self.machine.profile().working_directory.as_deref());
                    }
                }
                Output::TurnEnded { prompt, verdict, error_class, duration } => {
                    let ended = EndedTurn { prompt, verdict, error_class, duration };
                    self.spans.turn_ended(self.id, self.machine.profile(), &ended, &self.services.statistics);
                    if let Some(observer) = self.services.turn_observer.get() {
                        observer.turn_ended(self.id, prompt, self.machine.profile().working_directory.as_deref());
                    }
                }
                Output::CountUnknown => drop(self.services.unknown_events.fetch_add(1, Ordering::Relaxed)),
                Output::Closed { at } => {
                    let flushed = self.services.store.flush().await;
                    self.tail_release_at = self.journal.log().release_tail();
                    self.journal.log().set_closed(at, self.journal.last());
                    *reply = Some(Reply::Done(flushed.map_err(SessionError::Store)));
                }
                Output::FolderRuleAdded => {
                    if let Err(error) = self.services.folder_rules.reload(&self.services.store).await {
                        tracing::error!(session = %self.id, error = %error, "could not read the rules of folders; a new one counts after a restart");
                    }
                    // Before the next command, so that the caller finds everything that waits here answered.
                    inputs.push_back(Input::RulesChanged);
                }
                Output::Reopened => self.journal.log().set_reopened(),
                Output::Reply(answer) => *reply = Some(answer),
            }
        }
        self.spare = outputs;
    }

    fn send_now(&mut self, command: AgentCommand, inputs: &mut VecDeque<Input>) {
        if !self.send(command) {
            tracing::error!(session = %self.id, "the agent does not accept commands; restarting it");
            inputs.push_back(Input::Lost("the agent stopped accepting commands".to_owned()));
        }
    }

    fn await_login(&mut self) {
        self.link = Link::AwaitingLogin;
        if self.login_change.is_none() {
            let runtime = self.services.runtimes.named(&self.machine.profile().runtime);
            self.login_change = runtime.ok().map(|runtime| runtime.credentials_changed());
        }
    }

    fn begin_probe(&mut self, within: tokio::time::Duration) {
        if let Link::Live(connection) = &self.link
            && let Some(liveness) = connection.liveness().cloned()
        {
            self.probe = Some(Box::pin(async move { liveness.probe(within).await }));
        }
    }

    /// Breaks when the actor must end. A reply to a caller that is gone is dropped.
    pub(super) async fn run_command(&mut self, command: Command) -> ControlFlow<()> {
        match command {
            Command::Prompt(prompt, reply) => {
                let _ = reply.send(self.prompt(prompt).await);
            }
            Command::AwaitOutcome(prompt, reply) => {
                let receiver = self.machine.is_unfinished(prompt).then(|| self.ended_prompts.wait_for(prompt));
                let _ = reply.send(receiver);
            }
            Command::Queue(change, reply) => {
                let answer = match self.command(machine::Command::Queue(change)).await {
                    Some(Reply::Queue(answer)) => answer,
                    _ => Err(SessionError::ShuttingDown.into()),
                };
                let _ = reply.send(answer);
            }
            Command::Interrupt(reply) => {
                let answer = match self.command(machine::Command::Interrupt).await {
                    Some(Reply::Interrupt(answer)) => answer,
                    _ => Err(SessionError::ShuttingDown),
                };
                let _ = reply.send(answer);
            }
            Command::Close(reply) => {
                // What the agent said still counts, but it must not begin another turn.
                self.is_ending = true;
                self.process_backlog().await;
                let closed = self.done(machine::Command::Close).await;
                self.is_ending = false;
                let _ = reply.send(closed);
            }
            Command::Reopen(reply) => {
                let _ = reply.send(self.done(machine::Command::Reopen).await);
            }
            Command::TryAgain(reply) => {
                let _ = reply.send(self.done(machine::Command::TryAgain).await);
            }
            Command::Adopt(adoption, reply) => {
                let services = std::sync::Arc::clone(&self.services);
                let intake = Intake { services: &services, session: self.id };
                let mut past = Vec::with_capacity(adoption.past.len());
                for piece in adoption.past {
                    past.push(match piece {
                        Past::Prompt(text) => PastInput::Prompt(text),
                        Past::Event(event) => PastInput::Event(Box::new(intake.take(event).await)),
                    });
                }
                let agent_session_id = adoption.agent_session_id;
                let _ = reply.send(self.done(machine::Command::Adopt { agent_session_id, past }).await);
            }
            Command::Update(update, reply) => {
                let profile = self.machine.profile();
                let model = update.model.as_ref().unwrap_or(&profile.model);
                let model_warning = self.services.runtimes.misfit(&profile.runtime, model, &profile.options);
                let updated = self.done(machine::Command::Update { update: *update, model_warning }).await;
                self.refresh_opening();
                let _ = reply.send(updated);
            }
            Command::Answer { request_id, answer, always, by, reply } => {
                let answer = machine::Command::Answer { request_id, answer, always, by };
                let answered = match self.command(answer).await {
                    Some(Reply::Answer(answered)) => answered,
                    _ => Err(AnswerError::Session(SessionError::ShuttingDown)),
                };
                let _ = reply.send(answered);
            }
            Command::Seen(through, reply) => {
                self.machine.mark_seen(through);
                self.after_step();
                let _ = reply.send(());
            }
            Command::ShutDown(reply) => {
                self.shut_down().await;
                let _ = reply.send(());
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    async fn prompt(&mut self, prompt: Box<super::NewPrompt>) -> Result<super::Accepted, PromptError> {
        let known = match &prompt.idempotency_key {
            Some(key) => self.services.store.prompt_by_key(self.id, key.clone()).await.map_err(SessionError::Store)?,
            None => None,
        };
        let intake = Intake { services: &self.services, session: self.id };
        // A repetition has its files in the log already.
        let files = if known.is_none() { intake.store_files(&prompt.attachments).await } else { Vec::new() };
        let SessionProfile { runtime, model, options, .. } = self.machine.profile();
        let model_warning = self.services.runtimes.misfit(runtime, model, options);
        match self.command(machine::Command::Prompt { prompt, files, known, model_warning }).await {
            Some(Reply::Prompt(answer)) => answer,
            _ => Err(SessionError::ShuttingDown.into()),
        }
    }

    async fn command(&mut self, command: machine::Command) -> Option<Reply> {
        self.drive(Input::Command(command)).await
    }

    async fn done(&mut self, command: machine::Command) -> Result<(), SessionError> {
        match self.command(command).await {
            Some(Reply::Done(answer)) => answer,
            _ => Err(SessionError::ShuttingDown),
        }
    }

    /// The server shuts down, or the session is deleted.
    pub(super) async fn shut_down(&mut self) {
        self.is_ending = true;
        self.process_backlog().await;
        let _ = self.done(machine::Command::ShutDown).await;
        self.disconnect(Disconnect::Politely).await;
        if let Err(error) = self.services.store.flush().await {
            tracing::error!(session = %self.id, error = %error, "could not write the last events");
        }
    }
}
