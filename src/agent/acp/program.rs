//! Finds the program of a configured agent.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::settings::AcpSettings;
use crate::agent::program::{FoundProgram, ProgramSource, file_names, is_program, now};

/// The program, or what to do if it is missing. Checks only cheap places, because every list calls it.
pub(super) fn find(settings: &AcpSettings, version: Option<String>) -> Result<FoundProgram, String> {
    let command = &settings.command;
    let (path, source) = if Path::new(command).components().count() > 1 {
        (Some(PathBuf::from(command)).filter(|path| is_program(path)), ProgramSource::Configuration)
    } else {
        (on_path(command, &settings.environment), ProgramSource::Path)
    };
    let path = path.ok_or_else(|| {
        format!(
            "{}: program {command} not found; install it, or fix `command` in [acp.{}] of the configuration",
            settings.name, settings.title
        )
    })?;
    let leading_arguments = settings.arguments.clone();
    Ok(FoundProgram { path, leading_arguments, native: true, version, source, found_at: now() })
}

fn on_path(name: &str, environment: &BTreeMap<String, String>) -> Option<PathBuf> {
    let folders = environment.get("PATH").map(String::as_str).unwrap_or_default();
    std::env::split_paths(folders)
        .flat_map(|folder| file_names(name).into_iter().map(move |file| folder.join(file)))
        .find(|file| is_program(file))
}
