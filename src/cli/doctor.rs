//! `flightdeck doctor`: prints what is ready, then each check with what to do, grouped by agent.

use std::process::ExitCode;

use anyhow::Context as _;
use serde_json::json;

use super::arguments::{CommonFlags, DoctorFlags};
use super::command_context::CommandContext;
use super::output::print;
use crate::doctor::{self, Canary, DoctorInput, Report};
use crate::http::Listeners;
use crate::model::{Check, CheckVerdict};
use crate::store::{DataFolder, Store, StoreSettings};

pub(super) fn doctor(flags: &DoctorFlags, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let context = CommandContext::new(common)?;
    if !common.json {
        eprintln!("Checking; this may take a few seconds for each agent.");
    }
    let report: Report = match context.get(&format!("/api/doctor?canary={}", !flags.no_canary))? {
        Some(answer) => serde_json::from_value(answer).context("the server returned an invalid report")?,
        None => examine_here(&context, flags)?,
    };
    let verdict = report.verdict();
    if common.json {
        print(&json!({ "verdict": verdict, "ready": report.ready, "checks": report.checks }).to_string())?;
    } else {
        for line in lines(&report) {
            print(&line)?;
        }
    }
    Ok(if verdict == CheckVerdict::Failure { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Runs the checks in this process when no server is running.
fn examine_here(context: &CommandContext, flags: &DoctorFlags) -> anyhow::Result<Report> {
    let config = &context.resolved.loaded.config;
    let folder = match DataFolder::lock(&context.resolved.data_folder) {
        Ok(folder) => folder,
        Err(error) => {
            let message = format!("{:#}", anyhow::Error::new(error));
            return Ok(Report::of(Check::failure("data folder", message, "choose another folder with --data-dir")));
        }
    };
    let store = match Store::open(&folder, StoreSettings { max_bytes: None }) {
        Ok(store) => store,
        Err(error) => {
            let message = format!("{:#}", anyhow::Error::new(error));
            return Ok(Report::of(Check::failure("database", message, "restore a backup, or move the database away")));
        }
    };
    let address = config.server.address().map_err(anyhow::Error::msg)?;
    let port = config.server.port;
    let report = context.with_runtimes(async |runtimes, quarantine| {
        let port_check = match Listeners::bind(address, port).await {
            Ok(_) if port == 0 => Check::ok("port", "0, so the server picks a free port"),
            Ok(_) => Check::ok("port", format!("{port} is free")),
            Err(error) => Check::failure("port", error.to_string(), "choose another port with --port or server.port"),
        };
        let input = DoctorInput {
            data_folder: folder.path(),
            store: &store,
            runtimes,
            quarantine,
            canary: if flags.no_canary { Canary::Skip } else { Canary::Run },
        };
        let mut report = doctor::examine(&input).await;
        report.checks.insert(0, port_check);
        store.close().await;
        report
    });
    Ok(report)
}

fn lines(report: &Report) -> Vec<String> {
    let ready: Vec<&str> = report.ready.iter().map(|ready| ready.runtime.as_str()).collect();
    let mut lines = vec![match ready.as_slice() {
        [] => "No agent is ready.".to_owned(),
        names => format!("Ready: {}", names.join(", ")),
    }];
    for (group, checks) in report.groups() {
        lines.push(String::new());
        lines.push(if group == Check::MACHINE { "This machine".to_owned() } else { group.to_owned() });
        lines.extend(checks.into_iter().map(line));
    }
    lines
}

fn line(check: &Check) -> String {
    let verdict = match check.verdict {
        CheckVerdict::Ok => "ok     ",
        CheckVerdict::Info => "info   ",
        CheckVerdict::Warning => "warning",
        CheckVerdict::Failure => "FAILURE",
    };
    let hint = check.hint.as_deref().map(|hint| format!("\n           → {hint}")).unwrap_or_default();
    format!("  {verdict}  {}: {}{hint}", check.name, check.message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::ReadyRuntime;

    #[test]
    fn what_is_ready_comes_first_and_agents_are_grouped() {
        let report = Report {
            ready: vec![ReadyRuntime { runtime: "demo".to_owned(), hint: String::new() }],
            checks: vec![
                Check::ok("port", "8888 is free"),
                Check::info("copilot: program", "not installed", "run `x`").in_group("copilot"),
                Check::ok("demo", "no AI").in_group("demo"),
            ],
        };
        assert_eq!(
            lines(&report).join("\n"),
            "Ready: demo\n\n\
             This machine\n  ok       port: 8888 is free\n\n\
             copilot\n  info     copilot: program: not installed\n           → run `x`\n\n\
             demo\n  ok       demo: no AI"
        );
        assert_eq!(lines(&Report::default()), ["No agent is ready."]);
    }
}
