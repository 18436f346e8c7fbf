//! The runtimes `copilot-headless` and `claude`: an agent's CLI, one process per turn, JSON lines as output.
//!
//! Invariants: the prompt is sent over standard input. Permissions are fixed before a turn, because the program cannot
//! ask during it, and everything not allowed is denied. A turn succeeds only with a successful terminal event. No line,
//! whatever its length or content, breaks a turn or grows memory without bound. A process does not outlive its turn.
//!
//! The stream readers are independent of the process: recorded transcripts and live turns use the same code.

mod backend;
mod claude;
mod copilot;
mod deferred;
mod flags;
mod invocation;
mod life;
mod link;
mod permissions;
mod record;
mod settings;
mod totals;
mod turn;

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

pub use claude::ClaudeReader;
pub use copilot::CopilotReader;
pub use settings::{ClaudeSettings, HeadlessSettings};

use super::copilot::{Copilot, spec_of_cli_for_model_at};
use super::program::FoundProgram;
use super::{
    AgentProcess, BoxFuture, Capabilities, Channel, Connection, Freshness, Login, LoginState, LoginStatus, ModelList,
    ModelNames, ProcessUse, Readiness, Restored, Runtime, SessionOption, StartError, StartSpec, SystemPromptSupport,
};
use crate::model::Check;
use backend::{Backend, Claude, Shared};
use flags::Help;
use life::Life;
use link::Link;
use record::RecordEnd;
use totals::Totals;

const EVENTS_IN_FLIGHT: usize = 1_024;
const COMMANDS_IN_FLIGHT: usize = 32;

/// A runtime that starts one process per turn.
pub struct Headless {
    capabilities: Capabilities,
    shared: Arc<Shared>,
    /// Connections that may have a running process.
    lives: Mutex<Vec<Weak<Life>>>,
}

impl Headless {
    /// The name of the runtime for Copilot.
    pub const COPILOT: &'static str = "copilot-headless";
    /// The name of the runtime for Claude Code.
    pub const CLAUDE: &'static str = "claude";

    /// Copilot's CLI; everything else comes from the runtime `copilot`.
    pub fn of_copilot(copilot: Arc<Copilot>, settings: HeadlessSettings) -> Self {
        let capabilities = Capabilities {
            effort_levels: ["none", "minimal", "low", "medium", "high", "xhigh", "max"].map(str::to_owned).to_vec(),
            model_discovery: true,
            model_names: ModelNames::Copilot,
            system_prompt: SystemPromptSupport::PromptBlock,
            usage_premium_requests: true,
            usage_credits: true,
            image_input: true,
            ..Self::common()
        };
        Self::new(Self::COPILOT, Backend::Copilot(copilot), settings, capabilities)
    }

    /// Claude Code.
    pub fn of_claude(claude: ClaudeSettings, settings: HeadlessSettings) -> Self {
        let capabilities = Capabilities {
            effort_levels: ["low", "medium", "high", "xhigh", "max"].map(str::to_owned).to_vec(),
            system_prompt: SystemPromptSupport::File,
            usage_tokens: true,
            cost_tracking: true,
            budget_cap: true,
            fallback_model: true,
            model_shorthands: true,
            bare_mode: true,
            ..Self::common()
        };
        let backend = Backend::Claude(Box::new(Claude { programs: claude::programs(&claude), models: claude.models }));
        Self::new(Self::CLAUDE, backend, settings, capabilities)
    }

    fn common() -> Capabilities {
        Capabilities {
            streaming: true,
            session_resume: true,
            mid_run_session_id: true,
            interrupt: true,
            model_switch: true,
            mcp: true,
            processes: ProcessUse::PerTurn,
            model_retries: true,
            ..Capabilities::default()
        }
    }

    fn new(name: &'static str, backend: Backend, settings: HeadlessSettings, capabilities: Capabilities) -> Self {
        let shared = Arc::new(Shared { name, backend, settings, help: Help::default() });
        Self { capabilities, shared, lives: Mutex::default() }
    }

    async fn open(&self, spec: StartSpec) -> Result<Connection, StartError> {
        self.shared.check_options(&spec).map_err(StartError::Permanent)?;
        let program = self.shared.program().await.map_err(StartError::Permanent)?;
        let version = program.version.as_deref();
        if let Some(reason) = self.quarantine(version) {
            return Err(StartError::Permanent(reason));
        }
        self.shared.check_login(&spec).await?;
        let (session, kept) = match &spec.agent_session_id {
            None => (self.new_session_id(&program, &spec).await, None),
            Some(id) => (Some(id.clone()), Some(self.shared.kept(&spec, id).map_err(StartError::SessionLost)?)),
        };
        let restored = kept.map_or(Restored::New, RecordEnd::restored);
        let totals = if restored == Restored::New { Totals::of_new_session() } else { Totals::unknown() };
        let (command_sender, commands) = mpsc::channel(COMMANDS_IN_FLIGHT);
        let (events, event_receiver) = mpsc::channel(EVENTS_IN_FLIGHT);
        let cancelled = CancellationToken::new();
        let life = Arc::new(Life::new(self.shared.name));
        self.remember(&life);
        let link = Link {
            shared: Arc::clone(&self.shared),
            spec,
            session: session.clone(),
            events,
            life: Arc::clone(&life),
            totals,
            warned: HashSet::new(),
            kept,
            is_named_by_agent: false,
            last_exit: None,
        };
        let task = tokio::spawn(link.serve(commands, cancelled.clone()));
        Ok(Connection::new(command_sender, event_receiver, session, task, cancelled)
            .with_liveness(life)
            .with_restored(restored))
    }

    /// The id of a new session, chosen here so that it is known before the agent runs. `None` if the program only takes
    /// ids of its own; it reports the id at the end of the first turn.
    async fn new_session_id(&self, program: &FoundProgram, spec: &StartSpec) -> Option<String> {
        let environment = self.shared.environment(&spec.environment);
        let flags = self.shared.help.flags(program, &environment).await;
        flags.know("--session-id").then(|| uuid::Uuid::new_v4().to_string())
    }

    fn remember(&self, life: &Arc<Life>) {
        let mut lives = self.lives.lock();
        lives.retain(|life| life.strong_count() > 0);
        lives.push(Arc::downgrade(life));
    }

    fn quarantine(&self, version: Option<&str>) -> Option<String> {
        self.shared.settings.quarantine.reason(self.shared.name, version)
    }

    async fn readiness(&self) -> Readiness {
        let program = self.shared.program().await;
        let quarantine = program.as_ref().ok().and_then(|program| self.quarantine(program.version.as_deref()));
        match &self.shared.backend {
            Backend::Copilot(copilot) => {
                let of_copilot = Runtime::readiness(copilot.as_ref()).await;
                let problem = of_copilot.program.as_ref().and_then(|_| program.err()).or(quarantine);
                // What is missing for the agent is the same for every connection.
                let own = if of_copilot.ready { "Starts one process per turn. " } else { "" };
                Readiness {
                    ready: of_copilot.ready && problem.is_none(),
                    hint: problem.unwrap_or_else(|| format!("{own}{}", of_copilot.hint)),
                    ..of_copilot
                }
            }
            Backend::Claude(agent) => {
                let login = LoginStatus { state: LoginState::Unknown, who: None, can_log_in: false };
                match program {
                    Ok(program) => Readiness {
                        ready: quarantine.is_none(),
                        hint: quarantine.unwrap_or_else(|| {
                            "Claude Code, a process for each turn. It uses your login (`claude auth login`) or \
                             ANTHROPIC_API_KEY."
                                .to_owned()
                        }),
                        login,
                        program: Some(program),
                        install: None,
                    },
                    Err(hint) => {
                        // An install does not help where the configuration names another program.
                        let install = (!agent.programs.is_named()).then(|| claude::INSTALL_COMMAND.to_owned());
                        Readiness { ready: false, hint, login, program: None, install }
                    }
                }
            }
        }
    }

    async fn checks(&self) -> Vec<Check> {
        let named = |what: &str| format!("{}: {what}", self.shared.name);
        match &self.shared.backend {
            Backend::Copilot(copilot) => copilot.look_again(),
            Backend::Claude(claude) => claude.programs.look_again(),
        }
        let program = match self.shared.program().await {
            Ok(program) => program,
            Err(problem) => {
                return match &self.shared.backend {
                    // The runtime `copilot` already reports this for the agent.
                    Backend::Copilot(copilot) if !copilot.is_installed().await => Vec::new(),
                    Backend::Copilot(_) => {
                        vec![Check::info(named("program"), problem, "this runtime needs the full CLI")]
                    }
                    Backend::Claude(claude) => {
                        let hint = format!("run `{}`", claude::INSTALL_COMMAND);
                        vec![if claude.programs.is_named() {
                            Check::failure(named("program"), problem, hint)
                        } else {
                            Check::info(named("program"), "not installed", hint)
                        }]
                    }
                };
            }
        };
        let version = program.version.as_deref().unwrap_or("unknown version");
        let mut checks = vec![Check::ok(named("program"), format!("{version} at {}", program.path.display()))];
        let environment = self.shared.environment(&self.shared.settings.environment);
        let flags = self.shared.help.flags(&program, &environment).await;
        let needed = ["--output-format", "--resume"];
        let missing: Vec<&str> = needed.into_iter().filter(|flag| !flags.know(flag)).collect();
        checks.push(if missing.is_empty() {
            Check::ok(named("flags"), "the program supports all required flags")
        } else {
            let message = format!("{version} does not support {}", missing.join(", "));
            Check::failure(named("flags"), message, "update the program")
        });
        checks
    }
}

impl Runtime for Headless {
    fn name(&self) -> &str {
        self.shared.name
    }

    fn family(&self) -> &str {
        match &self.shared.backend {
            Backend::Copilot(copilot) => copilot.name(),
            Backend::Claude(_) => self.name(),
        }
    }

    fn title(&self) -> &str {
        match &self.shared.backend {
            Backend::Copilot(copilot) => copilot.title(),
            Backend::Claude(_) => claude::TITLE,
        }
    }

    fn channel(&self) -> Option<Channel> {
        matches!(self.shared.backend, Backend::Copilot(_)).then_some(Channel {
            name: "Headless",
            hint: "A process for each turn. It cannot ask: what no rule allows is denied.",
        })
    }

    fn session_options(&self) -> Vec<SessionOption> {
        let servers = SessionOption::mcp_servers(self.shared.settings.mcp_servers.keys());
        match &self.shared.backend {
            Backend::Copilot(copilot) => {
                let mut options = copilot::session_options();
                options.extend([copilot.provider_option(), servers]);
                options
            }
            Backend::Claude(_) => {
                let mut options = claude::session_options();
                options.push(servers);
                options
            }
        }
    }

    fn program_changed(&self) {
        if let Backend::Claude(claude) = &self.shared.backend {
            claude.programs.look_again();
        }
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn readiness(&self) -> BoxFuture<'_, Readiness> {
        Box::pin(self.readiness())
    }

    fn models(&self, freshness: Freshness) -> BoxFuture<'_, ModelList> {
        Box::pin(self.shared.models(freshness))
    }

    fn takes_any_model(&self, options: &Map<String, Value>) -> bool {
        match &self.shared.backend {
            Backend::Copilot(copilot) => copilot.takes_any_model(options),
            Backend::Claude(_) => true,
        }
    }

    fn login(&self) -> Option<&dyn Login> {
        match &self.shared.backend {
            Backend::Copilot(copilot) => copilot.login(),
            Backend::Claude(_) => None,
        }
    }

    fn credentials_changed(&self) -> BoxFuture<'static, ()> {
        match &self.shared.backend {
            Backend::Copilot(copilot) => copilot.credentials_changed(),
            Backend::Claude(_) => Box::pin(std::future::pending()),
        }
    }

    fn preflight(&self) -> BoxFuture<'_, Vec<Check>> {
        Box::pin(self.checks())
    }

    fn version(&self) -> BoxFuture<'_, Option<String>> {
        Box::pin(async move { self.shared.program().await.ok()?.version })
    }

    fn spec_for_model_at(&self, base_url: &str, folder: &Path) -> Option<StartSpec> {
        let settings = &self.shared.settings;
        let (environment, servers) = (&settings.environment, &settings.mcp_servers);
        Some(match self.shared.backend {
            Backend::Copilot(_) => spec_of_cli_for_model_at(base_url, folder, environment, servers),
            Backend::Claude(_) => claude::spec_for_model_at(base_url, folder, environment, servers),
        })
    }

    fn processes(&self) -> Vec<AgentProcess> {
        let lives: Vec<Arc<Life>> = self.lives.lock().iter().filter_map(Weak::upgrade).collect();
        lives.iter().filter_map(|life| life.figures()).collect()
    }

    fn start(&self, spec: StartSpec) -> BoxFuture<'_, Result<Connection, StartError>> {
        Box::pin(self.open(spec))
    }
}
