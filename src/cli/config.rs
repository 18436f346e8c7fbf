//! `flightdeck config`: every setting and where its value came from.

use std::process::ExitCode;

use serde_json::{Map, json};

use super::arguments::{CommonFlags, resolve};

pub(super) fn config(common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let resolved = resolve(common, Vec::new())?;
    let values = &resolved.loaded.values;
    if common.json {
        let settings: Map<String, serde_json::Value> = values
            .iter()
            .map(|(key, (value, origin))| (key.clone(), json!({ "value": value, "origin": origin.to_string() })))
            .collect();
        println!(
            "{}",
            json!({ "settings": settings, "userFile": resolved.paths.user_file, "dataFolder": resolved.data_folder })
        );
        return Ok(ExitCode::SUCCESS);
    }
    println!("# user's file: {}", resolved.paths.user_file.display());
    println!("# data folder: {}", resolved.data_folder.display());
    let settings: Vec<(String, String)> =
        values.iter().map(|(key, (value, origin))| (format!("{key} = {value}"), origin.to_string())).collect();
    let width = settings.iter().map(|(setting, _)| setting.chars().count()).max().unwrap_or(0);
    for (setting, origin) in settings {
        println!("{setting:width$}  # {origin}");
    }
    Ok(ExitCode::SUCCESS)
}
