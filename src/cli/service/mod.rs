//! `flightdeck service`: starts the server at login, by systemd on Linux and by launchd on macOS.
//!
//! What must always hold here:
//!
//! - A file is written only if it differs, and only below the user's own folders.
//! - Where the service manager cannot be run, the command says what to run instead; it never claims that it did.

mod definition;
mod launchd;
mod manager;
mod systemd;

use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;

use super::arguments::{CommonFlags, resolve};
use super::output::print;
use super::terminal::text::path;
use definition::Definition;
use manager::{Step, run_steps};

#[derive(Debug, Subcommand)]
pub(super) enum ServiceCommand {
    /// Start the server now and at every login
    Install(ServiceFlags),
    /// Stop the service and remove it; sessions and settings stay
    Uninstall(ServiceFlags),
    /// Show whether the service is installed and running
    ///
    /// Exit codes: 0 it is running, 1 it is not, or that is unknown.
    Status(ServiceFlags),
}

#[derive(Debug, Args)]
pub(super) struct ServiceFlags {
    /// The service manager [default: systemd on Linux, launchd on macOS]
    #[arg(long, value_enum)]
    pub manager: Option<ManagerName>,
    /// Print the file of the service and what would be run, and change nothing
    #[arg(long)]
    pub dry: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ManagerName {
    Systemd,
    Launchd,
}

/// Runs one of the commands.
pub(super) fn run(command: &ServiceCommand, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let (ServiceCommand::Install(flags) | ServiceCommand::Uninstall(flags) | ServiceCommand::Status(flags)) = command;
    let Some(name) = flags.manager.or_else(usual_manager) else {
        bail!("services are supported by systemd (Linux) and launchd (macOS) only");
    };
    let definition = Definition::new(name, common.data_dir.as_ref().map(|_| resolve(common, Vec::new())).transpose()?)?;
    match command {
        ServiceCommand::Install(flags) => install(&definition, flags, common),
        ServiceCommand::Uninstall(flags) => uninstall(&definition, flags, common),
        ServiceCommand::Status(_) => status(&definition, common),
    }
}

fn usual_manager() -> Option<ManagerName> {
    if cfg!(target_os = "linux") {
        Some(ManagerName::Systemd)
    } else if cfg!(target_os = "macos") {
        Some(ManagerName::Launchd)
    } else {
        None
    }
}

fn install(definition: &Definition, flags: &ServiceFlags, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let (file, text, steps) = (&definition.file, definition.text(), definition.install_steps());
    if flags.dry {
        return dry(definition, &text, &steps, common);
    }
    let present = std::fs::read_to_string(file).ok();
    if present.as_deref() != Some(text.as_str()) {
        let folder = file.parent().context("the file of the service has no folder")?;
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", path(folder)))?;
        crate::private_file::write(file, text.as_bytes(), crate::private_file::Durability::Process)
            .with_context(|| format!("cannot write {}", path(file)))?;
        eprintln!("Wrote {}.", path(file));
    }
    report(run_steps(&steps)?, &steps, "Installed: the server runs now and starts at every login.", common)
}

fn uninstall(definition: &Definition, flags: &ServiceFlags, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let file = &definition.file;
    if flags.dry {
        return dry(definition, "", &definition.uninstall_steps(), common);
    }
    if !file.exists() {
        bail!("the service is not installed: there is no {}", path(file));
    }
    let before = definition.uninstall_steps();
    let ran = run_steps(&before)?;
    std::fs::remove_file(file).with_context(|| format!("cannot remove {}", path(file)))?;
    eprintln!("Removed {}.", path(file));
    let after = definition.after_removal_steps();
    let ran = ran & run_steps(&after)?;
    let steps: Vec<Step> = before.into_iter().chain(after).collect();
    report(ran, &steps, "Uninstalled. Sessions and settings are still there.", common)
}

fn status(definition: &Definition, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let is_installed = definition.file.exists();
    let state = if is_installed { definition.state() } else { None };
    let is_running = state.as_deref() == Some("running");
    if common.json {
        print(&json!({ "installed": is_installed, "file": definition.file, "state": state }).to_string())?;
    } else if is_installed {
        let state = state.unwrap_or_else(|| "unknown: the service manager cannot be asked".to_owned());
        print(&format!("Installed ({}); state: {state}.", path(&definition.file)))?;
    } else {
        print("Not installed. `flightdeck service install` installs it.")?;
    }
    Ok(if is_running { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn dry(definition: &Definition, text: &str, steps: &[Step], common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let commands: Vec<String> = steps.iter().map(Step::shown).collect();
    print(&if common.json {
        json!({ "file": definition.file, "text": text, "commands": commands }).to_string()
    } else if text.is_empty() {
        format!("{}\nrm {}", commands.join("\n"), path(&definition.file))
    } else {
        format!("# {}\n{text}\n# then:\n{}", path(&definition.file), commands.join("\n"))
    })?;
    Ok(ExitCode::SUCCESS)
}

fn report(ran: bool, steps: &[Step], done: &str, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let commands: Vec<String> = steps.iter().map(Step::shown).collect();
    if common.json {
        print(&json!({ "done": ran, "commands": commands }).to_string())?;
    } else if ran {
        print(done)?;
    } else {
        let program = steps.first().map_or("the service manager", |step| step.program);
        print(&format!("{program} cannot be run here. To finish, run:\n  {}", commands.join("\n  ")))?;
    }
    Ok(ExitCode::SUCCESS)
}
