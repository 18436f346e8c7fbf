//! One session of one agent: commands in, events out.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use agent_client_protocol_schema::v1::{CancelNotification, PromptRequest};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::agent::{Agent, decline};
use super::life::Life;
use super::open::{self, Opened, Wanted};
use super::permission::{self, Choices};
use super::prompt;
use super::replay::is_conversation;
use super::settings::AcpSettings;
use super::translate::{Translator, TurnEnd};
use super::wire::{Closed, Incoming, RpcError};
use crate::agent::failure::{Failure, classify};
use crate::agent::{AgentCommand, AgentEvent, RequestAnswer};
use crate::model::{Attachment, ErrorClass, NoticeKind, TurnId, redact};

/// How long an agent may take to end a turn when its session is closed.
const DETACH_WITHIN: Duration = Duration::from_secs(1);
/// How long the start of a call waits for the update with its input.
const CALLS_HELD_FOR: Duration = Duration::from_millis(200);

/// A pending call to the agent.
enum Asked {
    Prompt(Prompt),
    /// A change of a setting; the text names it.
    Setting(String),
}

#[derive(Clone)]
struct Prompt {
    turn_id: TurnId,
    text: String,
    attachments: Vec<Attachment>,
}

/// The state of the session on this connection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It has no prompts; the agent may not even store it.
    New,
    /// It was resumed and has had no prompt since: conversation updates are history.
    Restored,
    /// It has had a prompt.
    Asked,
}

struct Request {
    id: Box<RawValue>,
    choices: Choices,
}

pub(super) struct Link {
    pub settings: Arc<AcpSettings>,
    pub wanted: Wanted,
    pub events: mpsc::Sender<AgentEvent>,
    pub life: Arc<Life>,
    agent: Agent,
    /// It was idle for so long that the session was asked to reconnect.
    is_given_up: bool,
    idle_since: Instant,
    session: String,
    translator: Translator,
    asked: HashMap<String, Asked>,
    requests: HashMap<String, Request>,
    requests_made: u64,
    stage: Stage,
    /// Notices about how the session was opened.
    notes: Vec<String>,
    /// Text to put before the next prompt, for an agent without another way to take it.
    preamble: Option<String>,
    calls_held_since: Option<Instant>,
}

/// Why the link stops.
enum End {
    /// The session closed its end of the channel.
    SessionClosed,
    /// The agent is no longer usable.
    Gone(String),
}

impl From<Closed> for End {
    fn from(_: Closed) -> Self {
        Self::Gone("it no longer accepts messages".to_owned())
    }
}

impl Link {
    pub fn new(
        settings: Arc<AcpSettings>,
        wanted: Wanted,
        events: mpsc::Sender<AgentEvent>,
        opened: Opened,
    ) -> (Self, Vec<Incoming>) {
        let Opened { agent, session, offers, early, notes, .. } = opened;
        let is_new = wanted.spec.agent_session_id.is_none();
        let preamble = wanted.spec.system_prompt.clone().filter(|text| is_new && !text.is_empty());
        let link = Self {
            translator: Translator::new(agent.about.is_copilot(), offers),
            settings,
            wanted,
            events,
            life: Arc::clone(&agent.life),
            agent,
            is_given_up: false,
            idle_since: Instant::now(),
            session,
            asked: HashMap::new(),
            requests: HashMap::new(),
            requests_made: 0,
            stage: if is_new { Stage::New } else { Stage::Restored },
            notes,
            preamble,
            calls_held_since: None,
        };
        (link, early)
    }

    /// Runs until cancelled or until either side is gone, then stops the agent.
    pub async fn serve(
        mut self,
        early: Vec<Incoming>,
        mut commands: mpsc::Receiver<AgentCommand>,
        cancelled: CancellationToken,
    ) {
        let mut end = None;
        for message in std::mem::take(&mut self.notes) {
            end = self.warn(message).await.err().or(end);
        }
        for incoming in early {
            if let Err(ended) = self.receive(incoming).await {
                end = Some(ended);
                break;
            }
        }
        while end.is_none() {
            let calls_due = self.calls_held_since.map(|since| since + CALLS_HELD_FOR);
            let rest_due = self.rest_due();
            let step = tokio::select! {
                () = cancelled.cancelled() => Err(End::SessionClosed),
                incoming = self.agent.wire.incoming.recv() => match incoming {
                    Some(incoming) => self.receive(incoming).await,
                    None => Err(End::Gone(self.agent.life.exit_summary().await)),
                },
                command = commands.recv() => match command {
                    Some(command) => self.handle_command(command).await,
                    None => Err(End::SessionClosed),
                },
                () = tokio::time::sleep_until(calls_due.unwrap_or_else(Instant::now)), if calls_due.is_some() => {
                    let events = self.translator.start_calls();
                    self.emit_all(events).await
                }
                () = tokio::time::sleep_until(rest_due.unwrap_or_else(Instant::now)), if rest_due.is_some() => {
                    tracing::info!(agent = %self.settings.title, session = %self.session, "stopped an idle agent; it restarts with the next prompt");
                    self.is_given_up = true;
                    self.emit(AgentEvent::Outdated).await
                }
            };
            end = step.err();
        }
        if let Some(End::Gone(words)) = end {
            let reason = format!("{} is gone: {words}", self.settings.title);
            let _ = self.events.send(AgentEvent::Gone { reason }).await;
            self.agent.end().await;
        } else {
            self.detach().await;
        }
    }

    /// When to stop the idle process; never if it could not be resumed.
    fn rest_due(&self) -> Option<Instant> {
        let is_idle = self.asked.is_empty() && !self.is_given_up && self.agent.about.loads;
        self.settings.end_when_idle.filter(|_| is_idle && self.stage != Stage::New).map(|idle| self.idle_since + idle)
    }

    async fn receive(&mut self, incoming: Incoming) -> Result<(), End> {
        match incoming {
            Incoming::Update { session, update } if session != self.session => {
                // Logged only, because it concerns another session.
                tracing::debug!(%session, update = update.get().len(), "the agent sent an update for another session");
                let raw = RawValue::NULL.to_owned();
                self.emit(AgentEvent::Unknown { kind: "update of another session".to_owned(), raw }).await
            }
            Incoming::Update { update, .. } if self.stage == Stage::Restored && is_conversation(&update) => Ok(()),
            Incoming::Update { update, .. } => {
                let events = self.translator.translate(update);
                self.emit_all(events).await
            }
            Incoming::Notification { method, params } => {
                self.emit(AgentEvent::Unknown { kind: method, raw: params }).await
            }
            Incoming::Request { id, method, params } => self.ask(id, &method, &params).await,
            Incoming::Response { id, outcome } => match self.asked.remove(&id) {
                Some(Asked::Prompt(prompt)) => self.on_turn_over(prompt, outcome).await,
                Some(Asked::Setting(what)) => match outcome {
                    Ok(answer) => {
                        let answer: Value = serde_json::from_str(answer.get()).unwrap_or_default();
                        self.translator.offers.learn_options(&answer["configOptions"]);
                        Ok(())
                    }
                    Err(error) => {
                        let message = format!("{} rejected {what}: {error}", self.settings.title);
                        self.warn(message).await
                    }
                },
                None => {
                    tracing::debug!(%id, "the agent sent a response with an unknown id");
                    Ok(())
                }
            },
            Incoming::TooLong { bytes } => {
                let kind = NoticeKind::Limit;
                let message =
                    format!("Skipped a message of {bytes} bytes from {}: it is too long.", self.settings.title);
                self.emit(AgentEvent::Notice { kind, message }).await
            }
        }
    }

    async fn ask(&mut self, id: Box<RawValue>, method: &str, params: &RawValue) -> Result<(), End> {
        let params: Value = serde_json::from_str(params.get()).unwrap_or_default();
        let is_running = self.asked.values().any(|asked| matches!(asked, Asked::Prompt(_)));
        if method != "session/request_permission" || params["sessionId"] != self.session.as_str() || !is_running {
            tracing::debug!(method, "the agent sent an unsupported request");
            decline(&self.agent.wire.sender, &id, method);
            return Ok(());
        }
        let events = self.translator.start_calls();
        self.emit_all(events).await?;
        let (body, choices) = permission::request(&self.settings.title, &params);
        self.requests_made += 1;
        // The agent may reuse an id once it is answered.
        let agent_request_id = format!("{}-{}", self.requests_made, id.get().trim_matches('"'));
        self.requests.insert(agent_request_id.clone(), Request { id, choices });
        self.emit(AgentEvent::RequestMade { agent_request_id, body }).await
    }

    async fn handle_command(&mut self, command: AgentCommand) -> Result<(), End> {
        match command {
            AgentCommand::Prompt { turn_id, text, attachments } => {
                let text = match self.preamble.take() {
                    Some(preamble) => format!("<system>\n{preamble}\n</system>\n\n{text}"),
                    None => text,
                };
                let prompt = Prompt { turn_id: turn_id.clone(), text, attachments };
                // One more arrived in time.
                self.is_given_up = false;
                self.send_prompt(prompt).await?;
                self.emit(AgentEvent::TurnStarted { turn_id }).await
            }
            AgentCommand::Steer { prompt, .. } => {
                let reason = format!("{} does not accept input during a turn", self.settings.title);
                self.emit(AgentEvent::SteerRefused { prompt, reason }).await
            }
            AgentCommand::Interrupt => {
                // Pending requests are no longer answered, so the agent must not wait for them.
                for (_, request) in self.requests.drain() {
                    self.agent.wire.sender.answer(&request.id, &permission::cancelled())?;
                }
                // Without a pending prompt, the turn has ended and its end was reported. Another end would end the next
                // turn.
                if self.asked.values().any(|asked| matches!(asked, Asked::Prompt(_))) {
                    self.cancel()?;
                }
                Ok(())
            }
            AgentCommand::Answer { agent_request_id, answer } => self.answer(&agent_request_id, &answer),
            // The agent asks each time, and the session answers.
            AgentCommand::Suspend | AgentCommand::Permit(_) | AgentCommand::AnswerTools(_) => Ok(()),
            AgentCommand::Configure { model, effort } => {
                if !model.is_empty() {
                    let (method, params) = self.translator.offers.choose_model(&self.session, &model);
                    let id = self.agent.wire.call(method, &params)?;
                    self.asked.insert(id, Asked::Setting(format!("the model {model}")));
                    self.wanted.model = model;
                }
                if let Some(effort) = effort
                    && let Some((method, params)) = self.translator.offers.choose_effort(&self.session, &effort)
                {
                    let id = self.agent.wire.call(method, &params)?;
                    self.asked.insert(id, Asked::Setting(format!("the effort {effort}")));
                }
                Ok(())
            }
        }
    }

    async fn send_prompt(&mut self, prompt: Prompt) -> Result<(), End> {
        self.stage = Stage::Asked;
        let (blocks, left_out) = prompt::blocks(prompt.text.clone(), &prompt.attachments, &self.agent.about);
        let params = PromptRequest::new(self.session.clone(), blocks);
        let id = self.agent.wire.call("session/prompt", &params)?;
        self.asked.insert(id, Asked::Prompt(prompt));
        if left_out.is_empty() {
            return Ok(());
        }
        let message = format!("{} does not accept: {}.", self.settings.title, left_out.join(", "));
        self.warn(message).await
    }

    fn answer(&mut self, request: &str, answer: &RequestAnswer) -> Result<(), End> {
        if let Some(Request { id, choices }) = self.requests.remove(request) {
            self.agent.wire.sender.answer(&id, &choices.outcome(answer))?;
        }
        Ok(())
    }

    fn cancel(&self) -> Result<(), Closed> {
        self.agent.wire.sender.notify("session/cancel", &CancelNotification::new(self.session.clone()))
    }

    async fn on_turn_over(&mut self, prompt: Prompt, outcome: Result<Box<RawValue>, RpcError>) -> Result<(), End> {
        // The agent ended its turn without them.
        for (agent_request_id, request) in std::mem::take(&mut self.requests) {
            self.agent.wire.sender.answer(&request.id, &permission::cancelled())?;
            self.emit(AgentEvent::RequestWithdrawn { agent_request_id }).await?;
        }
        let turn_id = prompt.turn_id.clone();
        match outcome {
            Ok(answer) => {
                let answer: Value = serde_json::from_str(answer.get()).unwrap_or_default();
                let stop_reason = answer["stopReason"].as_str().unwrap_or("end_turn");
                let events = self.translator.end_turn(&TurnEnd { stop_reason, usage: &answer["usage"] });
                self.emit_all(events.into_iter().map(|event| self.about_login(event)).collect()).await?;
            }
            Err(error) => {
                let events = self.translator.end_turn(&TurnEnd { stop_reason: "error", usage: &Value::Null });
                self.emit_all(events).await?;
                tracing::warn!(
                    session = %self.wanted.spec.owner, agent_session = %self.session, agent = %self.settings.name,
                    method = "session/prompt", code = error.code, error = %redact(&error.message),
                    "a call to the agent failed"
                );
                if error.wants_login() {
                    self.authenticate().await;
                }
                let (name, logins) = (&self.settings.title, &self.agent.about.logins);
                let failure = if error.wants_login() {
                    Failure::with_message(ErrorClass::Auth, &open::login_hint(&self.settings, logins, &error))
                        .that_wants_login()
                } else {
                    classify(name, &format!("{name} could not finish the prompt: {error}"), None)
                };
                self.emit(AgentEvent::TurnFailed { failure }).await?;
            }
        }
        self.idle_since = Instant::now();
        self.emit(AgentEvent::TurnEnded { turn_id }).await?;
        self.emit(AgentEvent::Idle).await
    }

    /// Lets the agent renew its credentials, if it has one way to do so: the process that the session starts next reads
    /// them.
    async fn authenticate(&mut self) {
        let configured = Some(self.settings.auth_method.clone()).filter(|method| !method.is_empty());
        let Some(method) = configured.or_else(|| self.agent.about.login_method.clone()) else { return };
        if let Err(error) = self.agent.authenticate(&method, &mut |_| {}).await {
            tracing::warn!(
                session = %self.wanted.spec.owner, agent_session = %self.session, agent = %self.settings.name,
                method = "authenticate", code = error.code(), error = %redact(&error.to_string()),
                "a call to the agent failed"
            );
        }
    }

    /// Marks a failure as fixable by a login: Copilot reports a missing GitHub login only as text. The user's own model
    /// has API keys instead.
    fn about_login(&self, event: AgentEvent) -> AgentEvent {
        match event {
            AgentEvent::TurnFailed { failure } if self.wanted.uses_github && failure.class == ErrorClass::Auth => {
                AgentEvent::TurnFailed { failure: failure.that_wants_login() }
            }
            event => event,
        }
    }

    async fn warn(&self, message: String) -> Result<(), End> {
        self.emit(AgentEvent::Notice { kind: NoticeKind::Warning, message }).await
    }

    async fn emit_all(&mut self, events: Vec<AgentEvent>) -> Result<(), End> {
        self.calls_held_since =
            self.translator.holds_calls().then(|| self.calls_held_since.unwrap_or_else(Instant::now));
        for event in events {
            // They should not be repeated after each restart.
            let is_old = matches!(&event, AgentEvent::Notice { kind, .. } if *kind == NoticeKind::Commands);
            if !(is_old && self.stage == Stage::Restored) {
                self.emit(event).await?;
            }
        }
        Ok(())
    }

    async fn emit(&self, event: AgentEvent) -> Result<(), End> {
        self.events.send(event).await.map_err(|_| End::SessionClosed)
    }

    /// Ends a running turn, then the agent. The agent keeps the session on disk.
    async fn detach(mut self) {
        let prompts = |asked: &Asked| matches!(asked, Asked::Prompt(_));
        let running = self.asked.iter().find(|(_, asked)| prompts(asked)).map(|(id, _)| id.clone());
        if let Some(id) = running
            && self.cancel().is_ok()
        {
            let over = async {
                while let Some(incoming) = self.agent.wire.incoming.recv().await {
                    match incoming {
                        Incoming::Response { id: answered, .. } if answered == id => return,
                        Incoming::Request { id, method, .. } => decline(&self.agent.wire.sender, &id, &method),
                        _ => {}
                    }
                }
            };
            if tokio::time::timeout(DETACH_WITHIN, over).await.is_err() {
                tracing::debug!(session = %self.session, "the agent did not end its turn in time");
            }
        }
        self.agent.end().await;
    }
}
