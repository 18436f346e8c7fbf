//! `flightdeck models`: lists the models, and why a list is incomplete.

use std::process::ExitCode;

use serde_json::{Value, json};

use super::arguments::{CommonFlags, ModelsFlags};
use super::output::{say, table};
use super::workbench::Workbench;
use crate::agent::Freshness;
use crate::http::models_json;

pub(super) fn models(flags: &ModelsFlags, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let bench = Workbench::new(common)?;
    let answer = match bench.ask(&format!("/api/models?refresh={}", flags.refresh))? {
        Some(answer) => answer,
        None => bench.with_runtimes(async |runtimes, _| {
            let freshness = if flags.refresh { Freshness::Now } else { Freshness::Recent };
            let default = &bench.resolved.loaded.config.sessions.runtime;
            models_json(runtimes.model_lists(default, freshness).await)
        }),
    };
    if common.json {
        say(&answer.to_string())?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let rows: Vec<Vec<String>> = answer["models"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|model| model["hidden"] != json!(true))
        .map(|model| {
            let multiplier = model["multiplier"].as_f64().map(|times| format!("{times}x")).unwrap_or_default();
            vec![text(&model["listedId"]), text(&model["name"]), multiplier, text(&model["runtime"])]
        })
        .collect();
    say(&table(&["ID", "NAME", "COST", "RUNTIME"], &rows))?;
    for note in answer["notes"].as_array().into_iter().flatten() {
        say(&format!("{}: {}", text(&note["runtime"]), text(&note["reason"])))?;
    }
    Ok(ExitCode::SUCCESS)
}
