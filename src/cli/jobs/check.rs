//! `flightdeck jobs check`: checks an entry without a server.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use serde_json::{Value, json};

use super::super::arguments::{CommonFlags, Resolved};
use super::super::command_context::CommandContext;
use super::super::output::print;
use super::super::terminal::style::Style;
use super::super::terminal::text::{clean, count, path, value, working_directory};
use super::arguments::CheckFlags;
use crate::client::about_folder;
use crate::jobs::entry::{EntryCache, EntrySource, LoadedEntry, find_folder_entry};

pub(super) fn check(flags: &CheckFlags, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let context = CommandContext::new(common)?;
    let start = &context.resolved.start_folder;
    let (source, folder) = if let Some(file) = &flags.file {
        (EntrySource::Configuration(start.join(file)), None)
    } else {
        let folder = working_directory(start, flags.folder.folder.as_ref())?;
        (entry_of(&context.resolved, &folder), Some(folder))
    };
    let loaded = EntryCache::default().load(&source);
    let described = folder.and_then(|folder| described(&context, &folder, &loaded));
    let report = Report::new(&loaded, described.as_ref());
    if common.json {
        print(&report.json(&loaded).to_string())?;
    } else {
        print(&report.text(&loaded, Style::of_output()))?;
    }
    Ok(if report.errors == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The entry of a folder, trusted or not.
fn entry_of(resolved: &Resolved, folder: &Path) -> EntrySource {
    let configured = &resolved.loaded.config.jobs.entry;
    match find_folder_entry(folder) {
        Some(path) => EntrySource::Folder(path),
        None if configured.as_os_str().is_empty() => EntrySource::Default,
        None => EntrySource::Configuration(resolved.start_folder.join(configured)),
    }
}

/// What the running server knows about the same file: whether it is trusted, and which models there are.
fn described(context: &CommandContext, folder: &Path, loaded: &LoadedEntry) -> Option<Value> {
    // A check works without a server, so it also works with one that does not answer.
    let described = context.get(&about_folder("/api/jobs/entry", folder)).ok().flatten()?;
    (described["hash"] == loaded.hash.as_str()).then_some(described)
}

struct Report {
    /// Severity and text.
    problems: Vec<(bool, String)>,
    problems_json: Value,
    errors: usize,
    /// `None` if no server says so.
    trusted: Option<bool>,
}

impl Report {
    fn new(loaded: &Arc<LoadedEntry>, described: Option<&Value>) -> Self {
        let mut problems: Vec<(bool, String)> =
            loaded.problems.iter().map(|problem| (problem.is_error(), clean(&problem.to_string()))).collect();
        let mut problems_json = json!(loaded.problems);
        let known = loaded.problems.len();
        if let Some(described) = described {
            // The server checks the same way and then adds what it knows of models.
            let more: Vec<Value> =
                described["problems"].as_array().into_iter().flatten().skip(known).cloned().collect();
            for problem in &more {
                let text = format!("{}: {}", value(&problem["path"]), value(&problem["message"]));
                problems.push((problem["severity"] == "error", text));
            }
            problems_json.as_array_mut().expect("a list").extend(more);
        }
        let errors = problems.iter().filter(|(is_error, _)| *is_error).count();
        Self {
            problems,
            problems_json,
            errors,
            trusted: described.and_then(|described| described["trusted"].as_bool()),
        }
    }

    fn json(&self, loaded: &LoadedEntry) -> Value {
        let mut json = json!({
            "source": loaded.source.as_str(),
            "hash": loaded.hash,
            "valid": self.errors == 0,
            "problems": self.problems_json,
        });
        if let Some(path) = loaded.path() {
            json["path"] = json!(path);
        }
        if let Some(trusted) = self.trusted {
            json["trusted"] = json!(trusted);
        }
        json
    }

    fn text(&self, loaded: &LoadedEntry, style: Style) -> String {
        let mut lines: Vec<String> = Vec::new();
        for (is_error, text) in &self.problems {
            let severity = if *is_error { style.red("error") } else { style.yellow("warning") };
            lines.push(format!("{severity}: {text}"));
        }
        let name = match loaded.path() {
            Some(file) => path(file),
            None => "the jobs that come with Flightdeck".to_owned(),
        };
        let warnings = self.problems.len() - self.errors;
        let noted = if warnings > 0 { format!(", {}", count(warnings, "warning")) } else { String::new() };
        match &loaded.entry {
            Some(entry) if self.errors == 0 => {
                let (jobs, tasks) = (entry.entry().jobs.len(), entry.tasks().len());
                lines.push(format!("{name}: valid, {}, {}{noted}", count(jobs, "job"), count(tasks, "task")));
            }
            _ => lines.push(format!("{name}: {}{noted}", count(self.errors, "error"))),
        }
        match (&loaded.source, self.trusted) {
            (EntrySource::Folder(_), Some(true)) => {
                lines.push("You trust this file; its jobs can be started.".to_owned());
            }
            (EntrySource::Folder(_), Some(false)) => {
                lines
                    .push("You do not trust this file yet. To start its jobs, run `flightdeck jobs trust`.".to_owned());
            }
            _ => {}
        }
        lines.join("\n")
    }
}
