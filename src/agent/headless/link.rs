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
use super::record::RecordEnd;
use super::totals::Totals;
use super::turn::{SessionClosed, Turn, TurnEnd};
use crate::agent::failure::{Failure, says_the_same};
use crate::agent::transcript::{StreamEnd, Terminal, judge};
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
    /// The agent's id of the session; `None` until the agent has chosen it.
    pub session: Option<String>,
    pub events: mpsc::Sender<AgentEvent>,
    pub life: Arc<Life>,
    pub totals: Totals,
    /// Warnings that were already sent.
    pub warned: HashSet<String>,
    /// How the agent's record of the session ended when it was last looked at; `None` while there is none.
    pub kept: Option<RecordEnd>,
    /// The agent chose the id, so it has the session even if its record is not where we look.
    pub is_named_by_agent: bool,
    /// What the program wrote when it last exited without doing anything.
    pub last_exit: Option<String>,
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
                Some(
                    AgentCommand::Interrupt
                    | AgentCommand::Answer { .. }
                    | AgentCommand::AnswerTools(_)
                    | AgentCommand::Suspend,
                ) => Ok(()),
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
        let records = self.session.as_deref().and_then(|session| self.shared.usage_records(&self.spec, session));
        match self.begin(&prompt).await? {
            Ok((turn, is_resumed)) => {
                let mut end = turn.run(commands, deferred, &self.events, cancelled).await?;
                if let (Some(records), None) = (records, end.stream.usage.credits) {
                    let read = tokio::task::spawn_blocking(move || records.credits());
                    end.stream.usage.credits = read.await.unwrap_or_default();
                }
                self.conclude(end, is_resumed).await?;
            }
            Err(failure) => self.emit(AgentEvent::TurnFailed { failure }).await?,
        }
        self.emit(AgentEvent::TurnEnded { turn_id }).await?;
        self.emit(AgentEvent::Idle).await
    }

    /// Starts the process. The inner result says whether it resumes a session, or why it was not started.
    async fn begin(&mut self, prompt: &Prompt) -> Result<Result<(Turn, bool), Failure>, SessionClosed> {
        let title = self.shared.title();
        let misconfigured = |problem: &str| Failure::of_class(ErrorClass::Configuration, title, problem);
        let program = match self.shared.program().await {
            Ok(program) => program,
            Err(problem) => return Ok(Err(misconfigured(&problem))),
        };
        let environment = self.shared.environment(&self.spec.environment);
        let flags = self.shared.help.flags(&program, &environment).await;
        let is_known = match self.look_at_record() {
            Ok(kept) => {
                if (self.kept, kept) == (Some(RecordEnd::Clean), Some(RecordEnd::Cut)) {
                    let message = format!(
                        "The end of {title}'s own record of this session is damaged, so it may not know the last \
                         messages as they are shown here."
                    );
                    self.emit(AgentEvent::Notice { kind: NoticeKind::Incomplete, message }).await?;
                }
                kept.is_some() || self.is_named_by_agent
            }
            Err(reason) => return Ok(Err(Failure::of_lost_session(&reason))),
        };
        let wanted = Wanted {
            spec: &self.spec,
            session: self.session.as_deref(),
            is_known,
            text: &prompt.text,
            attachments: &prompt.attachments,
            flags: &flags,
        };
        let invocation = match self.shared.invocation(&wanted) {
            Ok(invocation) => invocation,
            Err(problem) => return Ok(Err(misconfigured(&problem))),
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
                return Ok(Err(misconfigured(&format!("{error}{cause}"))));
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
        Ok(Ok((Turn { child, stdin, stdout, input, reader, denial, running, files }, is_known)))
    }

    /// Looks at the agent's record of the session. The error says that a session that was there is lost.
    fn look_at_record(&self) -> Result<Option<RecordEnd>, String> {
        let Some(session) = &self.session else { return Ok(None) };
        match self.kept {
            Some(_) => self.shared.kept(&self.spec, session).map(Some),
            None => Ok(self.shared.record_end(&self.spec, session)),
        }
    }

    /// Reports the result of the turn.
    async fn conclude(&mut self, end: TurnEnd, is_resumed: bool) -> Result<(), SessionClosed> {
        let TurnEnd { stream, process } = end;
        let failure = judge(self.shared.title(), &stream, &process);
        let did_nothing = stream == StreamEnd::default();
        if let Some(id) = stream.session_id.filter(|_| self.session.is_none() || stream.terminal == Terminal::Good) {
            self.adopt_id(id).await?;
        }
        // A record that disappeared during the turn is missed before the next one.
        let record = self.session.as_deref().and_then(|session| self.shared.record_end(&self.spec, session));
        self.kept = record.or(self.kept);
        let usage = match self.shared.backend {
            Backend::Copilot(_) => self.totals.of_turn(stream.usage),
            Backend::Claude(_) => stream.usage,
        };
        if usage != Usage::default() {
            let usage = Usage { model: stream.model.clone(), ..usage };
            self.emit(AgentEvent::UsageReported(usage)).await?;
        }
        let exited = process.exit.and_then(|exit| exit.code).is_some_and(|code| code != 0);
        let words = Some(process.words).filter(|words| did_nothing && exited && !words.is_empty());
        let exited_before = std::mem::replace(&mut self.last_exit, words);
        let Some(mut failure) = failure else { return Ok(()) };
        // The session requested the abort and reports it.
        if failure.class == ErrorClass::Aborted && process.interrupted {
            return Ok(());
        }
        if is_resumed && self.shared.says_session_lost(&failure.raw) {
            let words = failure.raw.lines().take(2).map(str::trim).collect::<Vec<_>>().join(" ");
            let reason = format!("{} could not load its session: {words}", self.shared.title());
            let failure = Failure::of_lost_session(&reason);
            return self.emit(AgentEvent::TurnFailed { failure }).await;
        }
        if let (Some(before), Some(now)) = (exited_before, &self.last_exit)
            && failure.class == ErrorClass::ProcessGone
            && says_the_same(&before, now)
        {
            let words = now.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
            let message = format!("{} exits at once each time it is started: {words}", self.shared.title());
            failure = Failure { raw: failure.raw, ..Failure::with_message(ErrorClass::Configuration, &message) };
        }
        if failure.class == ErrorClass::Auth && self.shared.uses_login(&self.spec) {
            failure = failure.that_wants_login();
        }
        if failure.class == ErrorClass::ModelUnavailable {
            failure.message.push_str(&self.models_there_are().await);
        }
        self.emit(AgentEvent::TurnFailed { failure }).await
    }

    /// Uses the id that the agent reports. It is not ours where the program does not take one, or copies a session when
    /// it resumes it.
    async fn adopt_id(&mut self, id: String) -> Result<(), SessionClosed> {
        if id.is_empty() || self.session.as_ref() == Some(&id) {
            return Ok(());
        }
        self.session = Some(id.clone());
        self.kept = None;
        self.is_named_by_agent = true;
        self.emit(AgentEvent::SessionNamed(id)).await
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
