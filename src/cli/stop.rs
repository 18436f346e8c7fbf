//! `flightdeck stop`: stops the running server and waits until its process has ended.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::json;

use super::arguments::{CommonFlags, resolve};
use super::output::print;
use crate::client::LocalServer;
use crate::store::ServerNote;

const LONGEST_WAIT: Duration = Duration::from_secs(15);

pub(super) fn stop(common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let folder = resolve(common, Vec::new())?.data_folder;
    let Some(note) = ServerNote::of_running_server(&folder) else {
        bail!("no server is running with the data folder {}", folder.display());
    };
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start the async runtime")?;
    let server = LocalServer::noted(&folder, &note).with_timeout(LONGEST_WAIT);
    runtime.block_on(server.post("/api/stop"))?;
    if !ServerNote::wait_until_gone(&folder, LONGEST_WAIT) {
        bail!(
            "the server at {} (process {}) did not stop within {} seconds",
            note.url,
            note.pid,
            LONGEST_WAIT.as_secs()
        );
    }
    if common.json {
        print(&json!({ "stopped": { "url": note.url, "pid": note.pid } }).to_string())?;
    } else {
        print(&format!("The server at {} (process {}) has stopped.", note.url, note.pid))?;
    }
    Ok(ExitCode::SUCCESS)
}
