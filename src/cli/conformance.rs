//! `flightdeck conformance`: checks what capture assumes about the installed agents, stores the results and prints them.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::json;

use super::arguments::{CommonFlags, ConformanceFlags};
use super::command_context::CommandContext;
use super::output::{print, table};
use crate::agent::{AssumptionResult, ConformanceReport, ConformanceResults, PastResult, Runtimes};

/// How long one step of an agent may take. A slow machine needs seconds for the first one.
const PATIENCE: Duration = Duration::from_secs(20);

pub(super) fn conformance(flags: &ConformanceFlags, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let context = CommandContext::new(common)?;
    let results = ConformanceResults::in_folder(&context.resolved.data_folder);
    if flags.history {
        let history = results.history().map_err(anyhow::Error::msg)?;
        let shown = history.into_iter().filter(|past| flags.runtime.as_ref().is_none_or(|name| *name == past.runtime));
        return print_history(&shown.collect::<Vec<_>>(), common.json);
    }
    let reports = context.with_runtimes(async |runtimes, _| run(runtimes, flags, common.json).await)?;
    for report in &reports {
        results.add(report).context("cannot save the result in the data folder")?;
    }
    if common.json {
        print(&json!({ "reports": reports }).to_string())?;
    } else {
        for report in &reports {
            print(&shown(report))?;
        }
    }
    let passed = reports.iter().all(ConformanceReport::passed);
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn run(runtimes: &Runtimes, flags: &ConformanceFlags, quiet: bool) -> anyhow::Result<Vec<ConformanceReport>> {
    let chosen: Vec<_> = match &flags.runtime {
        Some(name) => vec![runtimes.named(name)?],
        None => runtimes.iter().filter(|runtime| runtime.has_conformance_checks()).collect(),
    };
    let mut reports = Vec::new();
    for runtime in chosen {
        let Some(checks) = runtime.conformance(PATIENCE) else {
            let known = runtimes.iter().filter(|runtime| runtime.has_conformance_checks());
            let known: Vec<String> = known.map(|runtime| runtime.name().to_owned()).collect();
            bail!(
                "cannot check {}: it is not used for capture; runtimes with conformance checks: {}",
                runtime.name(),
                known.join(", ")
            );
        };
        if !quiet {
            eprintln!("Checking {}; this takes up to a minute.", runtime.name());
        }
        reports.push(checks.await.map_err(|problem| anyhow::anyhow!("cannot check {}: {problem}", runtime.name()))?);
    }
    Ok(reports)
}

/// Failures first, then the rest in their order.
fn shown(report: &ConformanceReport) -> String {
    let failed = report.failures().count();
    let mut lines = vec![format!(
        "{} {} ({}), {}: {} of {} checks passed, in {:.1} s",
        report.runtime,
        report.version,
        report.program,
        report.at,
        report.checks.len() - failed,
        report.checks.len(),
        Duration::from_millis(report.milliseconds).as_secs_f64()
    )];
    let passed = report.checks.iter().filter(|check| check.passed);
    lines.extend(report.failures().chain(passed).map(entry));
    let off: Vec<String> = report.switched_off().iter().map(|capability| format!("`{capability}`")).collect();
    if !off.is_empty() {
        lines.push(format!(
            "\nCapture mode {} is off for this version. docs/upgrading-agents.md says what to do.",
            off.join(" and ")
        ));
    } else if failed > 0 {
        lines.push("\nNothing is disabled: no capture mode depends on what failed.".to_owned());
    }
    lines.join("\n")
}

fn entry(check: &AssumptionResult) -> String {
    let verdict = if check.passed { "ok  " } else { "FAIL" };
    let (id, assumption, why, seen) = (&check.id, &check.assumption, &check.why, &check.seen);
    format!("\n{verdict}  {id}\n      {assumption}\n      why:  {why}\n      seen: {seen}")
}

fn print_history(history: &[PastResult], as_json: bool) -> anyhow::Result<ExitCode> {
    if as_json {
        print(&json!({ "history": history }).to_string())?;
    } else if history.is_empty() {
        print("No results yet: run `flightdeck conformance`.")?;
    } else {
        let rows: Vec<Vec<String>> = history.iter().map(row).collect();
        print(&table(&["DATE", "RUNTIME", "VERSION", "PASSED", "FAILED", "FAILED CHECKS"], &rows))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn row(past: &PastResult) -> Vec<String> {
    vec![
        past.at.to_string(),
        past.runtime.clone(),
        past.version.clone(),
        past.passed.to_string(),
        past.failed.len().to_string(),
        past.failed.join(", "),
    ]
}
