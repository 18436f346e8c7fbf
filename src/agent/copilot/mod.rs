//! The runtime `copilot`: GitHub's Copilot CLI (or `copilot-runtime`) over the SDK protocol, many sessions in one
//! supervised process.
//!
//! The official crate does the handshake and the calls; its event path drops events under a flood, so a tap in front of
//! it takes every event raw (`tap.rs` says how and why). Permissions and questions are answered by calls of our own, so
//! the crate's handlers are not used and no event has to reach it.

mod frames;
mod link;
mod program;
mod provider;
mod server;
mod tap;
mod translate;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex as SyncMutex;
use serde_json::{Value, json};
use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::CancellationToken;

use super::{
    AgentProcess, BoxFuture, Capabilities, Connection, Model, ModelList, Readiness, Runtime, StartError, StartSpec,
    SystemPromptSupport,
};
use link::Link;
use server::Server;
use translate::Translator;

use crate::process::Supervisor;

const EVENTS_IN_FLIGHT: usize = 1_024;
const COMMANDS_IN_FLIGHT: usize = 32;
/// How long the answer to "who is logged in" is good.
const LOGIN_GOOD_FOR: Duration = Duration::from_secs(30);
const LOGIN_HINT: &str = "Copilot is installed and nobody is logged in: run `copilot` once and log in, or set GH_TOKEN, \
    or use a model of your own with COPILOT_PROVIDER_BASE_URL and COPILOT_MODEL.";

/// The runtime `copilot`.
pub struct Copilot {
    capabilities: Capabilities,
    environment: BTreeMap<String, String>,
    supervisor: Supervisor,
    /// Kept once started: the next session or question is answered at once.
    server: Mutex<Option<Arc<Server>>>,
    login: SyncMutex<Option<(Instant, Result<(), String>)>>,
}

impl Copilot {
    /// The runtime's name.
    pub const NAME: &'static str = "copilot";

    /// Copilot as the given environment finds and configures it.
    pub fn new(environment: BTreeMap<String, String>, supervisor: Supervisor) -> Self {
        Self {
            capabilities: Capabilities {
                streaming: true,
                session_resume: true,
                mid_run_session_id: true,
                permissions: true,
                questions: true,
                interrupt: true,
                steering: true,
                effort_levels: ["none", "minimal", "low", "medium", "high", "xhigh", "max"].map(str::to_owned).to_vec(),
                model_discovery: true,
                model_switch: true,
                system_prompt: SystemPromptSupport::Message,
                usage_tokens: true,
                image_input: true,
                mcp: true,
                many_sessions_per_process: true,
                ..Capabilities::default()
            },
            environment,
            supervisor,
            server: Mutex::new(None),
            login: SyncMutex::new(None),
        }
    }

    /// The running program, started if need be.
    async fn server(&self) -> Result<Arc<Server>, StartError> {
        let mut current = self.server.lock().await;
        if let Some(server) = current.as_ref().filter(|server| server.is_alive()) {
            return Ok(Arc::clone(server));
        }
        let program = program::find(&self.environment).map_err(StartError::Permanent)?;
        if let Some(gone) = current.take() {
            // Its tools must not meet those of the next one.
            gone.end().await;
        }
        let server = Server::start(&program, self.environment.clone(), &self.supervisor).await?;
        *current = Some(Arc::clone(&server));
        Ok(server)
    }

    fn own_model(&self) -> Option<String> {
        provider::from_environment(&self.environment)?;
        self.environment.get("COPILOT_MODEL").filter(|model| !model.is_empty()).cloned()
    }

    /// Whether somebody is logged in; the answer is kept for a while, because asking may start the program.
    async fn login(&self) -> Result<(), String> {
        let known = self.login.lock().clone();
        if let Some((_, answer)) = known.filter(|(when, _)| when.elapsed() < LOGIN_GOOD_FOR) {
            return answer;
        }
        let answer = match self.server().await {
            Err(error) => Err(error.to_string()),
            Ok(server) => match server.client.call("auth.getStatus", Some(json!({}))).await {
                Ok(status) if status["isAuthenticated"] == json!(true) => Ok(()),
                Ok(_) => Err(LOGIN_HINT.to_owned()),
                Err(error) => Err(format!("Copilot could not say who is logged in: {error}")),
            },
        };
        *self.login.lock() = Some((Instant::now(), answer.clone()));
        answer
    }

    async fn open(&self, spec: StartSpec) -> Result<Connection, StartError> {
        let server = self.server().await?;
        let own_provider = provider::provider(&spec.options, &self.environment);
        let (session, method) = match &spec.agent_session_id {
            Some(id) => (id.clone(), "session.resume"),
            None => (uuid::Uuid::new_v4().to_string(), "session.create"),
        };
        // Listening first: nothing that the program says while it opens the session is missed.
        let incoming = server.tap.listen(&session);
        let params = session_params(&session, &spec, own_provider);
        if let Err(error) = server.client.call(method, Some(params)).await {
            server.tap.forget(&session);
            let text = error.to_string();
            return Err(if text.contains("Not authenticated") || text.contains("authentication") {
                StartError::NeedsLogin(LOGIN_HINT.to_owned())
            } else {
                StartError::Permanent(format!("Copilot could not open the session: {text}"))
            });
        }
        let (command_sender, commands) = mpsc::channel(COMMANDS_IN_FLIGHT);
        let (events, event_receiver) = mpsc::channel(EVENTS_IN_FLIGHT);
        let cancelled = CancellationToken::new();
        let pulse = Arc::clone(&server);
        let link = Link {
            server,
            session: session.clone(),
            events,
            incoming,
            translator: Translator::default(),
            questions: HashMap::new(),
        };
        let task = tokio::spawn(link.serve(commands, cancelled.clone()));
        Ok(Connection::new(command_sender, event_receiver, Some(session), task, cancelled).with_pulse(pulse))
    }
}

fn session_params(session: &str, spec: &StartSpec, provider: Option<Value>) -> Value {
    let mut params = json!({
        "sessionId": session,
        "clientName": "flightdeck",
        "streaming": true,
        "requestPermission": true,
        "requestUserInput": true,
        "requestElicitation": false,
        "requestExitPlanMode": false,
        "requestAutoModeSwitch": false,
        "hooks": false,
        "includeSubAgentStreamingEvents": true,
        "envValueMode": "direct",
    });
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            params[name] = value;
        }
    };
    put("model", (!spec.model.is_empty()).then(|| json!(spec.model)));
    put("reasoningEffort", spec.effort.as_ref().map(|effort| json!(effort)));
    put("workingDirectory", spec.working_directory.as_ref().map(|folder| json!(folder)));
    put("provider", provider);
    put("systemMessage", spec.system_prompt.as_ref().map(|text| json!({ "mode": "append", "content": text })));
    put("mcpServers", spec.options.get("mcpServers").cloned());
    params
}

impl Runtime for Copilot {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn readiness(&self) -> BoxFuture<'_, Readiness> {
        Box::pin(async move {
            let unready = |hint| Readiness { ready: false, hint };
            if let Err(hint) = program::find(&self.environment) {
                return unready(hint);
            }
            if provider::from_environment(&self.environment).is_some() {
                let hint = "GitHub Copilot with a model of your own (COPILOT_PROVIDER_BASE_URL).".to_owned();
                return Readiness { ready: true, hint };
            }
            match self.login().await {
                Ok(()) => Readiness { ready: true, hint: "GitHub Copilot, logged in.".to_owned() },
                Err(hint) => unready(hint),
            }
        })
    }

    fn models(&self) -> BoxFuture<'_, ModelList> {
        Box::pin(async move {
            if provider::from_environment(&self.environment).is_some() {
                return match self.own_model() {
                    Some(id) => ModelList::Known(vec![Model { name: id.clone(), id, multiplier: 1.0, hidden: false }]),
                    None => ModelList::Unknown { reason: "COPILOT_MODEL is not set".to_owned() },
                };
            }
            let listed = match self.server().await {
                Ok(server) => {
                    server.client.call("models.list", Some(json!({}))).await.map_err(|error| error.to_string())
                }
                Err(error) => Err(error.to_string()),
            };
            match listed {
                Ok(listed) => ModelList::Known(models(&listed)),
                Err(reason) => ModelList::Unknown { reason },
            }
        })
    }

    fn shut_down(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let server = self.server.lock().await.take();
            if let Some(server) = server {
                server.end().await;
            }
        })
    }

    fn processes(&self) -> Vec<AgentProcess> {
        // Locked while the program is started or ended: then there is nothing to say about it.
        let current = self.server.try_lock().ok().and_then(|current| current.clone());
        current.filter(|server| server.is_alive()).and_then(|server| server.figures()).into_iter().collect()
    }

    fn start(&self, spec: StartSpec) -> BoxFuture<'_, Result<Connection, StartError>> {
        Box::pin(self.open(spec))
    }
}

fn models(listed: &Value) -> Vec<Model> {
    let entries = listed["models"].as_array().cloned().unwrap_or_default();
    entries
        .iter()
        .filter_map(|entry| {
            let id = entry["id"].as_str()?.to_owned();
            let state = entry["policy"]["state"].as_str().unwrap_or("enabled");
            Some(Model {
                name: entry["name"].as_str().unwrap_or(&id).to_owned(),
                multiplier: entry["billing"]["multiplier"].as_f64().unwrap_or(1.0),
                hidden: state == "disabled",
                id,
            })
        })
        .collect()
}
