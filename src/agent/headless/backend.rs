//! Whose program it is, and what follows from that.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::flags::Help;
use super::invocation::{Invocation, Wanted};
use super::settings::HeadlessSettings;
use super::{claude, copilot};
use crate::agent::copilot::Copilot;
use crate::agent::program::{FoundProgram, Programs};
use crate::agent::transcript::StreamReader;
use crate::agent::{Freshness, Model, ModelList, Runtime as _, StartError, StartSpec};

/// Names that Claude Code itself takes for its newest models.
const SHORT_NAMES: [&str; 3] = ["sonnet", "opus", "haiku"];

pub(super) enum Backend {
    /// GitHub's: found, logged in and pointed at models as the runtime `copilot` does it.
    Copilot(Arc<Copilot>),
    Claude(Box<Claude>),
}

/// Claude Code's.
pub(super) struct Claude {
    pub programs: Programs,
    /// Models to offer beside its own short names.
    pub models: Vec<String>,
}

/// What a runtime and its connections share.
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

    /// Where the program is, or what to do.
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

    /// Makes sure that a session does not fail for want of a login, where that can be known before.
    pub async fn check_login(&self, spec: &StartSpec) -> Result<(), StartError> {
        match &self.backend {
            Backend::Copilot(copilot) => copilot.provide_logged_in(spec, &mut BTreeMap::new()).await.map(drop),
            Backend::Claude(_) => Ok(()),
        }
    }

    /// Whether somebody has to be logged in: where there is no key of the user's own.
    pub fn uses_login(&self, spec: &StartSpec) -> bool {
        match &self.backend {
            Backend::Copilot(copilot) => copilot.uses_login(spec),
            Backend::Claude(_) => {
                let environment = self.environment(&spec.environment);
                !claude::KEYS.iter().any(|name| environment.get(*name).is_some_and(|key| !key.is_empty()))
            }
        }
    }

    /// Whether the agent has a session on disk.
    pub fn has_session(&self, spec: &StartSpec, session: &str) -> bool {
        let environment = self.environment(&spec.environment);
        match self.backend {
            Backend::Copilot(_) => copilot::has_session(&environment, session),
            Backend::Claude(_) => claude::has_session(&environment, session),
        }
    }

    /// The environment of a process: the user's, then what is configured, and nothing that would allow more than the
    /// session does.
    pub fn environment(&self, base: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let mut environment = base.clone();
        // A program must not change under a session that it serves.
        let (still, value) = match self.backend {
            Backend::Copilot(_) => ("COPILOT_AUTO_UPDATE", "false"),
            Backend::Claude(_) => ("DISABLE_AUTOUPDATER", "1"),
        };
        environment.entry(still.to_owned()).or_insert_with(|| value.to_owned());
        for (name, value) in &self.settings.variables {
            environment.entry(name.clone()).or_insert_with(|| value.clone());
        }
        // The second one says that we are started by the agent itself, which it then refuses.
        for name in ["COPILOT_ALLOW_ALL", "CLAUDECODE"] {
            environment.remove(name);
        }
        environment
    }

    /// How the program is started for a turn.
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
            Backend::Copilot(copilot) => {
                let mut list = copilot.models(freshness).await;
                // The same models again, by another way: known, and not shown twice in every list.
                list.models.iter_mut().for_each(|model| model.hidden = true);
                list
            }
            Backend::Claude(claude) => {
                let named =
                    |id: &str, hidden| Model { name: id.to_owned(), id: id.to_owned(), multiplier: 1.0, hidden };
                let configured = claude.models.iter().map(|id| named(id, false));
                // Its short names, in lists of all agents, would say nothing to somebody who does not use it.
                let short = SHORT_NAMES.iter().map(|id| named(id, true));
                let reason = "Claude Code does not list its models; any name is passed on to it".to_owned();
                ModelList { models: configured.chain(short).collect(), incomplete: Some(reason) }
            }
        }
    }
}
