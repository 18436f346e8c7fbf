//! The runtimes `copilot-acp` and `acp:NAME`: any agent that speaks the Agent Client Protocol, one adapter for all.
//!
//! The framing is our own; the messages that we send use the types of the official schema crate. The official client
//! crate puts incoming messages into unbounded queues and reads lines of any length, so an agent that floods its output
//! would fill our memory instead of its pipe. A strict schema would also reject a whole update because of one unknown
//! value. So outgoing messages are checked by the schema, and incoming messages are read leniently: known fields if
//! present, the rest kept raw.
//!
//! One process per session. Copilot's ACP process does not see a login that happens after it started, accepts stdio MCP
//! servers only on its command line and the user's own model only from its environment, cancels a turn when a second
//! prompt arrives, and refuses to load a session twice. With one process per session, none of that affects other
//! sessions, and neither does a process that crashes, floods or hangs. The cost is memory (about 250 MB for Copilot)
//! and a second of startup time.

mod agent;
mod copilot_remarks;
mod diff;
mod history;
mod last_report;
mod life;
mod link;
mod mcp;
mod message_reader;
mod not_opened;
mod offers;
mod open;
mod options;
mod permission;
mod preflight;
mod program;
mod prompt;
pub(in crate::agent) mod recording;
mod replay;
mod settings;
mod tool_calls;
mod translate;
mod wire;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

pub use message_reader::AcpReader;
pub use settings::AcpSettings;

use super::copilot::options::flags_without_builtin_servers;
use super::copilot::{Copilot, LOGIN_HINT, spec_of_cli_for_model_at};
use super::{
    AgentProcess, BoxFuture, Capabilities, Channel, Connection, Freshness, Login, LoginState, LoginStatus, Model,
    ModelList, ModelNames, OwnSessions, ProcessUse, Readiness, Runtime, SessionOption, StartError, StartSpec,
    SystemPromptSupport,
};
use crate::model::Check;
use history::History;
use last_report::LastReport;
use life::Life;
use link::Link;
use mcp::ServerFile;
use open::Wanted;
use options::AcpOptions;
use settings::Launch;

const EVENTS_IN_FLIGHT: usize = 1_024;
const COMMANDS_IN_FLIGHT: usize = 32;
/// The argument that starts Copilot as an ACP agent.
const COPILOT_ARGUMENTS: [&str; 1] = ["--acp"];

/// The kind of agent behind the runtime.
enum Backend {
    /// GitHub Copilot. The runtime `copilot` finds the program, logs in and selects models.
    Copilot(Arc<Copilot>),
    /// An agent from the configuration.
    Configured(History),
}

/// A runtime that speaks ACP.
pub struct Acp {
    capabilities: Capabilities,
    settings: Arc<AcpSettings>,
    backend: Backend,
    /// Running processes.
    lives: Mutex<Vec<Weak<Life>>>,
    /// What the agent last reported: its version and its models.
    known: LastReport,
}

impl Acp {
    /// The name of the runtime for Copilot.
    pub const COPILOT: &'static str = "copilot-acp";

    /// Copilot over ACP; everything else comes from the runtime `copilot`.
    pub fn of_copilot(copilot: Arc<Copilot>, settings: AcpSettings) -> Self {
        let settings = AcpSettings {
            name: Self::COPILOT.to_owned(),
            title: "Copilot".to_owned(),
            login_hint: LOGIN_HINT.to_owned(),
            ..settings
        };
        Self::new(Arc::new(settings), Backend::Copilot(copilot))
    }

    /// An agent from the configuration.
    pub fn configured(settings: AcpSettings) -> Self {
        let settings = Arc::new(settings);
        let history = History { settings: Arc::clone(&settings) };
        Self::new(settings, Backend::Configured(history))
    }

    fn new(settings: Arc<AcpSettings>, backend: Backend) -> Self {
        let command = std::iter::once(&settings.command).chain(&settings.arguments).cloned().collect();
        let known = LastReport::of(&settings.name, command, settings.cache_folder.as_deref());
        Self {
            capabilities: Capabilities {
                streaming: true,
                session_resume: true,
                mid_run_session_id: true,
                permissions: true,
                interrupt: true,
                model_discovery: true,
                model_switch: true,
                model_names: if matches!(backend, Backend::Copilot(_)) { ModelNames::Copilot } else { ModelNames::Any },
                system_prompt: SystemPromptSupport::PromptBlock,
                usage_tokens: true,
                image_input: true,
                mcp: true,
                processes: ProcessUse::PerSession,
                model_retries: matches!(backend, Backend::Copilot(_)),
                ..Capabilities::default()
            },
            settings,
            backend,
            lives: Mutex::default(),
            known,
        }
    }

    /// The environment of a process: the user's variables, then those configured for this agent.
    fn environment(&self, base: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let mut environment = base.clone();
        if matches!(self.backend, Backend::Copilot(_)) {
            // The program must not update itself while a session uses it.
            environment.entry("COPILOT_AUTO_UPDATE".to_owned()).or_insert_with(|| "false".to_owned());
        }
        for (name, value) in &self.settings.variables {
            // The session's own variables take precedence over configured ones.
            let is_given = matches!(self.backend, Backend::Copilot(_)) && environment.contains_key(name);
            if !is_given {
                environment.insert(name.clone(), value.clone());
            }
        }
        environment
    }

    /// How to start a process, or what to do if that is not possible.
    async fn launch(&self, base: &BTreeMap<String, String>, folder: Option<&Path>) -> Result<Launch, String> {
        let (program, arguments) = match &self.backend {
            Backend::Copilot(copilot) => {
                let found = copilot.cli().await?;
                let own = COPILOT_ARGUMENTS.map(str::to_owned);
                (found.path, found.leading_arguments.into_iter().chain(own).collect())
            }
            Backend::Configured(_) => {
                let found = program::find(&self.settings, None)?;
                (found.path, found.leading_arguments)
            }
        };
        let folder = folder.map_or_else(anywhere, Path::to_owned);
        Ok(Launch { program, arguments, environment: self.environment(base), folder })
    }

    async fn open(&self, spec: StartSpec) -> Result<Connection, StartError> {
        let is_copilot = matches!(self.backend, Backend::Copilot(_));
        let options = AcpOptions::read(&self.settings.title, is_copilot, &spec.options);
        let options = options.map_err(StartError::Permanent)?;
        let launch = self.launch(&spec.environment, spec.working_directory.as_deref()).await;
        let mut launch = launch.map_err(StartError::Permanent)?;
        let servers = spec.all_mcp_servers(&self.settings.mcp_servers);
        let mut model = spec.model.clone();
        let (mut server_file, mut uses_github) = (None, false);
        if let Backend::Copilot(copilot) = &self.backend {
            model = copilot.provide(&spec, &mut launch.environment)?;
            uses_github = copilot.uses_login(&spec);
            server_file = ServerFile::write(&servers)
                .map_err(|error| StartError::Temporary(format!("cannot write the MCP server file: {error}")))?;
            if let Some(file) = &server_file {
                let at = format!("@{}", file.path().display());
                launch.arguments.extend(["--additional-mcp-config".to_owned(), at]);
            }
            if options.disable_builtin_mcps {
                let word = |(flag, value): (&str, Option<&str>)| match value {
                    Some(value) => format!("{flag}={value}"),
                    None => flag.to_owned(),
                };
                launch.arguments.extend(flags_without_builtin_servers(&servers).into_iter().map(word));
            }
        }
        let wanted = Wanted { launch, model, mcp_servers: servers, uses_github, options, spec };
        let opened = open::open(&self.settings, &wanted).await?;
        // The agent has read the file by now.
        drop(server_file);
        let (restored, session) = (opened.restored, opened.session.clone());
        let (version, models) = (opened.agent.about.version.clone(), opened.offers.models());
        let (command_sender, commands) = mpsc::channel(COMMANDS_IN_FLIGHT);
        let (events, event_receiver) = mpsc::channel(EVENTS_IN_FLIGHT);
        let cancelled = CancellationToken::new();
        let (link, early) = Link::new(Arc::clone(&self.settings), wanted, events, opened);
        let life = Arc::clone(&link.life);
        self.remember(&life);
        self.known.replace(version, models).await;
        let task = tokio::spawn(link.serve(early, commands, cancelled.clone()));
        Ok(Connection::new(command_sender, event_receiver, Some(session), task, cancelled)
            .with_liveness(life)
            .with_restored(restored))
    }

    fn remember(&self, life: &Arc<Life>) {
        let mut lives = self.lives.lock();
        lives.retain(|life| life.strong_count() > 0);
        lives.push(Arc::downgrade(life));
    }

    async fn readiness(&self) -> Readiness {
        match &self.backend {
            Backend::Copilot(copilot) => {
                let of_copilot = Runtime::readiness(copilot.as_ref()).await;
                let problem = match (&of_copilot.program, copilot.cli().await) {
                    (Some(_), Err(problem)) => Some(problem),
                    (Some(program), Ok(_)) => {
                        self.settings.quarantine.reason(Self::COPILOT, program.version.as_deref())
                    }
                    (None, _) => None,
                };
                // What is missing for the agent is the same for every connection.
                let own = if of_copilot.ready { "Over ACP. " } else { "" };
                Readiness {
                    ready: of_copilot.ready && problem.is_none(),
                    hint: problem.unwrap_or_else(|| format!("{own}{}", of_copilot.hint)),
                    ..of_copilot
                }
            }
            Backend::Configured(_) => {
                let login = LoginStatus { state: LoginState::Unknown, who: None, can_log_in: false };
                let version = self.known.current().version;
                let quarantine = self.settings.quarantine.reason(&self.settings.name, version.as_deref());
                match program::find(&self.settings, version) {
                    Ok(program) => Readiness {
                        ready: quarantine.is_none(),
                        hint: quarantine.unwrap_or_else(|| {
                            format!("{}, an ACP agent from your configuration.", self.settings.title)
                        }),
                        login,
                        program: Some(program),
                        install: None,
                    },
                    Err(hint) => Readiness { ready: false, hint, login, program: None, install: None },
                }
            }
        }
    }

    async fn models(&self, freshness: Freshness) -> ModelList {
        match &self.backend {
            Backend::Copilot(copilot) => Runtime::models(copilot.as_ref(), freshness).await,
            Backend::Configured(_) => {
                let named = |id: &String| Model::named(id, id);
                let mut models: Vec<Model> = self.settings.models.iter().map(named).collect();
                let said = self.known.current().models;
                models.extend(said.into_iter().filter(|model| !self.settings.models.contains(&model.id)));
                let reason = format!("{} lists its models when a session starts", self.settings.title);
                let agent_chooses = self.settings.models.is_empty();
                ModelList { agent_chooses, ..ModelList::incomplete(models, reason) }
            }
        }
    }
}

/// The working directory of an agent that was given none.
fn anywhere() -> PathBuf {
    std::env::current_dir().unwrap_or_else(|_| std::env::temp_dir())
}

impl Runtime for Acp {
    fn name(&self) -> &str {
        &self.settings.name
    }

    fn family(&self) -> &str {
        match &self.backend {
            Backend::Copilot(copilot) => copilot.name(),
            Backend::Configured(_) => self.name(),
        }
    }

    fn title(&self) -> &str {
        match &self.backend {
            Backend::Copilot(copilot) => copilot.title(),
            Backend::Configured(_) => &self.settings.title,
        }
    }

    fn channel(&self) -> Option<Channel> {
        matches!(self.backend, Backend::Copilot(_)).then_some(Channel {
            name: "ACP",
            hint: "A process for each session, over the Agent Client Protocol. It asks before it acts.",
        })
    }

    fn session_options(&self) -> Vec<SessionOption> {
        let mut options = match &self.backend {
            Backend::Copilot(copilot) => options::of_copilot(copilot),
            Backend::Configured(_) => options::of_others(),
        };
        options.push(SessionOption::mcp_servers(self.settings.mcp_servers.keys()));
        options
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn readiness(&self) -> BoxFuture<'_, Readiness> {
        Box::pin(self.readiness())
    }

    fn models(&self, freshness: Freshness) -> BoxFuture<'_, ModelList> {
        Box::pin(self.models(freshness))
    }

    fn login(&self) -> Option<&dyn Login> {
        match &self.backend {
            Backend::Copilot(copilot) => copilot.login(),
            Backend::Configured(_) => None,
        }
    }

    fn credentials_changed(&self) -> BoxFuture<'static, ()> {
        match &self.backend {
            Backend::Copilot(copilot) => copilot.credentials_changed(),
            Backend::Configured(_) => Box::pin(std::future::pending()),
        }
    }

    fn own_sessions(&self) -> Option<&dyn OwnSessions> {
        match &self.backend {
            // The runtime `copilot` lists the same sessions; they should not appear twice.
            Backend::Copilot(_) => None,
            Backend::Configured(history) => Some(history),
        }
    }

    fn preflight(&self) -> BoxFuture<'_, Vec<Check>> {
        Box::pin(preflight::checks(self))
    }

    fn version(&self) -> BoxFuture<'_, Option<String>> {
        Box::pin(async move {
            let known = self.known.current().version;
            match (known, &self.backend) {
                (Some(version), _) => Some(version),
                (None, Backend::Copilot(copilot)) => copilot.cli().await.ok()?.version,
                (None, Backend::Configured(_)) => None,
            }
        })
    }

    fn spec_for_model_at(&self, base_url: &str, folder: &Path) -> Option<StartSpec> {
        if !matches!(self.backend, Backend::Copilot(_)) {
            return None;
        }
        let settings = &self.settings;
        Some(spec_of_cli_for_model_at(base_url, folder, &settings.environment, &settings.mcp_servers))
    }

    fn processes(&self) -> Vec<AgentProcess> {
        let lives: Vec<Arc<Life>> = self.lives.lock().iter().filter_map(Weak::upgrade).collect();
        lives.iter().filter(|life| life.is_alive()).filter_map(|life| life.figures()).collect()
    }

    fn start(&self, spec: StartSpec) -> BoxFuture<'_, Result<Connection, StartError>> {
        Box::pin(self.open(spec))
    }
}
