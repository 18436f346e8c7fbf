//! What a command works with: the running server, which knows more, or else the runtimes in this process.

use std::sync::Arc;

use anyhow::Context as _;
use serde_json::Value;

use super::arguments::{CommonFlags, Resolved, resolve};
use super::{logging, runtime_list};
use crate::agent::{Quarantine, Runtimes};
use crate::client::LocalServer;
use crate::config::LogFormat;
use crate::process::Supervisor;

/// The settings in force, and an async runtime.
pub(super) struct CommandContext {
    pub resolved: Resolved,
    threads: tokio::runtime::Runtime,
}

impl CommandContext {
    pub fn new(common: &CommonFlags) -> anyhow::Result<Self> {
        Self::with(resolve(common, Vec::new())?)
    }

    /// With other settings than those in force.
    pub fn with(resolved: Resolved) -> anyhow::Result<Self> {
        // A command prints its results; the log is for problems. The crate logs failed calls, which we report ourselves.
        logging::start("warn,github_copilot_sdk=error", LogFormat::Text)?;
        let threads = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .context("cannot start the async runtime")?;
        Ok(Self { resolved, threads })
    }

    /// The server that runs with this data folder, if one does.
    pub fn server(&self) -> Option<LocalServer> {
        LocalServer::of_folder(&self.resolved.data_folder)
    }

    /// Sends a GET request to the running server; `None` if there is none.
    pub fn get(&self, path: &str) -> anyhow::Result<Option<Value>> {
        let Some(server) = self.server() else { return Ok(None) };
        Ok(Some(self.threads.block_on(server.get(path))?))
    }

    /// Runs `work` with the agents in this process, and ends them afterwards.
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

    /// Runs a future to its end.
    pub fn wait_for<T>(&self, work: impl Future<Output = T>) -> T {
        self.threads.block_on(work)
    }
}
