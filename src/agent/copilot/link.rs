//! One Copilot session: commands in, events out.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::server::Server;
use super::tap::FromProgram;
use super::translate::Translator;
use crate::agent::{AgentCommand, AgentEvent, RequestAnswer};
use crate::model::{Attachment, RequestBody};

/// How long the program may take to let go of a session.
const GOODBYE_WITHIN: Duration = Duration::from_secs(2);

pub(super) struct Link {
    pub server: Arc<Server>,
    pub session: String,
    pub events: mpsc::Sender<AgentEvent>,
    pub incoming: mpsc::Receiver<FromProgram>,
    pub translator: Translator,
    /// Questions of the program that wait for an answer, by their id as text.
    pub questions: HashMap<String, (Box<RawValue>, Vec<String>)>,
}

/// The session no longer listens.
struct NobodyListens;

type Calls = FuturesUnordered<BoxFuture<'static, Option<AgentEvent>>>;

impl Link {
    /// Serves until cancelled or until either side is gone, then lets the session go.
    pub async fn serve(mut self, mut commands: mpsc::Receiver<AgentCommand>, cancelled: CancellationToken) {
        let mut calls = Calls::new();
        loop {
            let heard = tokio::select! {
                () = cancelled.cancelled() => break,
                message = self.incoming.recv() => {
                    let Some(message) = message else {
                        let reason = format!("Copilot is gone: {}", self.server.last_words());
                        let _ = self.events.send(AgentEvent::Gone { reason }).await;
                        return;
                    };
                    self.hear(message).await
                }
                command = commands.recv() => match command {
                    Some(command) => { self.obey(command, &mut calls).await; Ok(()) }
                    None => break,
                },
                Some(outcome) = calls.next() => self.report(outcome).await,
            };
            if heard.is_err() {
                break;
            }
        }
        self.say_goodbye().await;
    }

    async fn hear(&mut self, message: FromProgram) -> Result<(), NobodyListens> {
        match message {
            FromProgram::Event(raw) => {
                for event in self.translator.translate(raw) {
                    self.tell(event).await?;
                }
                Ok(())
            }
            FromProgram::Request { id, method, params } => self.ask(id, &method, &params).await,
        }
    }

    async fn ask(&mut self, id: Box<RawValue>, method: &str, params: &RawValue) -> Result<(), NobodyListens> {
        tracing::debug!(session = %self.session, method, "copilot asks");
        let params: Value = serde_json::from_str(params.get()).unwrap_or_default();
        let choices: Vec<String> = params["choices"]
            .as_array()
            .map(|choices| choices.iter().filter_map(|choice| choice.as_str().map(str::to_owned)).collect())
            .unwrap_or_default();
        let question = params["question"].as_str().unwrap_or("Copilot has a question").to_owned();
        let agent_request_id = format!("question-{}", id.get().trim_matches('"'));
        let body = RequestBody::Question { question, choices: (!choices.is_empty()).then(|| choices.clone()) };
        self.questions.insert(agent_request_id.clone(), (id, choices));
        self.tell(AgentEvent::RequestMade { agent_request_id, body }).await
    }

    async fn obey(&mut self, command: AgentCommand, calls: &mut Calls) {
        match command {
            AgentCommand::Prompt { text, attachments, .. } => {
                self.call(calls, "session.send", prompt_params(&self.session, &text, &attachments, None), true);
            }
            AgentCommand::Steer { text, attachments } => {
                let params = prompt_params(&self.session, &text, &attachments, Some("immediate"));
                self.call(calls, "session.send", params, true);
            }
            AgentCommand::Interrupt => {
                // Whoever is asked something gets no answer any more, so the program must not wait for one.
                for (_, (id, _)) in self.questions.drain() {
                    self.server.tap.answer(&id, &json!({ "answer": "", "wasFreeform": true })).await;
                }
                self.call(calls, "session.abort", json!({ "sessionId": self.session }), false);
            }
            AgentCommand::Configure { model, effort } => {
                let mut params = json!({ "sessionId": self.session, "modelId": model });
                if let Some(effort) = effort {
                    params["reasoningEffort"] = json!(effort);
                }
                self.call(calls, "session.model.switchTo", params, false);
            }
            AgentCommand::Answer { agent_request_id, answer } => self.answer(&agent_request_id, answer, calls).await,
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
                self.call(calls, "session.permissions.handlePendingPermissionRequest", params, false);
            }
            RequestAnswer::Question(text) => {
                if let Some((id, choices)) = self.questions.remove(request) {
                    let text = text.unwrap_or_default();
                    let freeform = !choices.contains(&text);
                    self.server.tap.answer(&id, &json!({ "answer": text, "wasFreeform": freeform })).await;
                }
            }
        }
    }

    /// Begins a call; its failure is told when it comes. A prompt that is not taken ends its turn.
    fn call(&self, calls: &mut Calls, method: &'static str, params: Value, ends_turn: bool) {
        let client = self.server.client.clone();
        calls.push(Box::pin(async move {
            let error = client.call(method, Some(params)).await.err()?;
            tracing::warn!(method, %error, "copilot refused a call");
            ends_turn.then(|| AgentEvent::TurnFailed { message: format!("Copilot did not take the prompt: {error}") })
        }));
    }

    async fn report(&self, outcome: Option<AgentEvent>) -> Result<(), NobodyListens> {
        if let Some(failure) = outcome {
            self.tell(failure).await?;
            self.tell(AgentEvent::Idle).await?;
        }
        Ok(())
    }

    async fn tell(&self, event: AgentEvent) -> Result<(), NobodyListens> {
        self.events.send(event).await.map_err(|_| NobodyListens)
    }

    /// Ends a running turn and detaches; the program keeps the session on disk.
    async fn say_goodbye(self) {
        self.server.tap.forget(&self.session);
        let goodbye = async {
            for method in ["session.abort", "session.detach"] {
                let params = json!({ "sessionId": self.session });
                if let Err(error) = self.server.client.call(method, Some(params)).await {
                    tracing::debug!(method, %error, "copilot did not say goodbye");
                }
            }
        };
        if tokio::time::timeout(GOODBYE_WITHIN, goodbye).await.is_err() {
            tracing::warn!(session = %self.session, "copilot did not let go of a session in time");
        }
    }
}

fn prompt_params(session: &str, text: &str, attachments: &[Attachment], mode: Option<&str>) -> Value {
    let mut params = json!({ "sessionId": session, "prompt": text });
    if let Some(mode) = mode {
        params["mode"] = json!(mode);
    }
    if !attachments.is_empty() {
        params["attachments"] = attachments
            .iter()
            .map(|file| json!({ "type": "blob", "displayName": file.name, "mimeType": file.mime, "data": file.data }))
            .collect();
    }
    params
}
