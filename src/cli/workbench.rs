//! Where a command does its work: in the running server, which knows more, else in the process itself.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::Value;

use super::arguments::{CommonFlags, Resolved, resolve};
use super::{logging, runtime_list};
use crate::agent::{Quarantine, Runtimes};
use crate::http::LocalServer;
use crate::http::auth::ServerToken;
use crate::process::Supervisor;
use crate::store::ServerNote;

/// Agents are asked, and some are started for it.
const PATIENCE: Duration = Duration::from_mins(5);

/// The settings in force and a runtime to work with.
pub(super) struct Workbench {
    pub resolved: Resolved,
    threads: tokio::runtime::Runtime,
}

impl Workbench {
    pub fn new(common: &CommonFlags) -> anyhow::Result<Self> {
        Self::with(resolve(common, Vec::new())?)
    }

    /// With settings that are not in force yet.
    pub fn with(resolved: Resolved) -> anyhow::Result<Self> {
        // What a command has to say it prints; the log is for what goes wrong.
        logging::start("warn")?;
        let threads = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .context("cannot start the async runtime")?;
        Ok(Self { resolved, threads })
    }

    /// The server that runs with this data folder.
    fn server(&self) -> Option<LocalServer> {
        let folder = &self.resolved.data_folder;
        let note = ServerNote::of_running_server(folder)?;
        Some(LocalServer::at(&note.url, ServerToken::read(folder)).with_patience(PATIENCE))
    }

    /// Asks the running server; `None` when there is none.
    pub fn ask(&self, path: &str) -> anyhow::Result<Option<Value>> {
        let Some(server) = self.server() else { return Ok(None) };
        Ok(Some(self.threads.block_on(server.get(path))?))
    }

    /// Works with the agents in this process, and ends them afterwards.
    pub fn with_runtimes<T>(&self, work: impl AsyncFnOnce(&Runtimes, &Quarantine) -> T) -> T {
        let config = &self.resolved.loaded.config;
        let folder = &self.resolved.data_folder;
        let quarantine = Arc::new(Quarantine::load(folder, &config.agents.trusted_versions));
        self.threads.block_on(async {
            let runtimes =
                runtime_list::runtimes(config, folder, Arc::clone(&quarantine), Supervisor::without_ledger());
            let outcome = work(&runtimes, &quarantine).await;
            runtimes.shut_down().await;
            outcome
        })
    }

    /// Waits for anything else.
    pub fn wait_for<T>(&self, work: impl Future<Output = T>) -> T {
        self.threads.block_on(work)
    }
}
