//! `flightdeck doctor`: a line per check, and what to do.

use std::process::ExitCode;

use anyhow::Context as _;
use serde_json::json;

use super::arguments::{CommonFlags, DoctorFlags};
use super::output::say;
use super::workbench::Workbench;
use crate::doctor::{self, Patient};
use crate::http::Listeners;
use crate::http::scripted_model::ScriptedModel;
use crate::model::{Check, CheckVerdict};
use crate::store::{DataFolder, Store, StoreSettings};

pub(super) fn doctor(flags: &DoctorFlags, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let bench = Workbench::new(common)?;
    if !common.json {
        eprintln!("checking; an agent may take some seconds to answer …");
    }
    let checks: Vec<Check> = match bench.ask(&format!("/api/doctor?canary={}", !flags.no_canary))? {
        Some(answer) => serde_json::from_value(answer["checks"].clone()).context("the server gave no checks")?,
        None => examine_here(&bench, flags)?,
    };
    let verdict = doctor::verdict(&checks);
    if common.json {
        say(&json!({ "verdict": verdict, "checks": checks }).to_string())?;
    } else {
        for check in &checks {
            say(&line(check))?;
        }
    }
    Ok(if verdict == CheckVerdict::Failure { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Without a server everything is opened here, looked at, and closed again.
fn examine_here(bench: &Workbench, flags: &DoctorFlags) -> anyhow::Result<Vec<Check>> {
    let config = &bench.resolved.loaded.config;
    let folder = match DataFolder::lock(&bench.resolved.data_folder) {
        Ok(folder) => folder,
        Err(error) => {
            let message = format!("{:#}", anyhow::Error::new(error));
            return Ok(vec![Check::failure("data folder", message, "choose another folder with --data-dir")]);
        }
    };
    let store = match Store::open(&folder, StoreSettings { max_bytes: None }) {
        Ok(store) => store,
        Err(error) => {
            let message = format!("{:#}", anyhow::Error::new(error));
            return Ok(vec![Check::failure("database", message, "restore a backup, or move the database away")]);
        }
    };
    let address = config.server.address().map_err(anyhow::Error::msg)?;
    let port = config.server.port;
    let checks = bench.with_runtimes(async |runtimes, quarantine| {
        let listening = Listeners::bind(address, port).await;
        let mut checks = vec![match listening {
            Ok(_) => Check::ok("port", format!("{port} is free")),
            Err(error) => Check::failure("port", error.to_string(), "choose another port with --port or server.port"),
        }];
        let model = if flags.no_canary { None } else { ScriptedModel::start().await.ok() };
        let patient = Patient {
            data_folder: folder.path(),
            store: &store,
            runtimes,
            quarantine,
            model_url: model.as_ref().map(ScriptedModel::base_url),
        };
        checks.extend(doctor::examine(&patient).await);
        store.close().await;
        checks
    });
    Ok(checks)
}

fn line(check: &Check) -> String {
    let verdict = match check.verdict {
        CheckVerdict::Ok => "ok     ",
        CheckVerdict::Warning => "warning",
        CheckVerdict::Failure => "FAILURE",
    };
    let hint = check.hint.as_deref().map(|hint| format!("\n         → {hint}")).unwrap_or_default();
    format!("{verdict}  {}: {}{hint}", check.name, check.message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_was_found_and_what_to_do() {
        let check = Check::warning("git", "is not there", "install git");
        assert_eq!(line(&check), "warning  git: is not there\n         → install git");
        assert_eq!(json!(check)["verdict"], "warning");
    }
}
