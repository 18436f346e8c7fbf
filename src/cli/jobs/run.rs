//! `flightdeck jobs run`: starts a job and follows it.

use std::collections::BTreeMap;
use std::io::{IsTerminal as _, Read as _};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use super::super::arguments::CommonFlags;
use super::super::command_context::CommandContext;
use super::super::connection::{sentence, server};
use super::super::output::print;
use super::super::signals::Signals;
use super::super::terminal::style::Style;
use super::super::terminal::text::{moment, one_line, span, value, working_directory};
use super::arguments::RunFlags;
use super::dry_run;
use super::exit;
use super::follow::{Followed, follow};
use crate::client::{ClientError, about_folder};
use crate::model::{JobId, Seq};

pub(super) fn run(flags: &RunFlags, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let context = CommandContext::new(common)?;
    let server = server(&context)?;
    let folder = match working_directory(&context.resolved.start_folder, flags.folder.folder.as_ref()) {
        Ok(folder) => folder,
        Err(error) => return Ok(refused(&format!("{error:#}"))),
    };
    let offered = context.wait_for(server.get(&about_folder("/api/copilot/job", &folder))).map_err(sentence)?;
    let needs_input = offered["jobs"][&flags.name]["requireUserInput"] == true;
    let input = input(flags, needs_input, &context.resolved.start_folder)?;
    let models: BTreeMap<&str, &str> = flags.models.iter().map(|(key, model)| (key.as_str(), model.as_str())).collect();
    let body = json!({
        "jobName": flags.name, "workingDirectory": folder, "userInput": input, "models": models, "dryRun": flags.dry,
    });
    // Before the start: once there is a job, Ctrl+C says so instead of ending this command without a word.
    let is_followed = !flags.dry && !flags.detach;
    let mut signals = if is_followed { Some(context.wait_for(async { Signals::register() })?) } else { None };
    let started = context.wait_for(async {
        let post = server.post_json("/api/jobs", &body);
        match &mut signals {
            Some(signals) => tokio::select! {
                reply = post => Some(reply),
                () = signals.next() => None,
            },
            None => Some(post.await),
        }
    });
    let reply = match started {
        Some(Ok(reply)) => reply,
        Some(Err(error)) if error.is_final() => return Ok(refused(&reason(error, flags))),
        Some(Err(error)) => return Err(error.into()),
        None => {
            eprintln!("Interrupted; the job may have started. To see it, run `flightdeck jobs status`.");
            return Ok(ExitCode::from(exit::DETACHED));
        }
    };
    if flags.dry {
        print(&if common.json { reply.to_string() } else { dry_run::shown(&reply, Style::of_output()) })?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(id) = reply["jobId"].as_str().and_then(|id| id.parse::<JobId>().ok()) else {
        bail!("the server at {} started a job but did not name it", server.url());
    };
    let Some(signals) = &mut signals else {
        print(&if common.json { reply.to_string() } else { id.to_string() })?;
        let number = id.number();
        eprintln!(
            "Started {id}. To follow it, run `flightdeck jobs logs -f {number}`; to stop it, `flightdeck jobs stop {number}`."
        );
        return Ok(ExitCode::SUCCESS);
    };
    eprintln!("Started {id} ({}) in {}.", one_line(&flags.name), super::super::terminal::text::path(&folder));
    follow_to_the_end(&context, id, 0, signals, common)
}

/// Follows a job and prints how it ended.
pub(super) fn follow_to_the_end(
    context: &CommandContext,
    id: JobId,
    after: Seq,
    signals: &mut Signals,
    common: &CommonFlags,
) -> anyhow::Result<ExitCode> {
    let (status, details) = match context.wait_for(follow(context, id, after, signals))? {
        Followed::Detached => return Ok(ExitCode::from(exit::DETACHED)),
        Followed::Ended(status, details) => (status, details),
    };
    if let Some(error) = details["error"].as_str() {
        eprintln!("{}", one_line(error));
    }
    if common.json {
        let fields = ["jobId", "jobName", "status", "startTime", "endTime", "error"];
        let kept = fields.into_iter().filter(|name| !details[*name].is_null());
        let summary: serde_json::Map<String, Value> =
            kept.map(|name| (name.to_owned(), details[name].clone())).collect();
        print(&Value::Object(summary).to_string())?;
    } else {
        let took = moment(&details["startTime"]).zip(moment(&details["endTime"]));
        if let Some((started, ended)) = took {
            eprintln!("{id} ({}) took {}.", one_line(&value(&details["jobName"])), span(ended.since(started)));
        }
        print(&Style::of_output().status(status))?;
    }
    Ok(exit::of(status))
}

/// The job was not started because of what was asked for.
fn refused(reason: &str) -> ExitCode {
    eprintln!("flightdeck: {reason}");
    ExitCode::from(exit::USAGE)
}

fn reason(error: ClientError, flags: &RunFlags) -> String {
    let hint = match error.name() {
        "UserInputRequired" => "; pass it after the job's name, with -f FILE, or on standard input",
        _ => "",
    };
    let reason = sentence(error).to_string();
    let reason = reason.trim_end_matches('.');
    if flags.input.is_empty() || hint.is_empty() { format!("{reason}{hint}") } else { reason.to_owned() }
}

/// The input: the arguments, then the file. Standard input is read only where it is asked for or needed, because a
/// script may have one that never ends.
fn input(flags: &RunFlags, needs_input: bool, start: &Path) -> anyhow::Result<String> {
    let mut parts: Vec<String> = Vec::new();
    if !flags.input.is_empty() {
        parts.push(flags.input.join(" "));
    }
    match &flags.file {
        Some(file) if file.as_os_str() == "-" => parts.push(standard_input()?),
        Some(file) => {
            let text = std::fs::read_to_string(start.join(file));
            parts.push(
                text.with_context(|| {
                    format!("cannot read the input from {}", super::super::terminal::text::path(file))
                })?,
            );
        }
        None if parts.is_empty() && needs_input && !std::io::stdin().is_terminal() => parts.push(standard_input()?),
        None => {}
    }
    let parts: Vec<&str> = parts.iter().map(|part| part.trim_end_matches(['\r', '\n'])).collect();
    Ok(parts.join("\n\n"))
}

fn standard_input() -> anyhow::Result<String> {
    let mut text = String::new();
    std::io::stdin().lock().read_to_string(&mut text).context("cannot read the input from standard input")?;
    Ok(text)
}
