//! How a prompt reaches the program: as it is, or as one of the program's commands.

use serde_json::json;

use super::super::outbox::SessionClosed;
use super::super::parameters;
use super::slash_commands::{self, Effect};
use super::{Asked, Calls, Link, Outcome};
use crate::agent::failure::Failure;
use crate::agent::{AgentEvent, BlockEnd};
use crate::model::{Attachment, ErrorClass, SlashCommand};

/// The commands of one session.
#[derive(Debug, Default)]
pub(in crate::agent::copilot) struct Commands {
    /// Whether prompts are typed by a person, who may use commands.
    are_offered: bool,
    /// The last reported ones.
    known: Vec<SlashCommand>,
    asked: Asked,
    /// Counts the prompts that may be commands.
    started: u64,
    /// The one whose outcome decides about the turn.
    running: Option<u64>,
}

impl Commands {
    pub fn offered(are_offered: bool) -> Self {
        Self { are_offered, ..Self::default() }
    }

    pub fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// The turn is over, so the outcome of a command no longer decides about it.
    pub fn forget(&mut self) {
        self.running = None;
    }
}

/// What became of a prompt that may be a command.
pub(super) struct Ran {
    number: u64,
    prompt: String,
    attachments: Vec<Attachment>,
    effect: Effect,
}

impl Link {
    pub(super) fn prompt(&mut self, text: String, attachments: Vec<Attachment>, calls: &mut Calls) {
        self.commands.forget();
        if !self.commands.are_offered || slash_commands::typed(&text).is_none() {
            return self.send(&text, &text, &attachments, calls);
        }
        self.commands.started += 1;
        let number = self.commands.started;
        self.commands.running = Some(number);
        let (client, session) = (self.lease.server.client.clone(), self.session.clone());
        calls.push(Box::pin(async move {
            let effect = slash_commands::run(&client, &session, &text).await;
            if let Effect::Prompt { mode: Some(mode), .. } = &effect {
                let params = json!({ "sessionId": session, "mode": mode });
                if let Err(error) = client.call("session.mode.set", Some(params)).await {
                    tracing::warn!(%error, mode, "copilot did not change the mode that its command asked for");
                }
            }
            Outcome::Command(Ran { number, prompt: text, attachments, effect })
        }));
    }

    /// Sends what the agent gets. Its record shows what was typed.
    fn send(&self, text: &str, typed: &str, attachments: &[Attachment], calls: &mut Calls) {
        let mut params = parameters::prompt(&self.session, text, attachments, None);
        if text != typed {
            params["displayPrompt"] = json!(typed);
        }
        self.call(calls, "session.send", params, Outcome::PromptRefused);
    }

    pub(super) fn command_ran(&mut self, ran: Ran, calls: &mut Calls) -> Result<(), SessionClosed> {
        if self.commands.running != Some(ran.number) {
            // It was interrupted.
            return Ok(());
        }
        self.commands.forget();
        match ran.effect {
            Effect::NoCommand => self.send(&ran.prompt, &ran.prompt, &ran.attachments, calls),
            Effect::Prompt { text, .. } => self.send(&text, &ran.prompt, &ran.attachments, calls),
            Effect::Says(content) => {
                let id = format!("command-{}", ran.number);
                self.emit(AgentEvent::BlockEnded(BlockEnd::Message { id, content }), calls)?;
                self.emit(AgentEvent::Idle, calls)?;
            }
            Effect::Failed(reason) => {
                let failure = Failure::with_message(ErrorClass::Unknown, &reason);
                self.emit(AgentEvent::TurnFailed { failure }, calls)?;
                self.emit(AgentEvent::Idle, calls)?;
            }
        }
        Ok(())
    }

    /// Queries the commands, because they change with skills and folders.
    pub(super) fn ask_for_commands(&mut self, calls: &mut Calls) {
        if !self.commands.are_offered || !self.commands.asked.begin() {
            return;
        }
        let (client, session) = (self.lease.server.client.clone(), self.session.clone());
        calls.push(Box::pin(async move {
            let listed = slash_commands::list(&client, &session).await;
            Outcome::Commands(
                listed.inspect_err(|error| tracing::debug!(error, "copilot cannot list its commands")).ok(),
            )
        }));
    }

    pub(super) fn commands_listed(
        &mut self,
        listed: Option<Vec<SlashCommand>>,
        calls: &mut Calls,
    ) -> Result<(), SessionClosed> {
        if self.commands.asked.end() {
            self.ask_for_commands(calls);
        }
        match listed {
            Some(listed) if listed != self.commands.known => {
                self.commands.known.clone_from(&listed);
                self.emit(AgentEvent::CommandsListed(listed), calls)
            }
            _ => Ok(()),
        }
    }
}
