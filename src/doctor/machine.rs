//! Checks of the machine: data folder, database, disk, git.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

use crate::agent::{AgentProcess, Quarantine};
use crate::model::Check;
use crate::process::Supervisor;
use crate::store::{DataFolder, Store, StoreHealth};

const GIT_WITHIN: Duration = Duration::from_secs(10);
const MB: u64 = 1024 * 1024;
/// Free space that is too little, and free space that soon may be.
const TOO_LITTLE: u64 = 100 * MB;
const LITTLE: u64 = 1024 * MB;

/// Whether the data folder is writable.
pub(super) async fn folder_check(folder: &Path) -> Check {
    let name = "data folder";
    let probe = folder.join(format!("doctor-{}", std::process::id()));
    let tried = tokio::fs::write(&probe, b"written by doctor").await;
    let _ = tokio::fs::remove_file(&probe).await;
    match tried {
        Ok(()) => Check::ok(name, folder.display().to_string()),
        Err(error) => Check::failure(
            name,
            format!("cannot write to {}: {error}", folder.display()),
            "check its owner and permissions, or choose another folder with --data-dir",
        ),
    }
}

/// Whether the database is intact and writable.
pub(super) async fn database_check(store: &Store) -> Check {
    let name = "database";
    // An error means that the writer has stopped, which `health` reports too.
    let _ = store.probe().await;
    match store.health().borrow().clone() {
        StoreHealth::Good => {}
        StoreHealth::Refusing { reason } => {
            return Check::failure(name, reason, "free some disk space, or delete sessions; writing resumes by itself");
        }
        StoreHealth::Dead { reason } => return Check::failure(name, reason, "restart the server"),
    }
    match store.problems().await {
        Ok(problems) if problems.is_empty() => Check::ok(name, "intact and writable"),
        Ok(problems) => Check::failure(
            name,
            problems.join("; "),
            "stop the server, move the database file away, and restore a backup",
        ),
        Err(error) => Check::failure(name, error.to_string(), "check the disk, then restart the server"),
    }
}

/// How much space the disk has left.
#[cfg(unix)]
pub(super) fn space_check(folder: &Path) -> Check {
    let name = "disk space";
    let found = match rustix::fs::statvfs(folder) {
        Ok(found) => found,
        Err(error) => return Check::warning(name, format!("cannot be measured: {error}"), "check the disk yourself"),
    };
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    let message = format!("{} MB free", free / MB);
    match free {
        0..TOO_LITTLE => Check::failure(name, message, "free some disk space: sessions cannot be saved without it"),
        TOO_LITTLE..LITTLE => Check::warning(name, message, "free some disk space soon"),
        _ => Check::ok(name, message),
    }
}

#[cfg(not(unix))]
pub(super) fn space_check(_: &Path) -> Check {
    Check::info("disk space", "not measured on this system", "check the disk yourself")
}

/// Whether processes of an earlier run are still running.
pub(super) async fn orphan_check(data_folder: &Path) -> Check {
    let name = "orphaned processes";
    let supervisor = Supervisor::in_folder(data_folder.join(DataFolder::PROCESSES));
    let hint = "restart the server, which ends them";
    match tokio::task::spawn_blocking(move || supervisor.orphans()).await {
        Ok(Ok(orphans)) if orphans.is_empty() => Check::ok(name, "none"),
        Ok(Ok(orphans)) => {
            let names: Vec<String> = orphans.iter().map(|orphan| format!("{} ({})", orphan.name, orphan.pid)).collect();
            Check::warning(name, format!("left by an earlier run: {}", names.join(", ")), hint)
        }
        Ok(Err(error)) => Check::warning(name, error.to_string(), "check the owner of the data folder"),
        Err(error) => Check::warning(name, error.to_string(), hint),
    }
}

/// What an agent's processes use.
pub(super) fn process_check(process: &AgentProcess) -> Check {
    let name = format!("{}: process {}", process.runtime, process.pid);
    let memory = process.resident_bytes / MB;
    let (sessions, children, seconds) = (process.sessions, process.children, process.cpu_seconds);
    Check::ok(name, format!("{memory} MB, {seconds:.1} s CPU time, {sessions} sessions, {children} child processes"))
}

/// Whether the quarantine can be read; otherwise no agent may start.
pub(super) fn quarantine_check(quarantine: &Quarantine) -> Option<Check> {
    let problem = quarantine.problem()?;
    Some(Check::failure("quarantine", problem, "delete quarantine.json, then run `flightdeck doctor`"))
}

/// Whether git is installed, which shows what sessions change.
pub(super) async fn git_check() -> Check {
    let mut git = Command::new("git");
    git.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    match tokio::time::timeout(GIT_WITHIN, git.output()).await {
        Ok(Ok(output)) if output.status.success() => {
            Check::ok("git", String::from_utf8_lossy(&output.stdout).trim().to_owned())
        }
        _ => Check::warning("git", "not found", "install git to see what sessions change"),
    }
}
