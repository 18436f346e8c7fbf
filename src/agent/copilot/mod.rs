//! The runtime `copilot`: GitHub's Copilot CLI (or `copilot-runtime`) over the SDK protocol, many sessions in one
//! supervised process.
//!
//! The official crate performs the handshake and the calls. Its event path drops events under load, so a tap in front
//! of it reads every event raw (see `transport/tap.rs`). Permissions and questions are answered with our own calls, so
//! the crate's handlers are not used and no event has to reach it.
//!
//! `transport` manages the processes and the protocol, `translation` translates messages without I/O, `account` handles
//! logins and providers, and `link` combines the three for one session.

mod account;
mod conformance;
mod history;
mod link;
pub(in crate::agent) mod mcp;
pub(in crate::agent) mod options;
mod outbox;
mod parameters;
mod preflight;
mod program;
pub(in crate::agent) mod recording;
mod scripted;
mod settings;
mod stream;
mod translation;
mod transport;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

pub use account::check_provider;
pub(in crate::agent) use scripted::spec_of_cli_for_model_at;
pub use settings::{ConfiguredProvider, CopilotSettings};
pub use stream::{SdkReader, relay};
pub(in crate::agent) use translation::Translator;
pub use translation::{EventUse, known_event_use};

use super::{
    AgentFork, AgentProcess, BoxFuture, Capabilities, Capability, Channel, ConformanceReport, Connection, Freshness,
    Liveness as _, Login, LoginState, LoginStatus, ModelList, ModelNames, OwnSessions, Owner, Pending, ProcessUse,
    Readiness, Restored, Runtime, SessionOption, StartError, StartSpec, SystemPromptSupport, ToolAccess,
};
use crate::agent::program::FoundProgram;
use crate::model::{Check, Provider, ProviderChoice, SessionOptions, WireApi};
use account::{Answer, Authentication, DeviceLogin, Models, Route, Router, provider};
use history::History;
use link::{Asked, Barriers, Commands, Link, ModelChange, Pace};
use options::CopilotOptions;
use outbox::Outbox;
use transport::{Opening, Server, Servers, SharedLiveness, plain};

/// The agent's name in error messages.
const TITLE: &str = "Copilot";
const EVENTS_IN_FLIGHT: usize = 1_024;
const COMMANDS_IN_FLIGHT: usize = 32;
/// How long to check whether a program that did not open a session is alive.
const PROBE_WITHIN: Duration = Duration::from_secs(5);
/// Copilot's errors for a session that it cannot resume.
const LOST: [&str; 4] = ["session not found", "corrupted", "failed to load session events", "failed to read jsonl"];
pub(in crate::agent) const LOGIN_HINT: &str = "Copilot is installed but not logged in: log in from the page or with `copilot login`, set \
    GH_TOKEN, or use your own model with COPILOT_PROVIDER_BASE_URL and COPILOT_MODEL.";

/// The runtime `copilot`.
pub struct Copilot {
    capabilities: Capabilities,
    settings: Arc<CopilotSettings>,
    servers: Arc<Servers>,
    /// The program of captures: what a flood or a crash of theirs does to it does not concern the user's sessions.
    capture_servers: Arc<Servers>,
    /// The number of the last login that the captures' program may know of.
    capture_login: AtomicU64,
    authentication: Arc<Authentication>,
    models: Models,
    login: DeviceLogin,
    history: History,
}

impl Copilot {
    /// The runtime's name.
    pub const NAME: &'static str = "copilot";

    /// A runtime with the given settings.
    pub fn new(settings: CopilotSettings) -> Self {
        let servers = Arc::new(Servers::new(settings.clone()));
        let capture_servers = Arc::new(Servers::new(settings.clone()));
        let authentication = Arc::new(Authentication::new());
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
                model_names: ModelNames::Copilot,
                system_prompt: SystemPromptSupport::Message,
                usage_tokens: true,
                usage_premium_requests: true,
                usage_credits: true,
                image_input: true,
                custom_tools: true,
                pre_tool_hook: true,
                mcp: true,
                many_sessions_per_process: true,
                processes: ProcessUse::Shared,
                model_retries: true,
                durable_requests: true,
                fork: true,
                ..Capabilities::default()
            },
            models: Models::new(settings.clone()),
            login: DeviceLogin::new(settings.clone(), Arc::clone(&servers), Arc::clone(&authentication)),
            history: History { servers: Arc::clone(&servers) },
            settings: Arc::new(settings),
            servers,
            capture_servers,
            capture_login: AtomicU64::new(0),
            authentication,
        }
    }

    /// Whether sessions can run without a GitHub login, because the user's own provider offers models.
    fn has_own_provider(&self) -> bool {
        provider::is_in_environment(&self.settings.environment)
            || self.settings.providers.values().any(|provider| !provider.models.is_empty())
    }

    /// The full CLI, which supports more than the SDK protocol, or what to do if it is missing.
    pub(in crate::agent) async fn cli(&self) -> Result<FoundProgram, String> {
        let program = self.servers.programs.find().await?;
        if program::is_whole_cli(&program) {
            return Ok(program);
        }
        Err(format!(
            "{} is only the SDK server, which supports neither ACP nor JSON lines: run `{}` for the full CLI",
            program.path.display(),
            program::INSTALL_COMMAND
        ))
    }

    /// The providers that a session may name.
    pub(in crate::agent) fn provider_option(&self) -> SessionOption {
        SessionOption::provider(self.settings.providers.keys())
    }

    /// Whether the program is installed.
    pub(in crate::agent) async fn is_installed(&self) -> bool {
        self.servers.programs.find().await.is_ok()
    }

    /// Searches for the program again, without cached results.
    pub(in crate::agent) fn look_again(&self) {
        self.servers.programs.look_again();
    }

    /// Returns a session's model and adds its provider to an environment.
    pub(in crate::agent) fn provide(
        &self,
        spec: &StartSpec,
        environment: &mut BTreeMap<String, String>,
    ) -> Result<String, StartError> {
        let route = provider::route(spec, &self.settings.providers, &spec.environment)?;
        if let Some(provider) = &route.provider {
            provider::into_environment(provider, environment);
        }
        Ok(route.model)
    }

    /// Like [`Self::provide`], after checking for a missing login.
    pub(in crate::agent) async fn provide_logged_in(
        &self,
        spec: &StartSpec,
        environment: &mut BTreeMap<String, String>,
    ) -> Result<String, StartError> {
        self.check_login(&provider::route(spec, &self.settings.providers, &spec.environment)?).await?;
        self.provide(spec, environment)
    }

    /// Whether a session uses GitHub's models.
    pub(in crate::agent) fn uses_login(&self, spec: &StartSpec) -> bool {
        provider::route(spec, &self.settings.providers, &spec.environment).is_ok_and(|route| route.provider.is_none())
    }

    async fn check_login(&self, route: &Route) -> Result<(), StartError> {
        if route.provider.is_some() {
            return Ok(());
        }
        // The program would open the session and fail the first prompt.
        let is_out = |answer: Answer| answer == Answer::LoggedOut;
        // Queried again, because the user may have logged in since. Other problems show up in the next step.
        if is_out(self.authentication.recent(&self.servers).await)
            && is_out(self.authentication.ask_new_server(&self.servers).await)
        {
            return Err(StartError::NeedsLogin(LOGIN_HINT.to_owned()));
        }
        Ok(())
    }

    /// The programs of an owner. A program that was started before a login does not see it; that of the sessions is
    /// replaced with the login itself.
    async fn servers_for(&self, owner: Owner) -> &Arc<Servers> {
        if owner != Owner::Capture {
            return &self.servers;
        }
        let login = *self.authentication.changes().borrow();
        if self.capture_login.swap(login, Ordering::Relaxed) != login {
            self.capture_servers.renew().await;
        }
        &self.capture_servers
    }

    async fn open(&self, spec: StartSpec) -> Result<Connection, StartError> {
        let options = CopilotOptions::read(&spec.options).map_err(StartError::Permanent)?;
        let route = provider::route(&spec, &self.settings.providers, &self.settings.environment)?;
        // Subscribed before the query, so that no login in between is missed.
        let logins = route.provider.is_none().then(|| self.authentication.changes());
        self.check_login(&route).await?;
        let new_session = || spec.new_session_id.clone().unwrap_or_else(|| uuid::Uuid::new_v4().to_string());
        let (session, method) = match &spec.agent_session_id {
            Some(id) => (id.clone(), "session.resume"),
            None => (new_session(), "session.create"),
        };
        let servers = self.servers_for(spec.owner).await;
        let mut opening = Opening::new(servers.lease().await?, session);
        self.check_conformance(&spec, &opening.lease().server.version)?;
        // Nobody else knows of a captured session, and a killed program may still count as its user.
        if spec.agent_session_id.is_some() && spec.owner != Owner::Capture {
            self.check_nobody_else_has_it(&opening).await?;
        }
        let params = parameters::session(&opening.session, &spec, &options, &route, &self.settings.mcp_servers);
        let opened = tokio::time::timeout(self.settings.hello_within, opening.ask(method, params)).await;
        let (session, server) = (opening.session.clone(), Arc::clone(&opening.lease().server));
        let liveness = SharedLiveness { servers: Arc::clone(servers), server: Arc::clone(&server) };
        let Ok(opened) = opened else {
            if !liveness.probe(PROBE_WITHIN).await {
                // The next session would wait for it in vain as well.
                liveness.abandon().await;
            }
            let within = humantime::format_duration(self.settings.hello_within);
            return Err(StartError::Temporary(format!("Copilot did not open the session within {within}")));
        };
        let opened = opened.map_err(|error| why_not_opened(&error.to_string(), &server, &spec))?;
        let mode = opened["mode"].as_str().unwrap_or_default().to_owned();
        if let Some(mode) = &options.mode {
            let params = json!({ "sessionId": session, "mode": mode });
            server
                .ask_with("session.mode.set", params)
                .await
                .map_err(|error| StartError::Permanent(format!("Copilot rejected options.mode {mode:?}: {error}")))?;
        }
        let restored = match &spec.agent_session_id {
            // The record of a turn that continues has no end yet.
            Some(_) if spec.suspended.is_some() => Restored::Whole,
            Some(_) => history::restored(&server, &session).await,
            None => Restored::New,
        };
        let pending = match &spec.suspended {
            Some(_) if spec.tools.as_ref().is_none_or(|declared| !declared.access.is_model_only()) => {
                pending_requests(&server, &session).await
            }
            // Whether it still waits for the result of a declared tool is known when it gets one.
            _ => Pending::default(),
        };
        let is_working = spec.suspended.is_some();
        let is_a_persons = matches!(spec.owner, Owner::Session(_))
            && !spec.tools.as_ref().is_some_and(|tools| tools.access.is_model_only());
        let (command_sender, commands) = mpsc::channel(COMMANDS_IN_FLIGHT);
        let (events, event_receiver) = mpsc::channel(EVENTS_IN_FLIGHT);
        let cancelled = CancellationToken::new();
        let (lease, incoming) = opening.into_parts();
        let discarded = Arc::new(AtomicBool::new(false));
        let link = Link {
            lease,
            servers: Arc::clone(servers),
            barriers: spec.tools.as_ref().map(Barriers::new),
            discarded: Arc::clone(&discarded),
            session: session.clone(),
            router: Router { settings: Arc::clone(&self.settings), spec, provider: route.provider },
            logins,
            outbox: Outbox::new(events),
            incoming,
            pace: Pace::default(),
            is_working,
            is_suspended: false,
            times_continued: 0,
            translated: Vec::new(),
            translator: Translator::in_mode(mode),
            questions: HashMap::new(),
            tasks: Vec::new(),
            tasks_asked: Asked::default(),
            commands: Commands::offered(is_a_persons),
            model_change: ModelChange::default(),
        };
        let task = tokio::spawn(link.serve(commands, cancelled.clone()));
        Ok(Connection::new(command_sender, event_receiver, Some(session), task, cancelled)
            .with_liveness(Arc::new(liveness))
            .with_restored(restored)
            .with_pending(pending)
            .with_discarded(discarded))
    }

    /// A version that failed a check is not used for what rests on it.
    fn check_conformance(&self, spec: &StartSpec, version: &str) -> Result<(), StartError> {
        let capability = match spec.tools.as_ref().map(|declared| declared.access) {
            Some(ToolAccess::OnlyHeld) => Capability::Hold,
            Some(ToolAccess::OnlyDenied) => Capability::Destroy,
            Some(ToolAccess::Beside) | None => return Ok(()),
        };
        let Some(results) = &self.settings.conformance else { return Ok(()) };
        results.allows(Self::NAME, version, capability).map_err(StartError::NotConformant)
    }

    /// Checks whether the session is open elsewhere, for example in a terminal, because two writers would corrupt it.
    async fn check_nobody_else_has_it(&self, opening: &Opening) -> Result<(), StartError> {
        // Another process of ours may still be closing it, and the response does not name the holder.
        if self.servers.all().len() > 1 {
            return Ok(());
        }
        let params = json!({ "sessionIds": [opening.session] });
        match opening.lease().server.ask_with("sessions.checkInUse", params).await {
            Ok(answer) if is_among(&opening.session, &answer["inUse"]) => Err(StartError::Temporary(format!(
                "the session {} is open in another Copilot, perhaps in a terminal; close it there first",
                opening.session
            ))),
            Ok(_) => Ok(()),
            Err(error) => {
                // Older versions do not support this call.
                tracing::debug!(%error, "copilot cannot report whether a session is in use");
                Ok(())
            }
        }
    }

    async fn readiness(&self) -> Readiness {
        let program = match self.servers.programs.find().await {
            Ok(program) => program,
            Err(hint) => {
                let login = LoginStatus { state: LoginState::Unknown, who: None, can_log_in: false };
                // An install does not help where the configuration or a variable names another program.
                let install = (!self.servers.programs.is_named()).then(|| program::INSTALL_COMMAND.to_owned());
                return Readiness { ready: false, hint, login, program: None, install };
            }
        };
        let can_log_in = program::is_whole_cli(&program);
        let quarantine = self.settings.quarantine.reason(Self::NAME, program.version.as_deref());
        let answer = if provider::is_in_environment(&self.settings.environment) {
            None
        } else {
            Some(self.authentication.recent(&self.servers).await)
        };
        let (state, who, hint) = match answer {
            None => {
                let hint = "GitHub Copilot with your own model (COPILOT_PROVIDER_BASE_URL).";
                (LoginState::OwnProvider, None, hint.to_owned())
            }
            Some(Answer::LoggedIn { who }) => {
                let name = who.as_deref().map(|who| format!(" as {who}")).unwrap_or_default();
                (LoginState::LoggedIn, who, format!("GitHub Copilot, logged in{name}."))
            }
            Some(Answer::LoggedOut) => (LoginState::LoggedOut, None, LOGIN_HINT.to_owned()),
            Some(Answer::Unknown(reason)) => (LoginState::Unknown, None, reason),
        };
        let is_usable = matches!(state, LoginState::LoggedIn | LoginState::OwnProvider)
            || (state == LoginState::LoggedOut && self.has_own_provider());
        Readiness {
            ready: is_usable && quarantine.is_none(),
            hint: quarantine.unwrap_or(hint),
            login: LoginStatus { state, who, can_log_in },
            program: Some(program),
            install: None,
        }
    }
}

/// The permission requests that the program still waits for.
async fn pending_requests(server: &Server, session: &str) -> Pending {
    match server.ask_with("session.permissions.pendingRequests", json!({ "sessionId": session })).await {
        Ok(answer) => {
            let ids =
                answer["items"].as_array().into_iter().flatten().filter_map(|request| request["requestId"].as_str());
            Pending::Only(ids.map(str::to_owned).collect())
        }
        Err(error) => {
            // Without the list, an answer that the program rejects says so.
            tracing::warn!(session, %error, "copilot cannot list its pending requests");
            Pending::All
        }
    }
}

/// Whether a list of ids contains this one.
fn is_among(id: &str, ids: &Value) -> bool {
    ids.as_array().is_some_and(|ids| ids.iter().any(|listed| listed == id))
}

/// Converts a failed call into a start error.
fn why_not_opened(error: &str, server: &Server, spec: &StartSpec) -> StartError {
    let text = plain(error);
    if !server.is_alive() {
        StartError::Temporary(format!("Copilot exited: {}", server.exit_summary()))
    } else if ["Not authenticated", "Authentication failed", "authentication"].iter().any(|sign| text.contains(sign)) {
        StartError::NeedsLogin(format!("{LOGIN_HINT} ({text})"))
    } else if spec.agent_session_id.is_some() && is_lost(&text) {
        StartError::SessionLost(text)
    } else {
        StartError::Permanent(format!("Copilot could not open the session: {text}"))
    }
}

/// The official crate and the program use different capitalization for the same error.
fn is_lost(error: &str) -> bool {
    let error = error.to_lowercase();
    LOST.iter().any(|sign| error.contains(sign))
}

impl Runtime for Copilot {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn title(&self) -> &'static str {
        "GitHub Copilot"
    }

    fn channel(&self) -> Option<Channel> {
        Some(Channel {
            name: "SDK",
            hint: "One process for all sessions. It asks before it acts, and open requests survive a restart.",
        })
    }

    fn session_options(&self) -> Vec<SessionOption> {
        let servers = SessionOption::mcp_servers(self.settings.mcp_servers.keys());
        let mut options = options::session_options();
        options.extend([self.provider_option(), servers]);
        options
    }

    fn program_changed(&self) {
        self.look_again();
        self.authentication.forget();
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn readiness(&self) -> BoxFuture<'_, Readiness> {
        Box::pin(self.readiness())
    }

    fn models(&self, freshness: Freshness) -> BoxFuture<'_, ModelList> {
        Box::pin(self.models.list(&self.servers, &self.authentication, freshness))
    }

    fn login(&self) -> Option<&dyn Login> {
        Some(&self.login)
    }

    fn credentials_changed(&self) -> BoxFuture<'static, ()> {
        let mut changes = self.authentication.changes();
        Box::pin(async move {
            // The sender lives as long as the runtime; without it, there is nothing to wait for.
            if changes.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        })
    }

    fn own_sessions(&self) -> Option<&dyn OwnSessions> {
        Some(&self.history)
    }

    fn fork(&self, fork: AgentFork) -> BoxFuture<'_, Result<String, String>> {
        Box::pin(self.history.fork(fork))
    }

    fn discard_session(&self, id: String) -> BoxFuture<'_, Result<(), String>> {
        let sessions = History { servers: Arc::clone(&self.capture_servers) };
        Box::pin(async move { sessions.forget(id).await })
    }

    fn preflight(&self) -> BoxFuture<'_, Vec<Check>> {
        Box::pin(preflight::checks(self))
    }

    fn processes(&self) -> Vec<AgentProcess> {
        let servers = self.servers.all().into_iter().chain(self.capture_servers.all());
        servers.filter_map(|server| server.figures()).collect()
    }

    fn takes_any_model(&self, options: &Map<String, Value>) -> bool {
        // The models of the session's own provider are unknown here.
        SessionOptions::choose_provider(options)
    }

    fn version(&self) -> BoxFuture<'_, Option<String>> {
        Box::pin(async move {
            match self.servers.running().await {
                Some(server) => Some(server.version.clone()),
                None => self.servers.programs.find().await.ok()?.version,
            }
        })
    }

    fn spec_for_model_at(&self, base_url: &str, folder: &Path) -> Option<StartSpec> {
        let provider = Provider {
            base_url: base_url.to_owned(),
            api_key: Some("none".to_owned()),
            wire_api: Some(WireApi::Completions),
            ..Provider::default()
        };
        Some(StartSpec {
            model: "scripted-model".to_owned(),
            provider: Some(ProviderChoice::Own(Box::new(provider))),
            // The user's own MCP servers are not part of it.
            mcp_servers: self.settings.mcp_servers.keys().map(|name| (name.clone(), None)).collect(),
            environment: self.settings.environment.clone(),
            ..StartSpec::in_folder(Owner::Canary, folder)
        })
    }

    fn conformance(&self, patience: Duration) -> Option<BoxFuture<'_, Result<ConformanceReport, String>>> {
        Some(Box::pin(async move {
            let program = self.servers.programs.find().await?;
            conformance::run(program, &self.settings, patience).await
        }))
    }

    fn shut_down(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.login.shut_down().await;
            futures_util::future::join(self.servers.shut_down(), self.capture_servers.shut_down()).await;
        })
    }

    fn start(&self, spec: StartSpec) -> BoxFuture<'_, Result<Connection, StartError>> {
        Box::pin(self.open(spec))
    }
}
