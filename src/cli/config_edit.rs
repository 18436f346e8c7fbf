//! `flightdeck config get`, `set` and `unset`: one setting, checked before it is written.

use std::process::ExitCode;

use anyhow::{Context as _, anyhow, bail};
use serde_json::json;
use toml::Value;

use super::arguments::{CommonFlags, ConfigCommand, Resolved, resolve, sources};
use super::command_context::CommandContext;
use super::output::print;
use super::runtime_defaults::defaults_problem;
use crate::client::LocalServer;
use crate::config::{ConfigError, Edit, Effect, Loaded, Origin, Sources, nearest_key, without_secrets};
use crate::model::names_a_secret;

pub(super) fn run(command: &ConfigCommand, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    match command {
        ConfigCommand::Show => super::config::config(common),
        ConfigCommand::Get { key } => get(key, common),
        ConfigCommand::Set { key, value, place } => {
            let sources = sources(common, Vec::new())?;
            let edit = Edit::set(&sources, place.place(), key, value).map_err(|error| refused(error, key))?;
            finish((key, value), &edit, &sources, common)
        }
        ConfigCommand::Unset { key, place } => {
            let sources = sources(common, Vec::new())?;
            let edit = Edit::unset(&sources, place.place(), key).context("nothing was written")?;
            finish((key, ""), &edit, &sources, common)
        }
    }
}

/// The value is not in any file yet, so the error does not name one.
fn refused(error: ConfigError, edited: &str) -> anyhow::Error {
    match error {
        ConfigError::BadValue { key, message, .. } if key == edited => {
            anyhow!("nothing was written: invalid value of `{key}`: {message}")
        }
        other => anyhow::Error::new(other).context("nothing was written"),
    }
}

fn get(key: &str, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let loaded = resolve(common, Vec::new())?.loaded;
    let Some((value, origin)) = value_of(&loaded, key) else {
        return Err(ConfigError::NoSuchKey { key: key.to_owned(), nearest: nearest_key(key) }.into());
    };
    if common.json {
        print(&json!({ "key": key, "value": value, "origin": origin.to_string() }).to_string())?;
    } else {
        print(&plain(&value))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Refuses a runtime that does not exist. Returns warnings about combinations that will probably fail.
fn check_choice((key, value): (&str, &str), context: &CommandContext) -> anyhow::Result<Vec<String>> {
    // Other settings do not affect this, and a repeated warning is only noise.
    if !["sessions.", "acp.", "runtimes."].iter().any(|group| key.starts_with(group)) {
        return Ok(Vec::new());
    }
    let config = &context.resolved.loaded.config;
    let sessions = &config.sessions;
    context.with_runtimes(async |runtimes, _| {
        if let Some(problem) = defaults_problem(config, runtimes) {
            bail!("nothing was written: {problem}");
        }
        if key == "sessions.runtime" && !value.is_empty() {
            runtimes.named(value).context("nothing was written")?;
        }
        let mut warnings = Vec::new();
        if !sessions.runtime.is_empty()
            && let Err(error) = runtimes.named(&sessions.runtime)
        {
            warnings.push(format!("sessions.runtime is not valid: {error}."));
        }
        // Without a choice it is the first runtime that is ready, most likely the first in the list.
        let usual = runtimes.iter().next().map(|runtime| runtime.name().to_owned()).unwrap_or_default();
        let runtime = if sessions.runtime.is_empty() { &usual } else { &sessions.runtime };
        warnings.extend(runtimes.misfit(runtime, &sessions.model, &serde_json::Map::new()));
        Ok(warnings)
    })
}

/// Writes the file, then prints its path and the value in force.
fn finish(set: (&str, &str), edit: &Edit, sources: &Sources, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let (file, changes, key) = (edit.path().to_owned(), edit.changes, set.0);
    let loaded = match &edit.outcome {
        Ok(loaded) => loaded.clone(),
        Err(problem) => {
            let problem = format!("{} was written, but it still has a problem: {problem}", file.display());
            edit.write()?;
            bail!(problem);
        }
    };
    let context = CommandContext::with(Resolved::new(sources, loaded))?;
    let warnings = check_choice(set, &context)?;
    edit.write()?;
    let effective = value_of(&context.resolved.loaded, key);
    if common.json {
        let effective = effective.map(|(value, origin)| json!({ "value": value, "origin": origin.to_string() }));
        let answer =
            json!({ "key": key, "file": file, "changed": changes, "effective": effective, "warnings": warnings });
        print(&answer.to_string())?;
        return Ok(ExitCode::SUCCESS);
    }
    let done = if changes { "Written to" } else { "Nothing to change in" };
    print(&format!("{done} {}.", file.display()))?;
    match effective {
        None => print(&format!("{key} is no longer set anywhere."))?,
        Some((value, origin)) => {
            let is_elsewhere = origin != Origin::File(file) && origin != Origin::Default;
            let wins = if is_elsewhere { ", which overrides the file" } else { "" };
            print(&format!("In effect: {key} = {value}, from {origin}{wins}."))?;
        }
    }
    for warning in warnings {
        print(&format!("Warning: {warning}"))?;
    }
    if changes && let Some(server) = context.server() {
        print(&tell(&context, &server, key))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Has a running server read its files again, and says whether it uses the new value.
fn tell(context: &CommandContext, server: &LocalServer, key: &str) -> String {
    let url = server.url();
    match context.wait_for(server.patch_json("/api/settings", &json!({ "changes": {} }))) {
        Err(error) => {
            format!("The server at {url} still uses its old settings: {error}. Restart it to apply the change.")
        }
        Ok(_) if Effect::of(key) == Effect::Now => format!("The server at {url} uses it from now on."),
        Ok(_) => format!("The server at {url} needs a restart to apply the change."),
    }
}

/// A setting's value and where it came from, without secrets. Entries of tables such as `providers` and their fields
/// count as settings too.
fn value_of(loaded: &Loaded, key: &str) -> Option<(Value, Origin)> {
    if let Some((value, origin)) = loaded.values.get(key) {
        return Some((without_secrets(key, value), origin.clone()));
    }
    let unquoted = key.replace('"', "");
    let (entry, (value, origin)) = loaded.values.iter().find(|(entry, _)| {
        unquoted.strip_prefix(entry.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })?;
    let inner = unquoted[entry.len()..].trim_start_matches('.');
    let mut value = value.clone();
    for part in inner.split('.').filter(|part| !part.is_empty()) {
        if names_a_secret(part) {
            value = Value::String("[redacted]".to_owned());
            break;
        }
        value = value.get(part)?.clone();
    }
    Some((without_secrets(&unquoted, &value), origin.clone()))
}

/// Strings are printed without quotation marks, for scripts.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
