//! The two agents behind the headless runtimes, and their differences.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::flags::Help;
use super::invocation::{Invocation, Wanted};
use super::record::{RecordEnd, Telling};
use super::settings::HeadlessSettings;
use super::{claude, copilot};
use crate::agent::copilot::Copilot;
use crate::agent::program::{FoundProgram, Programs};
use crate::agent::transcript::StreamReader;
use crate::agent::{Freshness, Model, ModelList, Runtime as _, StartError, StartSpec};

/// Claude Code's aliases for its newest models, with names that say whose they are in a list for all agents.
const ALIASES: [(&str, &str); 3] = [("sonnet", "Claude Sonnet"), ("opus", "Claude Opus"), ("haiku", "Claude Haiku")];

pub(super) enum Backend {
    /// GitHub Copilot. The runtime `copilot` finds the program, logs in and selects models.
    Copilot(Arc<Copilot>),
    Claude(Box<Claude>),
}

/// Claude Code.
pub(super) struct Claude {
    pub programs: Programs,
    /// Models to offer besides its own aliases.
    pub models: Vec<String>,
}

/// State shared by a runtime and its connections.
pub(super) struct Shared {
    pub name: &'static str,
    pub backend: Backend,
    pub settings: HeadlessSettings,
    pub help: Help,
}

impl Shared {
    pub fn title(&self) -> &'static str {
        match self.backend {
            Backend::Copilot(_) => copilot::TITLE,
            Backend::Claude(_) => claude::TITLE,
        }
    }

    /// The program, or what to do if it is missing.
    pub async fn program(&self) -> Result<FoundProgram, String> {
        match &self.backend {
            Backend::Copilot(copilot) => copilot.cli().await,
            Backend::Claude(claude) => claude.programs.find().await,
        }
    }

    pub fn reader(&self) -> Box<dyn StreamReader> {
        match self.backend {
            Backend::Copilot(_) => Box::new(copilot::CopilotReader::new()),
            Backend::Claude(_) => Box::new(claude::ClaudeReader::new()),
        }
    }

    pub fn check_options(&self, spec: &StartSpec) -> Result<(), String> {
        match self.backend {
            Backend::Copilot(_) => copilot::check_options(&spec.options),
            Backend::Claude(_) => claude::check_options(spec),
        }
    }

    /// Checks for a missing login before a session starts, where possible.
    pub async fn check_login(&self, spec: &StartSpec) -> Result<(), StartError> {
        match &self.backend {
            Backend::Copilot(copilot) => copilot.provide_logged_in(spec, &mut BTreeMap::new()).await.map(drop),
            Backend::Claude(_) => Ok(()),
        }
    }

    /// Whether a login is required: if the user has no API key.
    pub fn uses_login(&self, spec: &StartSpec) -> bool {
        match &self.backend {
            Backend::Copilot(copilot) => copilot.uses_login(spec),
            Backend::Claude(_) => {
                let environment = self.environment(&spec.environment);
                !claude::KEYS.iter().any(|name| environment.get(*name).is_some_and(|key| !key.is_empty()))
            }
        }
    }

    /// How the agent's record of a session ends; `None` if the agent has no such session.
    pub fn record_end(&self, spec: &StartSpec, session: &str) -> Option<RecordEnd> {
        let environment = self.environment(&spec.environment);
        let (record, telling): (_, Telling) = match self.backend {
            Backend::Copilot(_) => (copilot::record(&environment, session)?, copilot::telling),
            Backend::Claude(_) => (claude::record(&environment, session)?, claude::telling),
        };
        Some(RecordEnd::read(&record, telling))
    }

    /// As [`Self::record_end`], for a session that the agent must have. The error says what is wrong.
    pub fn kept(&self, spec: &StartSpec, session: &str) -> Result<RecordEnd, String> {
        let title = self.title();
        match self.record_end(spec, session) {
            None => Err(format!("{title} no longer has the session {session}")),
            Some(RecordEnd::Unreadable) => Err(format!("{title}'s record of the session {session} is damaged")),
            Some(end) => Ok(end),
        }
    }

    /// Whether the agent says that it cannot resume a session.
    pub fn says_session_lost(&self, words: &str) -> bool {
        let signs: &[&str] = match self.backend {
            Backend::Copilot(_) => &copilot::LOST,
            Backend::Claude(_) => &claude::LOST,
        };
        signs.iter().any(|sign| words.contains(sign))
    }

    /// Where a turn that begins now will record what it is billed, for an agent that does.
    pub fn usage_records(&self, spec: &StartSpec, session: &str) -> Option<copilot::UsageRecords> {
        match self.backend {
            Backend::Copilot(_) => copilot::UsageRecords::after_now(&self.environment(&spec.environment), session),
            Backend::Claude(_) => None,
        }
    }

    /// The environment of a process: the user's variables, then the configured ones, without any that would extend the
    /// session's permissions.
    pub fn environment(&self, base: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let mut environment = base.clone();
        // The program must not update itself while a session uses it.
        let (still, value) = match self.backend {
            Backend::Copilot(_) => ("COPILOT_AUTO_UPDATE", "false"),
            Backend::Claude(_) => ("DISABLE_AUTOUPDATER", "1"),
        };
        environment.entry(still.to_owned()).or_insert_with(|| value.to_owned());
        for (name, value) in &self.settings.variables {
            environment.entry(name.clone()).or_insert_with(|| value.clone());
        }
        // The second one makes the agent believe that it was started by itself, which it rejects.
        for name in ["COPILOT_ALLOW_ALL", "CLAUDECODE"] {
            environment.remove(name);
        }
        environment
    }

    /// The invocation for one turn.
    pub fn invocation(&self, wanted: &Wanted<'_>) -> Result<Invocation, String> {
        let servers = wanted.spec.all_mcp_servers(&self.settings.mcp_servers);
        let mut environment = self.environment(&wanted.spec.environment);
        let invocation = match &self.backend {
            Backend::Copilot(copilot) => {
                let model = copilot.provide(wanted.spec, &mut environment).map_err(|error| error.to_string())?;
                copilot::invocation(wanted, &model, &servers)?
            }
            Backend::Claude(_) => claude::invocation(wanted, &servers)?,
        };
        Ok(Invocation { environment, ..invocation })
    }

    pub async fn models(&self, freshness: Freshness) -> ModelList {
        match &self.backend {
            Backend::Copilot(copilot) => copilot.models(freshness).await,
            Backend::Claude(claude) => {
                let configured = claude.models.iter().map(|id| Model::named(id, id));
                let provider = Some("Anthropic".to_owned());
                let alias =
                    |(id, name): &(&str, &str)| Model { provider: provider.clone(), ..Model::named(*name, *id) };
                let models = configured.chain(ALIASES.iter().map(alias)).collect();
                let reason = "Claude Code does not list its models; any name is passed on to it";
                let agent_chooses = claude.models.is_empty();
                ModelList { agent_chooses, ..ModelList::incomplete(models, reason) }
            }
        }
    }
}
