//! The connection of a session: one process during a turn, none between turns.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::backend::{Backend, Shared};
use super::deferred::Deferred;
use super::invocation::{Invocation, Wanted};
use super::life::Life;
use super::totals::Totals;
use super::turn::{SessionClosed, Turn, TurnEnd};
use crate::agent::failure::Failure;
use crate::agent::transcript::judge;
use crate::agent::{AgentCommand, AgentEvent, Freshness, StartSpec};
use crate::model::{Attachment, ErrorClass, NoticeKind, PermissionMode, TurnId, Usage};
use crate::process::ProcessSpec;

/// How long to wait for the list of models after a model was not found.
const MODELS_WITHIN: Duration = Duration::from_secs(5);
/// The most models listed in an error.
const MODELS_NAMED: usize = 20;

pub(super) struct Link {
    pub shared: Arc<Shared>,
    /// The current state of the session.
    pub spec: StartSpec,
    /// The agent's id of the session.
    pub session: String,
    pub events: mpsc::Sender<AgentEvent>,
    pub life: Arc<Life>,
    pub totals: Totals,
    /// Warnings that were already sent.
    pub warned: HashSet<String>,
}

impl Link {
    pub async fn serve(mut self, mut commands: mpsc::Receiver<AgentCommand>, cancelled: CancellationToken) {
        let mut deferred = Deferred::default();
        loop {
            let command = if let Some(command) = deferred.next() {
                Some(command)
            } else {
                tokio::select! {
                    command = commands.recv() => command,
                    () = cancelled.cancelled() => None,
                }
            };
            let obeyed = match command {
                None => return,
                Some(AgentCommand::Prompt { turn_id, text, attachments }) => {
                    let prompt = Prompt { turn_id, text, attachments };
                    self.turn(prompt, &mut commands, &mut deferred, &cancelled).await
                }
                Some(AgentCommand::Configure { model, effort }) => {
                    self.spec.model = model;
                    self.spec.effort = effort;
                    Ok(())
                }
                Some(AgentCommand::Permit(permissions)) => {
                    self.spec.permissions = permissions;
                    Ok(())
                }
                Some(AgentCommand::Steer { prompt, .. }) => {
                    let reason = format!("{} does not accept input during a turn", self.shared.title());
                    self.emit(AgentEvent::SteerRefused { prompt, reason }).await
                }
                // The turn has ended and its end was reported. Another end would end the next turn.
                Some(AgentCommand::Interrupt | AgentCommand::Answer { .. }) => Ok(()),
            };
            if obeyed.is_err() {
                return;
            }
        }
    }

    async fn turn(
        &mut self,
        prompt: Prompt,
        commands: &mut mpsc::Receiver<AgentCommand>,
        deferred: &mut Deferred,
        cancelled: &CancellationToken,
    ) -> Result<(), SessionClosed> {
        let turn_id = prompt.turn_id.clone();
        if matches!(self.shared.backend, Backend::Claude(_)) {
            // The other agent reports this itself.
            self.emit(AgentEvent::TurnStarted { turn_id: turn_id.clone() }).await?;
        }
        let records = self.shared.usage_records(&self.spec, &self.session);
        match self.begin(&prompt).await? {
            Ok(turn) => {
                let mut end = turn.run(commands, deferred, &self.events, cancelled).await?;
                if let (Some(records), None) = (records, end.stream.usage.credits) {
                    let read = tokio::task::spawn_blocking(move || records.credits());
                    end.stream.usage.credits = read.await.unwrap_or_default();
                }
                self.conclude(end).await?;
            }
            Err(problem) => {
                let failure = Failure::of_class(ErrorClass::Configuration, self.shared.title(), &problem);
                self.emit(AgentEvent::TurnFailed { failure }).await?;
            }
        }
        self.emit(AgentEvent::TurnEnded { turn_id }).await?;
        self.emit(AgentEvent::Idle).await
    }

    /// Starts the process. The inner error is for display.
    async fn begin(&mut self, prompt: &Prompt) -> Result<Result<Turn, String>, SessionClosed> {
        let program = match self.shared.program().await {
            Ok(program) => program,
            Err(problem) => return Ok(Err(problem)),
        };
        let environment = self.shared.environment(&self.spec.environment);
        let flags = self.shared.help.flags(&program, &environment).await;
        let is_known = self.shared.has_session(&self.spec, &self.session);
        let wanted = Wanted {
            spec: &self.spec,
            session: &self.session,
            is_known,
            text: &prompt.text,
            attachments: &prompt.attachments,
            flags: &flags,
        };
        let invocation = match self.shared.invocation(&wanted) {
            Ok(invocation) => invocation,
            Err(problem) => return Ok(Err(problem)),
        };
        let Invocation { arguments, environment, input, left_out, notices, files } = invocation;
        for notice in notices {
            self.warn(notice).await?;
        }
        if !left_out.is_empty() {
            let version = program.version.as_deref().unwrap_or("this version");
            let message =
                format!("{} {version} does not support {}; running without.", self.shared.title(), left_out.join(", "));
            self.warn(message).await?;
        }
        let spec = ProcessSpec {
            program: program.path,
            arguments: program.leading_arguments.into_iter().chain(arguments).collect(),
            environment,
            working_directory: self.spec.working_directory.clone(),
        };
        let (child, stdin, stdout) = match self.shared.settings.supervisor.spawn(&spec) {
            Ok(started) => started,
            Err(error) => {
                let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
                return Ok(Err(format!("{error}{cause}")));
            }
        };
        let running = self.life.begins(child.probe(), program.version);
        let denial = (self.spec.permissions.mode == PermissionMode::Ask).then(|| {
            format!(
                "{} was not allowed to use a tool: nobody can be asked in a headless turn. Allow it by a rule, or use \
                 the mode allow-all, or another runtime.",
                self.shared.title()
            )
        });
        let reader = self.shared.reader();
        Ok(Ok(Turn { child, stdin, stdout, input, reader, denial, running, files }))
    }

    /// Reports the result of the turn.
    async fn conclude(&mut self, end: TurnEnd) -> Result<(), SessionClosed> {
        let TurnEnd { stream, process } = end;
        let failure = judge(self.shared.title(), &stream, &process);
        let usage = match self.shared.backend {
            Backend::Copilot(_) => self.totals.of_turn(stream.usage),
            Backend::Claude(_) => stream.usage,
        };
        if usage != Usage::default() {
            let usage = Usage { model: stream.model.clone(), ..usage };
            self.emit(AgentEvent::UsageReported(usage)).await?;
        }
        let Some(mut failure) = failure else { return Ok(()) };
        // The session requested the abort and reports it.
        if failure.class == ErrorClass::Aborted && process.interrupted {
            return Ok(());
        }
        if failure.class == ErrorClass::Auth && self.shared.uses_login(&self.spec) {
            failure = failure.that_wants_login();
        }
        if failure.class == ErrorClass::ModelUnavailable {
            failure.message.push_str(&self.models_there_are().await);
        }
        self.emit(AgentEvent::TurnFailed { failure }).await
    }

    async fn models_there_are(&self) -> String {
        let asked = tokio::time::timeout(MODELS_WITHIN, self.shared.models(Freshness::Recent)).await;
        let names: Vec<String> =
            asked.map(|list| list.models).unwrap_or_default().into_iter().map(|model| model.id).collect();
        if names.is_empty() {
            return String::new();
        }
        let more = if names.len() > MODELS_NAMED { " …" } else { "" };
        format!(" Available models: {}{more}.", names[..names.len().min(MODELS_NAMED)].join(", "))
    }

    /// Sends a warning, once per connection.
    async fn warn(&mut self, message: String) -> Result<(), SessionClosed> {
        if !self.warned.insert(message.clone()) {
            return Ok(());
        }
        self.emit(AgentEvent::Notice { kind: NoticeKind::Warning, message }).await
    }

    async fn emit(&self, event: AgentEvent) -> Result<(), SessionClosed> {
        self.events.send(event).await.map_err(|_| SessionClosed)
    }
}

struct Prompt {
    turn_id: TurnId,
    text: String,
    attachments: Vec<Attachment>,
}
