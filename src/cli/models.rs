//! `flightdeck models`: lists the models, and why a list is incomplete.

use std::process::ExitCode;

use serde_json::{Value, json};

use super::arguments::{CommonFlags, ModelsFlags};
use super::command_context::CommandContext;
use super::output::{print, table};
use crate::agent::Freshness;
use crate::http::model_reply;

pub(super) fn models(flags: &ModelsFlags, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let context = CommandContext::new(common)?;
    let answer = match context.get(&format!("/api/models?refresh={}", flags.refresh))? {
        Some(answer) => answer,
        None => context.with_runtimes(async |runtimes, _| {
            let freshness = if flags.refresh { Freshness::Now } else { Freshness::Recent };
            let default = &context.resolved.loaded.config.sessions.runtime;
            json!(model_reply(runtimes.model_lists(default, freshness).await))
        }),
    };
    if common.json {
        print(&answer.to_string())?;
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
    print(&table(&["ID", "NAME", "COST", "RUNTIME"], &rows))?;
    for note in answer["notes"].as_array().into_iter().flatten() {
        print(&format!("{}: {}", text(&note["runtime"]), text(&note["reason"])))?;
    }
    Ok(ExitCode::SUCCESS)
}
