//! A server that a command starts in the background because none is running.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::time::Instant;

use super::command_context::CommandContext;
use super::terminal::text::{clean, path};
use crate::client::LocalServer;

/// Where such a server logs, in the data folder.
pub(super) const LOG_FILE: &str = "server.log";
/// A log that is longer begins again.
const LARGEST_LOG: u64 = 4 * 1024 * 1024;
/// How long another server that is just starting may take.
const START_LIMIT: Duration = Duration::from_secs(30);
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(50);
/// How much of the log explains a failed start.
const EXPLAINING_LINES: usize = 5;

/// The running server, or one that is started for this purpose.
pub(super) async fn running_or_started(context: &CommandContext) -> anyhow::Result<LocalServer> {
    if let Some(server) = context.server() {
        return Ok(server);
    }
    let folder = &context.resolved.data_folder;
    crate::store::DataFolder::create(folder)?;
    let log_path = folder.join(LOG_FILE);
    let (log, begins_at) =
        open_log(&log_path).with_context(|| format!("cannot write the server's log to {}", path(&log_path)))?;
    let program = std::env::current_exe().context("cannot find this program to start a server with")?;
    let mut command = tokio::process::Command::new(program);
    command.args(["serve", "--background", "--json", "--data-dir"]).arg(folder);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
    // Ctrl+C at this terminal is not meant for it.
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command.spawn().context("cannot start a server in the background")?;
    let mut greeting = String::new();
    if let Some(output) = child.stdout.take() {
        BufReader::new(output)
            .read_line(&mut greeting)
            .await
            .context("cannot read from the server that was started")?;
    }
    let greeting: Value = serde_json::from_str(&greeting).unwrap_or_default();
    let Some(url) = greeting["url"].as_str() else {
        // Somebody else may have started one at the same moment.
        if let Some(server) = started_elsewhere(context).await {
            return Ok(server);
        }
        bail!(
            "no server is running, and none could be started:\n{}\nThe whole log is in {}",
            explanation(&log_path, begins_at),
            path(&log_path)
        );
    };
    announce(context, url, &greeting);
    context.server().with_context(|| format!("the server at {} exited right after starting", clean(url)))
}

fn announce(context: &CommandContext, url: &str, greeting: &Value) {
    let server = &context.resolved.loaded.config.server;
    let taken = match url.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok()) {
        Some(port) if server.port != 0 && port != server.port => {
            format!(" Port {} is taken, so it uses {port}.", server.port)
        }
        _ => String::new(),
    };
    let end = match server.idle_stop.0 {
        Some(span) => format!("ends after {} without work or viewers", humantime::format_duration(span)),
        None => "runs until `flightdeck stop`".to_owned(),
    };
    eprintln!(
        "Started a server in the background at {} (process {}); it {end}.{taken}",
        clean(url),
        greeting["pid"].as_u64().unwrap_or_default()
    );
}

/// The log, and where this run's part of it begins.
fn open_log(file: &Path) -> io::Result<(File, u64)> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let log = options.open(file)?;
    let length = log.metadata()?.len();
    if length > LARGEST_LOG {
        log.set_len(0)?;
        return Ok((log, 0));
    }
    Ok((log, length))
}

fn explanation(log: &Path, begins_at: u64) -> String {
    let data = std::fs::read(log).unwrap_or_default();
    let own = data.get(usize::try_from(begins_at).unwrap_or(0)..).unwrap_or_default();
    let text = clean(&String::from_utf8_lossy(own));
    let lines: Vec<&str> = text.lines().collect();
    let shown = &lines[lines.len().saturating_sub(EXPLAINING_LINES)..];
    shown.iter().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

/// A server that somebody else is starting holds the folder before it can be reached.
async fn started_elsewhere(context: &CommandContext) -> Option<LocalServer> {
    let limit = Instant::now() + START_LIMIT;
    while crate::store::ServerNote::is_folder_held(&context.resolved.data_folder) && Instant::now() < limit {
        if let Some(server) = context.server() {
            return Some(server);
        }
        tokio::time::sleep(LOOK_AGAIN_AFTER).await;
    }
    context.server()
}
