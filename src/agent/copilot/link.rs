//! One Copilot session: commands in, events out.
//!
//! The link never waits for the session: it always reads the program's messages and queues events for the session. If a
//! session falls too far behind, its turn is interrupted and continued, without any effect on other sessions.

mod barriers;
mod falling_behind;
mod model_change;
mod prompts;
mod slash_commands;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::account::Router;
use super::outbox::{Outbox, SessionClosed};
use super::translation::{Question, Reply, Translated, Translator};
use super::transport::{FromProgram, Lease, Queue, Servers, plain};
use super::{LOGIN_HINT, TITLE, parameters};
use crate::agent::failure::{Failure, classify};
use crate::agent::{AgentCommand, AgentEvent, QuestionAnswer, RequestAnswer, ToolAnswer};
use crate::model::{BackgroundTask, ErrorClass, NoticeKind, PromptId, SlashCommand};
use crate::process::printable;

pub(super) use barriers::Barriers;
use barriers::Verdict;
pub(super) use falling_behind::Pace;
use falling_behind::Then;
pub(super) use model_change::ModelChange;
pub(super) use prompts::Commands;
use prompts::Ran;
pub(super) use slash_commands::typed as typed_command;

/// How long the program may take to detach a session.
const DETACH_WITHIN: Duration = Duration::from_secs(2);
/// How long the program may take to destroy and delete a session.
const DISCARD_WITHIN: Duration = Duration::from_secs(30);
/// The request that a hook makes.
const HOOK: &str = "hooks.invoke";
/// The most messages that are handled before everything else is polled again.
pub(super) const AT_ONCE: usize = 64;
pub(super) struct Link {
    pub lease: Lease,
    pub servers: Arc<Servers>,
    pub session: String,
    pub router: Router,
    /// The declared tools, if there are any.
    pub barriers: Option<Barriers>,
    /// Set when the session was deleted from the program's disk.
    pub discarded: Arc<AtomicBool>,
    /// Changes with each login or logout; `None` for a session that needs no login.
    pub logins: Option<watch::Receiver<u64>>,
    pub outbox: Outbox,
    pub incoming: Queue,
    pub pace: Pace,
    /// A prompt was sent, and its turn is not over.
    pub is_working: bool,
    /// The connection ends, and the turn is to continue in a later one.
    pub is_suspended: bool,
    /// How many times the turn was continued.
    pub times_continued: u32,
    /// Empty between messages; kept to reuse its allocation.
    pub translated: Vec<Translated>,
    pub translator: Translator,
    /// Pending questions of the program, by our id.
    pub questions: HashMap<String, Question>,
    /// The last reported background tasks.
    pub tasks: Vec<BackgroundTask>,
    pub tasks_asked: Asked,
    pub commands: Commands,
    pub model_change: ModelChange,
}

/// The state of a query. Changes come in bursts, and one query covers them all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Asked {
    #[default]
    No,
    Yes,
    /// Something changed since it started.
    YesAndAgain,
}

impl Asked {
    /// Whether the query is to be made now; otherwise it is repeated when the running one has ended.
    fn begin(&mut self) -> bool {
        let is_first = *self == Self::No;
        *self = if is_first { Self::Yes } else { Self::YesAndAgain };
        is_first
    }

    /// Whether the query is to be made again.
    fn end(&mut self) -> bool {
        std::mem::take(self) == Self::YesAndAgain
    }
}

/// The outcome of a call.
enum Outcome {
    /// Nothing to report.
    Done,
    /// The prompt was rejected: its turn is over.
    PromptRefused(String),
    /// A steering prompt was rejected.
    SteerRefused { prompt: PromptId, reason: String },
    /// Another call was rejected.
    Refused(String),
    /// The result of a declared tool was rejected.
    ToolAnswerRefused { agent_request_id: String, reason: String },
    /// The turn that was aborted because the session fell behind should be over by now. Carries how many times it had
    /// been continued.
    Stopped { time: u32 },
    /// The background tasks, if the program lists them.
    Tasks(Option<Vec<BackgroundTask>>),
    /// The commands, if the program lists them.
    Commands(Option<Vec<SlashCommand>>),
    /// A prompt that may be a command.
    Command(Ran),
    /// A change of the model was answered.
    ModelChanged { refusal: Option<String> },
}

type Calls = FuturesUnordered<BoxFuture<'static, Outcome>>;

impl Link {
    /// Runs until cancelled or until either side is gone, then detaches the session, or discards it if its agent was only a
    /// model.
    pub async fn serve(mut self, mut commands: mpsc::Receiver<AgentCommand>, cancelled: CancellationToken) {
        let mut calls = Calls::new();
        self.ask_for_commands(&mut calls);
        loop {
            let step = tokio::select! {
                () = cancelled.cancelled() => break,
                message = self.incoming.recv() => {
                    let Some(message) = message else {
                        let reason = format!("Copilot exited: {}", self.lease.server.exit_summary());
                        // Sent after everything that is still queued.
                        let _ = self.outbox.push(AgentEvent::Gone { reason });
                        tokio::select! {
                            _ = self.outbox.drain() => {}
                            () = cancelled.cancelled() => {}
                        }
                        return;
                    };
                    self.receive_all(message, &mut calls).await
                }
                command = commands.recv() => match command {
                    Some(command) => self.handle_command(command, &mut calls),
                    None => break,
                },
                Some(outcome) = calls.next() => self.report(outcome, &mut calls),
                room = self.outbox.room() => room.and_then(|()| self.outbox.hand_over()),
                taken = self.outbox.emptied(), if self.waits_for_session() => match taken {
                    Ok(()) => { self.caught_up(&mut calls); Ok(()) }
                    Err(nobody) => Err(nobody),
                },
                () = changed(self.logins.as_mut()) => self.emit(AgentEvent::Outdated, &mut calls),
            };
            if step.is_err() {
                break;
            }
        }
        // The connection may have been ended before its last command was handled.
        while let Ok(command) = commands.try_recv() {
            self.is_suspended |= matches!(command, AgentCommand::Suspend);
        }
        if self.barriers.as_ref().is_some_and(Barriers::is_model_only) && !self.is_suspended {
            return self.discard().await;
        }
        self.detach().await;
    }

    /// Handles a message and those queued behind it, up to a limit, because polling everything else is expensive.
    async fn receive_all(&mut self, first: FromProgram, calls: &mut Calls) -> Result<(), SessionClosed> {
        let mut next = Some(first);
        for _ in 0..AT_ONCE {
            let Some(message) = next else { return Ok(()) };
            self.receive(message, calls).await?;
            next = self.incoming.try_recv();
        }
        if let Some(message) = next {
            self.receive(message, calls).await?;
        }
        // Other tasks must run too.
        tokio::task::yield_now().await;
        Ok(())
    }

    async fn receive(&mut self, message: FromProgram, calls: &mut Calls) -> Result<(), SessionClosed> {
        match message {
            FromProgram::Event(message) => {
                let verdict = match (&self.barriers, message.event()) {
                    (Some(barriers), Some(event)) => barriers.event(&event),
                    _ => Verdict::Unconcerned,
                };
                match verdict {
                    Verdict::Unconcerned | Verdict::Requested(_) | Verdict::Stopped(_) => {}
                    Verdict::Permission { request, result } => {
                        let params = json!({ "sessionId": self.session, "requestId": request, "result": result });
                        let method = "session.permissions.handlePendingPermissionRequest";
                        self.call(calls, method, params, Outcome::Refused);
                        return Ok(());
                    }
                    Verdict::Waits { request, call } => {
                        return self.emit(AgentEvent::ToolWaits { agent_request_id: request, call }, calls);
                    }
                }
                let mut translated = std::mem::take(&mut self.translated);
                match message.event() {
                    Some(event) => self.translator.translate(&event, &mut translated),
                    None => self.translator.translate_text(&message.text(), &mut translated),
                }
                for translated in translated.drain(..) {
                    match translated {
                        Translated::Event(AgentEvent::TurnFailed { failure }) => {
                            let failure = self.about_login(failure).await;
                            self.emit(AgentEvent::TurnFailed { failure }, calls)?;
                        }
                        Translated::Event(event) => self.emit(event, calls)?,
                        Translated::Asked { id, question, body } => {
                            self.questions.insert(id.clone(), question);
                            self.emit(AgentEvent::RequestMade { agent_request_id: id, body }, calls)?;
                        }
                        Translated::TasksChanged => self.ask_for_tasks(calls),
                        Translated::CommandsChanged => self.ask_for_commands(calls),
                    }
                }
                self.translated = translated;
                match verdict {
                    Verdict::Requested(requests) => self.emit(AgentEvent::ToolsRequested(requests), calls),
                    Verdict::Stopped(reason) => self.emit(AgentEvent::ModelStopped { reason }, calls),
                    _ => Ok(()),
                }
            }
            FromProgram::Request { id, method: HOOK, params } => {
                self.answer_hook(id, &params, calls);
                Ok(())
            }
            FromProgram::Request { id, method, params } => self.ask(id, method, &params, calls),
            FromProgram::Dropped => self.fall_behind(calls),
        }
    }

    /// Declines pending questions, which are no longer answered, so that the program does not wait for them.
    fn withdraw_questions(&mut self, calls: &mut Calls) {
        let waiting: Vec<Question> = self.questions.drain().map(|(_, question)| question).collect();
        for question in waiting {
            self.reply(&question, QuestionAnswer::Nobody, calls);
        }
    }

    /// Marks a failure as fixable by a login. A running program does not see a new login, so it is retired.
    async fn about_login(&self, failure: Failure) -> Failure {
        if failure.class != ErrorClass::Auth || self.router.provider.is_some() {
            return failure;
        }
        self.servers.retire(&self.lease.server).await;
        let message = format!("{LOGIN_HINT} ({})", failure.raw);
        Failure { message, ..failure }.that_wants_login()
    }

    fn ask(
        &mut self,
        id: Box<RawValue>,
        method: &str,
        params: &RawValue,
        calls: &mut Calls,
    ) -> Result<(), SessionClosed> {
        tracing::debug!(session = %self.session, method, "copilot sent a request");
        let params: Value = serde_json::from_str(params.get()).unwrap_or_default();
        let agent_request_id = format!("question-{}", id.get().trim_matches('"'));
        let Some((question, body)) = Question::from_request(method, id, &params) else {
            tracing::error!(method, "a request of an unknown kind was routed to a session");
            return Ok(());
        };
        self.questions.insert(agent_request_id.clone(), question);
        self.emit(AgentEvent::RequestMade { agent_request_id, body }, calls)
    }

    /// A hook asks before a tool runs. Without declared tools there are no hooks; their answer then changes nothing.
    fn answer_hook(&mut self, id: Box<RawValue>, params: &RawValue, calls: &mut Calls) {
        let params: Value = serde_json::from_str(params.get()).unwrap_or_default();
        let answer = match &mut self.barriers {
            Some(barriers) => barriers.hook(id, &params),
            None => Some((id, json!({}))),
        };
        if let Some((id, answer)) = answer {
            let server = Arc::clone(&self.lease.server);
            calls.push(Box::pin(async move {
                server.tap.answer(&id, &answer).await;
                Outcome::Done
            }));
        }
    }

    fn handle_command(&mut self, command: AgentCommand, calls: &mut Calls) -> Result<(), SessionClosed> {
        match command {
            AgentCommand::Prompt { text, attachments, .. } => {
                self.is_working = true;
                self.times_continued = 0;
                self.prompt_when_configured(text, attachments, calls);
            }
            AgentCommand::Steer { prompt, .. } if self.holds_prompt() => return self.steer_refused(prompt, calls),
            AgentCommand::Steer { prompt, text, attachments } => {
                let params = parameters::prompt(&self.session, &text, &attachments, Some("immediate"));
                self.call(calls, "session.send", params, move |reason| Outcome::SteerRefused { prompt, reason });
            }
            AgentCommand::Interrupt => {
                match self.pace {
                    Pace::Stopping(_) => self.pace = Pace::Stopping(Then::End),
                    Pace::Stopped => {
                        // No turn is running.
                        self.pace = Pace::KeepsUp;
                        return self.emit(AgentEvent::Idle, calls);
                    }
                    Pace::KeepsUp | Pace::Skipping => {}
                }
                self.withdraw_questions(calls);
                if self.withdraw_prompt() {
                    return self.emit(AgentEvent::Idle, calls);
                }
                self.call(calls, "session.abort", json!({ "sessionId": self.session }), Outcome::Refused);
                if self.commands.is_running() {
                    // The program has no turn that it could end, and what the command comes to is not sent any more.
                    return self.emit(AgentEvent::Idle, calls);
                }
            }
            AgentCommand::Configure { model, effort } => return self.configure(&model, effort, calls),
            AgentCommand::Answer { agent_request_id, answer } => self.answer(&agent_request_id, answer, calls),
            AgentCommand::AnswerTools(answers) => self.answer_tools(answers, calls),
            AgentCommand::Suspend => self.is_suspended = true,
            // The agent asks each time, and the session answers.
            AgentCommand::Permit(_) => {}
        }
        Ok(())
    }

    fn answer(&mut self, request: &str, answer: RequestAnswer, calls: &mut Calls) {
        match answer {
            RequestAnswer::Permission { decision, feedback } => {
                let result = if decision.allows() {
                    json!({ "kind": "approve-once" })
                } else {
                    json!({ "kind": "reject", "feedback": feedback.unwrap_or_default() })
                };
                let params = json!({ "sessionId": self.session, "requestId": request, "result": result });
                let method = "session.permissions.handlePendingPermissionRequest";
                self.call(calls, method, params, Outcome::Refused);
            }
            RequestAnswer::Question(answer) => {
                if let Some(question) = self.questions.remove(request) {
                    self.reply(&question, answer, calls);
                }
            }
        }
    }

    /// One after the other: one of the programs passes results on in the order in which it gets them.
    fn answer_tools(&self, answers: Vec<(String, ToolAnswer)>, calls: &mut Calls) {
        let (client, session) = (self.lease.server.client.clone(), self.session.clone());
        calls.push(Box::pin(async move {
            for (agent_request_id, answer) in answers {
                let params = barriers::answer(&session, &agent_request_id, &answer);
                let reason = match client.call("session.tools.handlePendingToolCall", Some(params)).await {
                    Ok(answer) if answer["success"] != json!(false) => continue,
                    Ok(_) => "it no longer waits for it".to_owned(),
                    Err(error) => plain(&error.to_string()),
                };
                return Outcome::ToolAnswerRefused { agent_request_id, reason };
            }
            Outcome::Done
        }));
    }

    fn reply(&self, question: &Question, answer: QuestionAnswer, calls: &mut Calls) {
        match (question.reply(&self.session, answer), question.request()) {
            (Reply::Result(result), Some(id)) => {
                let (server, id) = (Arc::clone(&self.lease.server), id.to_owned());
                calls.push(Box::pin(async move {
                    server.tap.answer(&id, &result).await;
                    Outcome::Done
                }));
            }
            (Reply::Call(method, params), _) => self.call(calls, method, params, Outcome::Refused),
            (Reply::Result(_), None) => {}
        }
    }

    /// Starts a call; a failure is reported when it arrives.
    fn call(
        &self,
        calls: &mut Calls,
        method: &'static str,
        params: Value,
        failed: impl FnOnce(String) -> Outcome + Send + 'static,
    ) {
        let called = self.called(method, params);
        calls.push(Box::pin(async move { called.await.map_or_else(failed, |()| Outcome::Done) }));
    }

    /// A call, and why the program rejected it.
    fn called(&self, method: &'static str, params: Value) -> impl Future<Output = Result<(), String>> + Send + use<> {
        let client = self.lease.server.client.clone();
        async move {
            let Err(error) = client.call(method, Some(params)).await else { return Ok(()) };
            let reason = plain(&error.to_string());
            tracing::warn!(method, error = %printable(&reason), "copilot rejected a call");
            Err(reason)
        }
    }

    /// Queries the background tasks, because the program only reports that something changed.
    fn ask_for_tasks(&mut self, calls: &mut Calls) {
        if !self.tasks_asked.begin() {
            return;
        }
        let (client, params) = (self.lease.server.client.clone(), json!({ "sessionId": self.session }));
        calls.push(Box::pin(async move {
            match client.call("session.tasks.list", Some(params)).await {
                Ok(listed) => Outcome::Tasks(Some(tasks(&listed))),
                Err(error) => {
                    tracing::debug!(%error, "copilot cannot list its background tasks");
                    Outcome::Tasks(None)
                }
            }
        }));
    }

    fn report(&mut self, outcome: Outcome, calls: &mut Calls) -> Result<(), SessionClosed> {
        match outcome {
            Outcome::Done => Ok(()),
            // Another turn may have been aborted since.
            Outcome::Stopped { time } if time != self.times_continued => Ok(()),
            // A program that has exited rejected nothing; its exit is reported next.
            Outcome::PromptRefused(_)
            | Outcome::SteerRefused { .. }
            | Outcome::ToolAnswerRefused { .. }
            | Outcome::Refused(_)
                if !self.lease.server.is_alive() =>
            {
                Ok(())
            }
            Outcome::PromptRefused(error) => {
                let failure = classify(TITLE, &format!("Copilot rejected the prompt: {error}"), None);
                self.emit(AgentEvent::TurnFailed { failure }, calls)?;
                self.emit(AgentEvent::Idle, calls)
            }
            Outcome::SteerRefused { prompt, reason } => self.emit(AgentEvent::SteerRefused { prompt, reason }, calls),
            Outcome::ToolAnswerRefused { agent_request_id, reason } => {
                self.emit(AgentEvent::ToolAnswerRefused { agent_request_id, reason }, calls)
            }
            Outcome::Stopped { .. } => self.stopped(calls),
            Outcome::Refused(error) => {
                let message = format!("Copilot rejected the request: {error}");
                self.emit(AgentEvent::Notice { kind: NoticeKind::Warning, message }, calls)
            }
            Outcome::Tasks(tasks) => {
                if self.tasks_asked.end() {
                    self.ask_for_tasks(calls);
                }
                match tasks {
                    Some(tasks) if tasks != self.tasks => {
                        self.tasks.clone_from(&tasks);
                        self.emit(AgentEvent::BackgroundTasks(tasks), calls)
                    }
                    _ => Ok(()),
                }
            }
            Outcome::Commands(listed) => self.commands_listed(listed, calls),
            Outcome::Command(ran) => self.command_ran(ran, calls),
            Outcome::ModelChanged { refusal } => self.model_changed(refusal, calls),
        }
    }

    /// Destroys the session and deletes it from the program's disk. Held hooks are answered only then, because an answer
    /// would make the program ask its model again; an abort would wait for them.
    async fn discard(self) {
        let server = &self.lease.server;
        let discarded = async {
            let call = async |method: &'static str| {
                let params = json!({ "sessionId": self.session });
                server.client.call(method, Some(params)).await.inspect_err(|error| {
                    tracing::warn!(method, %error, session = %self.session, "copilot did not discard a session");
                })
            };
            // Harmless if the session is already destroyed.
            let _ = call("session.destroy").await;
            for id in self.barriers.iter().flat_map(|barriers| &barriers.held_hooks) {
                server.tap.answer(id, &barriers::denial()).await;
            }
            if call("session.delete").await.is_ok() {
                self.discarded.store(true, Ordering::Release);
            }
        };
        if tokio::time::timeout(DISCARD_WITHIN, discarded).await.is_err() {
            tracing::warn!(session = %self.session, "copilot did not discard a session in time");
        }
        server.tap.forget(&self.session, &self.incoming);
    }

    /// Ends a running turn and detaches; the program keeps the session on disk. A turn that is to continue later is not
    /// ended, because that would cancel the requests that it waits for.
    async fn detach(self) {
        let server = &self.lease.server;
        if !server.tap.forget(&self.session, &self.incoming) {
            // Another link has already resumed the session and must not be disturbed.
            return;
        }
        let detached = async {
            let methods: &[&str] =
                if self.is_suspended { &["session.detach"] } else { &["session.abort", "session.detach"] };
            for method in methods {
                let params = json!({ "sessionId": self.session });
                if let Err(error) = server.client.call(method, Some(params)).await {
                    tracing::debug!(method, %error, "copilot did not close a session cleanly");
                }
            }
        };
        if tokio::time::timeout(DETACH_WITHIN, detached).await.is_err() {
            tracing::warn!(session = %self.session, "copilot did not detach a session in time");
        }
    }
}

/// Waits for a change, if there is a channel.
async fn changed(news: Option<&mut watch::Receiver<u64>>) {
    if let Some(news) = news
        && news.changed().await.is_ok()
    {
        return;
    }
    std::future::pending::<()>().await;
}

/// Background tasks: sub-agents and commands that the agent does not wait for.
fn tasks(listed: &Value) -> Vec<BackgroundTask> {
    let text = |task: &Value, name: &str| task[name].as_str().unwrap_or_default().to_owned();
    let all = listed["tasks"].as_array().map(Vec::as_slice).unwrap_or_default();
    all.iter()
        .filter(|task| task["executionMode"] != "sync")
        .map(|task| BackgroundTask {
            id: text(task, "id"),
            kind: text(task, "type"),
            description: task["command"].as_str().map_or_else(|| text(task, "description"), str::to_owned),
            status: text(task, "status"),
        })
        .collect()
}

#[cfg(test)]
mod tests;
