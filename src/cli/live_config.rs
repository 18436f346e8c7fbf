//! What a running server does with a changed configuration.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::notify_settings::notify_settings;
use super::runtime_defaults::defaults_problem;
use super::runtime_list;
use super::serve::check_exposure;
use super::session_settings::{own_server, session_settings};
use crate::agent::Quarantine;
use crate::config::{Config, ConfigUser, Loaded};
use crate::notify::{Notifier, NotifySettings, Retries};
use crate::process::Supervisor;
use crate::session::{SessionSettings, Sessions};

/// The parts of a server that use a changed configuration without a restart.
pub(super) struct ServerConfig {
    pub sessions: Sessions,
    pub data_folder: PathBuf,
    pub quarantine: Arc<Quarantine>,
    pub supervisor: Supervisor,
    pub closed_grace: Duration,
    pub notifier: Notifier,
    /// The server's own address, for links in notifications.
    pub own_url: String,
    pub retries: Retries,
}

impl ServerConfig {
    fn notify_settings(&self, config: &Config) -> anyhow::Result<NotifySettings> {
        notify_settings(&config.notifications, &self.own_url, |name| std::env::var(name).ok(), self.retries)
    }
}

impl ConfigUser for ServerConfig {
    fn problem(&self, loaded: &Loaded) -> Option<String> {
        check_exposure(&loaded.config)
            .and_then(|()| self.notify_settings(&loaded.config).map(drop))
            .err()
            .map(|error| format!("{error:#}"))
            .or_else(|| defaults_problem(&loaded.config, self.sessions.runtimes()))
    }

    fn apply(&self, old: &Loaded, new: &Loaded) {
        if agents_differ(&old.config, &new.config) {
            let (quarantine, supervisor) = (Arc::clone(&self.quarantine), self.supervisor.clone());
            let list = runtime_list::list(&new.config, &self.data_folder, quarantine, supervisor);
            self.sessions.runtimes().replace(list);
        }
        let settings = session_settings(&new.config, &new.session_layers, self.closed_grace);
        self.sessions.replace_settings(SessionSettings { own_server: own_server(), ..settings });
        if old.config.notifications != new.config.notifications {
            match self.notify_settings(&new.config) {
                Ok(settings) => self.notifier.replace_settings(&settings),
                // It was checked before.
                Err(error) => tracing::error!(%error, "cannot use the new settings of notifications"),
            }
        }
    }
}

/// Whether agents are found, started or equipped differently. If not, their programs keep running.
fn agents_differ(old: &Config, new: &Config) -> bool {
    old.agents != new.agents
        || old.providers != new.providers
        || old.mcp_servers != new.mcp_servers
        || old.acp != new.acp
}
