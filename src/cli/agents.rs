//! `flightdeck agents`: lists the agents and what is missing, and installs one.

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::bail;
use serde_json::{Value, json};

use super::arguments::{CommonFlags, InstallFlags};
use super::command_context::CommandContext;
use super::output::print;
use crate::agent::agent_environment;
use crate::agent::program::{InstallStep, Installable};
use crate::http::runtime_list;

pub(super) fn list(common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let context = CommandContext::new(common)?;
    let answer = match context.get("/api/runtimes")? {
        Some(answer) => answer,
        None => context.with_runtimes(async |runtimes, _| {
            json!(runtime_list(runtimes, &context.resolved.loaded.config.sessions.runtime).await)
        }),
    };
    if common.json {
        print(&answer.to_string())?;
        return Ok(ExitCode::SUCCESS);
    }
    for runtime in answer["runtimes"].as_array().into_iter().flatten() {
        print(&description(runtime))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn description(runtime: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let state = if runtime["ready"] == json!(true) { "ready" } else { "not ready" };
    let default = if runtime["default"] == json!(true) { ", the default" } else { "" };
    let mut lines = vec![format!("{} ({state}{default})", text(&runtime["name"]))];
    lines.push(format!("  {}", text(&runtime["hint"])));
    let program = &runtime["program"];
    if program.is_object() {
        let version = program["version"].as_str().unwrap_or("(unknown version)");
        lines.push(format!("  {version} at {} ({})", text(&program["path"]), text(&program["source"])));
    }
    if let Some(command) = runtime["install"].as_str() {
        lines.push(format!("  to install it, run `{command}`"));
    }
    lines.join("\n")
}

pub(super) fn install(flags: &InstallFlags, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let Some(agent) = Installable::ALL.into_iter().find(|agent| agent.name == flags.name) else {
        let known: Vec<&str> = Installable::ALL.iter().map(|agent| agent.name).collect();
        bail!("cannot install {:?}: unknown agent; the known ones are {}", flags.name, known.join(", "));
    };
    let context = CommandContext::new(common)?;
    let environment = agent_environment(std::env::vars(), &[]);
    let mut progress = Progress::new(agent.package, common.json);
    let folder = &context.resolved.data_folder;
    let installed = context.wait_for(agent.install(folder, flags.version.as_deref(), &environment, |step| {
        progress.show(step);
    }));
    progress.end();
    let program = installed?;
    if common.json {
        print(&json!({ "installed": { "name": agent.name, "program": program } }).to_string())?;
    } else {
        let version = program.version.as_deref().unwrap_or("(unknown version)");
        print(&format!("{} {version} is installed at {}.", agent.name, program.path.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Progress on one line that is rewritten on a terminal; elsewhere one line for each step.
struct Progress {
    package: &'static str,
    since: Instant,
    on_terminal: bool,
    quiet: bool,
    said_checking: bool,
}

impl Progress {
    fn new(package: &'static str, quiet: bool) -> Self {
        let on_terminal = std::io::stderr().is_terminal();
        let progress = Self { package, since: Instant::now(), on_terminal, quiet, said_checking: false };
        if !quiet && !on_terminal {
            eprintln!("installing {package} with npm …");
        }
        progress
    }

    fn show(&mut self, step: InstallStep) {
        if self.quiet {
            return;
        }
        let seconds = self.since.elapsed().as_secs();
        match step {
            InstallStep::Downloading { bytes } if self.on_terminal => {
                let megabytes = bytes / (1024 * 1024);
                eprint!("\r\x1b[Kinstalling {} with npm … {megabytes} MB, {seconds} s", self.package);
                let _ = std::io::stderr().flush();
            }
            InstallStep::Checking if !self.said_checking => {
                self.said_checking = true;
                let begin = if self.on_terminal { "\r\x1b[K" } else { "" };
                eprint!("{begin}downloaded in {seconds} s; checking that it runs …");
                let _ = std::io::stderr().flush();
            }
            InstallStep::Downloading { .. } | InstallStep::Checking => {}
        }
    }

    fn end(&self) {
        if !self.quiet && (self.on_terminal || self.said_checking) {
            eprintln!();
        }
    }
}
