//! `flightdeck config`: every setting and where its value came from.

use std::process::ExitCode;

use serde_json::{Map, json};

use toml::Value;

use super::arguments::{CommonFlags, resolve};
use super::output::print;
use crate::config::{Origin, without_secrets};

pub(super) fn config(common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let resolved = resolve(common, Vec::new())?;
    let values: Vec<(&String, Value, &Origin)> = resolved
        .loaded
        .values
        .iter()
        .map(|(key, (value, origin))| (key, without_secrets(key, value), origin))
        .collect();
    if common.json {
        let settings: Map<String, serde_json::Value> = values
            .iter()
            .map(|(key, value, origin)| ((*key).clone(), json!({ "value": value, "origin": origin.to_string() })))
            .collect();
        let (user_file, data_folder) = (&resolved.loaded.user_file, &resolved.data_folder);
        print(&json!({ "settings": settings, "userFile": user_file, "dataFolder": data_folder }).to_string())?;
        return Ok(ExitCode::SUCCESS);
    }
    let settings: Vec<(String, String)> =
        values.iter().map(|(key, value, origin)| (format!("{key} = {value}"), origin.to_string())).collect();
    let width = settings.iter().map(|(setting, _)| setting.chars().count()).max().unwrap_or(0);
    let mut lines = vec![
        format!("# user's file: {}", resolved.loaded.user_file.display()),
        format!("# data folder: {}", resolved.data_folder.display()),
    ];
    lines.extend(settings.iter().map(|(setting, origin)| format!("{setting:width$}  # {origin}")));
    print(&lines.join("\n"))?;
    Ok(ExitCode::SUCCESS)
}
