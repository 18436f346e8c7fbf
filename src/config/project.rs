//! A project's own file.

use std::path::{Path, PathBuf};

use toml::Value;

use super::layers::project_layer;
use crate::model::ProjectDefaults;

/// The nearest `.flightdeck.toml` at or above a folder.
pub(super) fn project_file(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().map(|folder| folder.join(".flightdeck.toml")).find(|file| file.is_file())
}

/// What the project of a folder says about sessions in it. The error is for people.
pub fn project_defaults(folder: &Path, user_file: &Path) -> Result<ProjectDefaults, String> {
    let mut defaults = ProjectDefaults::default();
    let Some(file) = project_file(folder) else { return Ok(defaults) };
    for (key, value, origin) in project_layer(&file, user_file).map_err(|error| error.to_string())? {
        let Value::String(text) = value else {
            return Err(format!("{origin} sets `{key}` to something that is not a text"));
        };
        match key.as_str() {
            "sessions.runtime" => defaults.runtime = Some(text),
            "sessions.model" => defaults.model = Some(text),
            "sessions.effort" => defaults.effort = Some(text),
            _ => {}
        }
    }
    Ok(defaults)
}
