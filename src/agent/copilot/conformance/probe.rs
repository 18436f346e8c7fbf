//! One session of a check: what it is asked, what it sends, and what it is answered.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::rig::{QUIET, Rig};
use super::session_plan::SessionPlan;
use super::trace::Trace;
use super::within;
use crate::agent::copilot::transport::{FromProgram, Queue, Server, plain};
use crate::scripted_model::ModelCall;

pub(super) struct Probe<'a> {
    rig: &'a Rig,
    server: Arc<Server>,
    pub session: String,
    pub folder: PathBuf,
    /// A text that identifies the conversation.
    pub tag: String,
    queue: Option<Queue>,
    pub trace: Trace,
}

/// A message that may need an answer.
pub(super) enum Step {
    /// The hook before a tool; the id answers it.
    Hook {
        id: Box<RawValue>,
    },
    Permission {
        request: String,
    },
    Tool {
        request: String,
    },
    Idle,
    Other,
}

/// What the hook before a tool answers.
#[derive(Clone, Copy)]
pub(super) enum HookAnswer {
    Deny(&'static str),
    Allow,
    /// No output at all.
    Nothing,
}

impl HookAnswer {
    pub fn result(self) -> Value {
        match self {
            Self::Deny(reason) => {
                json!({ "output": { "permissionDecision": "deny", "permissionDecisionReason": reason } })
            }
            Self::Allow => json!({ "output": { "permissionDecision": "allow" } }),
            Self::Nothing => json!({}),
        }
    }
}

/// The same answers for a whole turn.
#[derive(Clone, Copy)]
pub(super) struct Answers {
    pub hook: HookAnswer,
    /// The result of every declared tool.
    pub tool: &'static str,
}

impl Answers {
    pub const DENY: Self = Self { hook: HookAnswer::Deny("denied by the conformance check"), tool: "unused" };
    pub const ALLOW: Self = Self { hook: HookAnswer::Allow, tool: "the result of the tool" };
    /// The hook says nothing, so that the permission request decides.
    pub const ASK: Self = Self { hook: HookAnswer::Nothing, tool: "the result of the tool" };
}

impl<'a> Probe<'a> {
    /// A new session of the shared process.
    pub async fn open(rig: &'a Rig, plan: &SessionPlan) -> Result<Self, String> {
        Self::open_at(rig, Arc::clone(&rig.server), plan).await
    }

    /// A new session of any process.
    pub async fn open_at(rig: &'a Rig, server: Arc<Server>, plan: &SessionPlan) -> Result<Self, String> {
        let id = uuid::Uuid::new_v4();
        let probe = Self {
            rig,
            queue: Some(server.tap.listen(&id.to_string())),
            server,
            session: id.to_string(),
            folder: rig.folder("work")?,
            tag: format!("conversation-{}", id.simple()),
            trace: Trace::default(),
        };
        probe.call("session.create", probe.opening(plan)).await?;
        Ok(probe)
    }

    /// The same session in another process, after the first one was killed.
    pub async fn resume_at(mut self, server: Arc<Server>, plan: &SessionPlan) -> Result<Self, String> {
        self.queue = Some(server.tap.listen(&self.session));
        self.server = server;
        self.trace = Trace::default();
        let mut params = self.opening(plan);
        params["continuePendingWork"] = json!(true);
        self.call("session.resume", params).await?;
        Ok(self)
    }

    fn opening(&self, plan: &SessionPlan) -> Value {
        let mut params = plan.parameters();
        for (name, value) in [
            ("sessionId", json!(self.session)),
            ("clientName", json!("flightdeck")),
            ("model", json!("scripted-model")),
            ("provider", self.rig.provider()),
            ("workingDirectory", json!(self.folder)),
            ("streaming", json!(true)),
            ("requestPermission", json!(true)),
            ("hooks", json!(true)),
            ("envValueMode", json!("direct")),
            // The CLI's store of all sessions keeps texts even after a session is deleted.
            ("enableSessionStore", json!(false)),
        ] {
            params[name] = value;
        }
        params
    }

    /// Calls a method of the program. The error is the program's own message.
    pub async fn call(&self, method: &'static str, params: Value) -> Result<Value, String> {
        let patience = self.rig.patience;
        match within(patience, self.server.client.call(method, Some(params))).await {
            Some(Ok(answer)) => Ok(answer),
            Some(Err(error)) => Err(format!("{method} failed: {}", plain(&error.to_string()))),
            None => Err(format!("no response to {method} within {}", humantime::format_duration(patience))),
        }
    }

    pub async fn send(&self, prompt: &str) -> Result<(), String> {
        let prompt = format!("{prompt}\n{}", self.tag);
        self.call("session.send", json!({ "sessionId": self.session, "prompt": prompt })).await.map(drop)
    }

    /// The next message. Hooks that no check is about are answered here.
    pub async fn step(&mut self) -> Result<Step, String> {
        let patience = self.rig.patience;
        self.step_within(patience).await?.ok_or_else(|| {
            let within = humantime::format_duration(patience);
            format!("nothing followed {} within {within}", self.trace.last_kind())
        })
    }

    /// The next message; `None` if there is none in that time.
    async fn step_within(&mut self, limit: Duration) -> Result<Option<Step>, String> {
        let queue = self.queue.as_mut().ok_or("the session was left")?;
        let message = match within(limit, queue.recv()).await {
            Some(Some(message)) => message,
            Some(None) => return Err(format!("the program exited: {}", self.server.exit_summary())),
            None => return Ok(None),
        };
        self.read(message).await.map(Some)
    }

    async fn read(&mut self, message: FromProgram) -> Result<Step, String> {
        match message {
            FromProgram::Dropped => Err("the program sent more than the check can hold".to_owned()),
            FromProgram::Request { id, method: "hooks.invoke", params } => {
                let params: Value = serde_json::from_str(params.get()).unwrap_or_default();
                if params["hookType"] != "preToolUse" {
                    self.server.tap.answer(&id, &json!({})).await;
                    return Ok(Step::Other);
                }
                self.trace.hook(&params);
                Ok(Step::Hook { id })
            }
            FromProgram::Request { id, .. } => {
                self.server.tap.answer(&id, &json!({})).await;
                Ok(Step::Other)
            }
            FromProgram::Event(event) => {
                let event: Value = serde_json::from_str(&event.text()).unwrap_or_default();
                let kind = text(&event["type"]);
                self.rig.kinds.lock().insert(kind.clone());
                if !self.trace.event(&event) {
                    return Ok(Step::Other);
                }
                let data = &event["data"];
                Ok(match kind.as_str() {
                    "permission.requested" => Step::Permission { request: text(&data["requestId"]) },
                    "external_tool.requested" => Step::Tool { request: text(&data["requestId"]) },
                    "session.idle" => Step::Idle,
                    _ => Step::Other,
                })
            }
        }
    }

    /// Waits for the hook before a tool, whose answer is kept back. Returns its id.
    pub async fn hook(&mut self) -> Result<Box<RawValue>, String> {
        loop {
            match self.step().await? {
                Step::Hook { id } => return Ok(id),
                Step::Idle => return Err("the turn ended without a call of the hook".to_owned()),
                _ => {}
            }
        }
    }

    /// Waits for a call of a declared tool, which then waits for its result. Returns its request.
    pub async fn held_tool(&mut self) -> Result<String, String> {
        loop {
            match self.step().await? {
                Step::Hook { id } => self.answer(&id, HookAnswer::Nothing).await,
                Step::Permission { request } => self.approve(&request).await?,
                Step::Tool { request } => return Ok(request),
                Step::Idle => return Err("the turn ended without a call of the declared tool".to_owned()),
                Step::Other => {}
            }
        }
    }

    pub async fn answer(&self, id: &RawValue, answer: HookAnswer) {
        self.server.tap.answer(id, &answer.result()).await;
    }

    pub async fn approve(&self, request: &str) -> Result<(), String> {
        let params = json!({ "sessionId": self.session, "requestId": request, "result": { "kind": "approve-once" } });
        self.call("session.permissions.handlePendingPermissionRequest", params).await.map(drop)
    }

    pub async fn give_result(&self, request: &str, result: &str) -> Result<(), String> {
        let params = json!({ "sessionId": self.session, "requestId": request, "result": result });
        let answer = self.call("session.tools.handlePendingToolCall", params).await?;
        if answer["success"] == json!(false) {
            return Err(format!("session.tools.handlePendingToolCall refused the result of {request}: {answer}"));
        }
        Ok(())
    }

    /// Sends a prompt and gives the same answers until the session is idle.
    pub async fn turn(&mut self, prompt: &str, answers: Answers) -> Result<(), String> {
        self.send(prompt).await?;
        self.until_idle(answers).await
    }

    pub async fn until_idle(&mut self, answers: Answers) -> Result<(), String> {
        loop {
            match self.step().await? {
                Step::Hook { id } => self.answer(&id, answers.hook).await,
                Step::Permission { request } => self.approve(&request).await?,
                Step::Tool { request } => self.give_result(&request, answers.tool).await?,
                Step::Idle => return Ok(()),
                Step::Other => {}
            }
        }
    }

    /// Notes everything that comes for a while, without answering anything. A slow program gets as long as it needs to
    /// respond to a ping, so that what it wanted to send has come.
    pub async fn linger(&mut self) -> Result<(), String> {
        let until = Instant::now() + QUIET;
        while let Some(left) = until.checked_duration_since(Instant::now()) {
            self.step_within(left).await?;
        }
        self.call("ping", json!({ "message": self.session })).await?;
        self.catch_up().await
    }

    /// Notes what has arrived already.
    pub async fn catch_up(&mut self) -> Result<(), String> {
        while let Some(message) = self.queue.as_mut().and_then(Queue::try_recv) {
            self.read(message).await?;
        }
        Ok(())
    }

    pub async fn destroy(&self) -> Result<(), String> {
        self.call("session.destroy", json!({ "sessionId": self.session })).await.map(drop)
    }

    /// The model calls of this conversation so far.
    pub fn calls(&self) -> Vec<ModelCall> {
        self.rig.calls(&self.tag)
    }

    /// The names of the tools in the first model call.
    pub fn offered(&self) -> Result<Vec<String>, String> {
        let tools = self.offered_tools()?;
        Ok(tools.iter().map(|tool| text(&tool["function"]["name"])).collect())
    }

    /// The tools in the first model call.
    pub fn offered_tools(&self) -> Result<Vec<Value>, String> {
        let calls = self.calls();
        let first = calls.first().ok_or("the model was not called")?;
        Ok(first.body["tools"].as_array().cloned().unwrap_or_default())
    }

    pub fn server(&self) -> &Server {
        &self.server
    }
}

impl Drop for Probe<'_> {
    fn drop(&mut self) {
        if let Some(queue) = self.queue.take() {
            self.server.tap.forget(&self.session, &queue);
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
