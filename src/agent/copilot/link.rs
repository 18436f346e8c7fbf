//! One Copilot session: commands in, events out.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::provider::Router;
use super::questions::{Question, Reply};
use super::server::plain;
use super::servers::{Lease, Servers};
use super::tap::{FromProgram, Queue};
use super::translate::{Translated, Translator};
use super::{LOGIN_HINT, TITLE, parameters};
use crate::agent::failure::{Failure, classify};
use crate::agent::{AgentCommand, AgentEvent, QuestionAnswer, RequestAnswer};
use crate::model::{BackgroundTask, ErrorClass, NoticeKind, PromptId};

/// How long the program may take to let go of a session.
const GOODBYE_WITHIN: Duration = Duration::from_secs(2);

pub(super) struct Link {
    pub lease: Lease,
    pub servers: Arc<Servers>,
    pub session: String,
    pub router: Router,
    /// Changes when somebody has logged in or out; `None` for a session that needs no login.
    pub logins: Option<watch::Receiver<u64>>,
    pub events: mpsc::Sender<AgentEvent>,
    pub incoming: Queue,
    pub translator: Translator,
    /// Questions of the program that wait for an answer, by our id for them.
    pub questions: HashMap<String, Question>,
    /// What was last told about work on the side.
    pub tasks: Vec<BackgroundTask>,
    /// The program is being asked about it; changes come in bursts and one answer covers them all.
    pub tasks_asked: TasksAsked,
}

/// Whether the program is being asked what it does on the side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TasksAsked {
    #[default]
    No,
    Yes,
    /// And something changed since.
    YesAndAgain,
}

/// The session no longer listens.
struct NobodyListens;

/// What comes of a call.
enum Outcome {
    /// Nothing to tell.
    Done,
    /// The prompt was not taken: its turn is over.
    PromptRefused(String),
    /// A prompt was not taken into the running turn.
    SteerRefused { prompt: PromptId, reason: String },
    /// Something else was not done.
    Refused(String),
    /// What runs on the side, if the program says.
    Tasks(Option<Vec<BackgroundTask>>),
}

type Calls = FuturesUnordered<BoxFuture<'static, Outcome>>;

impl Link {
    /// Serves until cancelled or until either side is gone, then lets the session go.
    pub async fn serve(mut self, mut commands: mpsc::Receiver<AgentCommand>, cancelled: CancellationToken) {
        let mut calls = Calls::new();
        loop {
            let heard = tokio::select! {
                () = cancelled.cancelled() => break,
                message = self.incoming.recv() => {
                    let Some(message) = message else {
                        let reason = format!("Copilot is gone: {}", self.lease.server.last_words());
                        let _ = self.events.send(AgentEvent::Gone { reason }).await;
                        return;
                    };
                    self.hear(message, &mut calls).await
                }
                command = commands.recv() => match command {
                    Some(command) => { self.obey(command, &mut calls).await; Ok(()) }
                    None => break,
                },
                Some(outcome) = calls.next() => self.report(outcome, &mut calls).await,
                () = changed(self.logins.as_mut()) => self.tell(AgentEvent::Outdated).await,
            };
            if heard.is_err() {
                break;
            }
        }
        self.say_goodbye().await;
    }

    async fn hear(&mut self, message: FromProgram, calls: &mut Calls) -> Result<(), NobodyListens> {
        match message {
            FromProgram::Event(raw) => {
                for translated in self.translator.translate(&raw) {
                    match translated {
                        Translated::Event(AgentEvent::TurnFailed { failure }) => {
                            let failure = self.about_login(failure).await;
                            self.tell(AgentEvent::TurnFailed { failure }).await?;
                        }
                        Translated::Event(event) => self.tell(event).await?,
                        Translated::Asked { id, question, body } => {
                            self.questions.insert(id.clone(), question);
                            self.tell(AgentEvent::RequestMade { agent_request_id: id, body }).await?;
                        }
                        Translated::TasksChanged => self.ask_for_tasks(calls),
                    }
                }
                Ok(())
            }
            FromProgram::Request { id, method, params } => self.ask(id, &method, &params).await,
        }
    }

    /// GitHub does not know who asks: a program that runs does not see another login, so the next one is a new one.
    async fn about_login(&self, failure: Failure) -> Failure {
        if failure.class != ErrorClass::Auth || self.router.provider.is_some() {
            return failure;
        }
        self.servers.retire(&self.lease.server).await;
        let message = format!("{LOGIN_HINT} ({})", failure.raw);
        Failure { message, ..failure }.that_wants_login()
    }

    async fn ask(&mut self, id: Box<RawValue>, method: &str, params: &RawValue) -> Result<(), NobodyListens> {
        tracing::debug!(session = %self.session, method, "copilot asks");
        let params: Value = serde_json::from_str(params.get()).unwrap_or_default();
        let agent_request_id = format!("question-{}", id.get().trim_matches('"'));
        let Some((question, body)) = Question::from_request(method, id, &params) else {
            tracing::error!(method, "a request was routed to a session and nobody knows it");
            return Ok(());
        };
        self.questions.insert(agent_request_id.clone(), question);
        self.tell(AgentEvent::RequestMade { agent_request_id, body }).await
    }

    async fn obey(&mut self, command: AgentCommand, calls: &mut Calls) {
        match command {
            AgentCommand::Prompt { text, attachments, .. } => {
                let params = parameters::prompt(&self.session, &text, &attachments, None);
                self.call(calls, "session.send", params, Outcome::PromptRefused);
            }
            AgentCommand::Steer { prompt, text, attachments } => {
                let params = parameters::prompt(&self.session, &text, &attachments, Some("immediate"));
                self.call(calls, "session.send", params, move |reason| Outcome::SteerRefused { prompt, reason });
            }
            AgentCommand::Interrupt => {
                // Whoever is asked something gets no answer any more, so the program must not wait for one.
                let waiting: Vec<Question> = self.questions.drain().map(|(_, question)| question).collect();
                for question in waiting {
                    self.reply(&question, QuestionAnswer::Nobody, calls).await;
                }
                self.call(calls, "session.abort", json!({ "sessionId": self.session }), Outcome::Refused);
            }
            AgentCommand::Configure { model, effort } => {
                let Some(model) = self.router.switched_to(&model) else {
                    // A session keeps the provider that it was opened with.
                    let _ = self.tell(AgentEvent::Outdated).await;
                    return;
                };
                let mut params = json!({ "sessionId": self.session, "modelId": model });
                if let Some(effort) = effort {
                    params["reasoningEffort"] = json!(effort);
                }
                self.call(calls, "session.model.switchTo", params, Outcome::Refused);
            }
            AgentCommand::Answer { agent_request_id, answer } => self.answer(&agent_request_id, answer, calls).await,
            // It asks each time, and the session answers.
            AgentCommand::Permit(_) => {}
        }
    }

    async fn answer(&mut self, request: &str, answer: RequestAnswer, calls: &mut Calls) {
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
                    self.reply(&question, answer, calls).await;
                }
            }
        }
    }

    async fn reply(&self, question: &Question, answer: QuestionAnswer, calls: &mut Calls) {
        match (question.reply(&self.session, answer), question.request()) {
            (Reply::Result(result), Some(id)) => self.lease.server.tap.answer(id, &result).await,
            (Reply::Call(method, params), _) => self.call(calls, method, params, Outcome::Refused),
            (Reply::Result(_), None) => {}
        }
    }

    /// Begins a call; its failure is told when it comes.
    fn call(
        &self,
        calls: &mut Calls,
        method: &'static str,
        params: Value,
        failed: impl FnOnce(String) -> Outcome + Send + 'static,
    ) {
        let client = self.lease.server.client.clone();
        calls.push(Box::pin(async move {
            match client.call(method, Some(params)).await {
                Ok(_) => Outcome::Done,
                Err(error) => {
                    tracing::warn!(method, %error, "copilot refused a call");
                    failed(plain(&error.to_string()))
                }
            }
        }));
    }

    /// The program says only that something changed.
    fn ask_for_tasks(&mut self, calls: &mut Calls) {
        if self.tasks_asked != TasksAsked::No {
            self.tasks_asked = TasksAsked::YesAndAgain;
            return;
        }
        self.tasks_asked = TasksAsked::Yes;
        let (client, params) = (self.lease.server.client.clone(), json!({ "sessionId": self.session }));
        calls.push(Box::pin(async move {
            match client.call("session.tasks.list", Some(params)).await {
                Ok(listed) => Outcome::Tasks(Some(tasks(&listed))),
                Err(error) => {
                    tracing::debug!(%error, "copilot does not say what it does on the side");
                    Outcome::Tasks(None)
                }
            }
        }));
    }

    async fn report(&mut self, outcome: Outcome, calls: &mut Calls) -> Result<(), NobodyListens> {
        match outcome {
            Outcome::Done => Ok(()),
            // A program that is gone has refused nothing; its end is told next.
            Outcome::PromptRefused(_) | Outcome::SteerRefused { .. } | Outcome::Refused(_)
                if !self.lease.server.is_alive() =>
            {
                Ok(())
            }
            Outcome::PromptRefused(error) => {
                let failure = classify(TITLE, &format!("Copilot did not take the prompt: {error}"), None);
                self.tell(AgentEvent::TurnFailed { failure }).await?;
                self.tell(AgentEvent::Idle).await
            }
            Outcome::SteerRefused { prompt, reason } => self.tell(AgentEvent::SteerRefused { prompt, reason }).await,
            Outcome::Refused(error) => {
                let message = format!("Copilot refused: {error}");
                self.tell(AgentEvent::Notice { kind: NoticeKind::Warning, message }).await
            }
            Outcome::Tasks(tasks) => {
                if std::mem::take(&mut self.tasks_asked) == TasksAsked::YesAndAgain {
                    self.ask_for_tasks(calls);
                }
                match tasks {
                    Some(tasks) if tasks != self.tasks => {
                        self.tasks.clone_from(&tasks);
                        self.tell(AgentEvent::BackgroundTasks(tasks)).await
                    }
                    _ => Ok(()),
                }
            }
        }
    }

    async fn tell(&self, event: AgentEvent) -> Result<(), NobodyListens> {
        self.events.send(event).await.map_err(|_| NobodyListens)
    }

    /// Ends a running turn and detaches; the program keeps the session on disk.
    async fn say_goodbye(self) {
        let server = &self.lease.server;
        if !server.tap.forget(&self.session, &self.incoming) {
            // Somebody has taken it up again already; what is said now would be meant for them.
            return;
        }
        let goodbye = async {
            for method in ["session.abort", "session.detach"] {
                let params = json!({ "sessionId": self.session });
                if let Err(error) = server.client.call(method, Some(params)).await {
                    tracing::debug!(method, %error, "copilot did not say goodbye");
                }
            }
        };
        if tokio::time::timeout(GOODBYE_WITHIN, goodbye).await.is_err() {
            tracing::warn!(session = %self.session, "copilot did not let go of a session in time");
        }
    }
}

/// Waits for news, where there may be some.
async fn changed(news: Option<&mut watch::Receiver<u64>>) {
    if let Some(news) = news
        && news.changed().await.is_ok()
    {
        return;
    }
    std::future::pending::<()>().await;
}

/// What runs beside the conversation: sub-agents and commands that the agent does not wait for.
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
