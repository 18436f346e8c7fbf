//! `flightdeck status`: whether a server runs, where, and what it is doing.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::json;

use super::arguments::CommonFlags;
use super::command_context::CommandContext;
use super::connection::sentence;
use super::output::print;
use super::terminal::style::Style;
use super::terminal::text::{count, one_line, path, span, value};
use crate::client::SessionEntry;
use crate::model::SessionState;
use crate::store::ServerNote;

pub(super) fn status(common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let context = CommandContext::new(common)?;
    let folder = &context.resolved.data_folder;
    let note = ServerNote::of_running_server(folder);
    let (Some(server), Some(note)) = (context.server(), note) else {
        if common.json {
            print(&json!({ "running": false, "dataFolder": folder }).to_string())?;
        } else {
            print(&format!("No server is running with the data folder {}.", path(folder)))?;
        }
        return Ok(ExitCode::FAILURE);
    };
    let (health, sessions, jobs) = context
        .wait_for(async {
            let health = server.get("/api/health").await?;
            let sessions = server.sessions(None).await?;
            let jobs = server.get("/api/jobs?status=Running&limit=1000").await?;
            Ok::<_, crate::client::ClientError>((health, sessions, jobs))
        })
        .map_err(sentence)?;
    let mut states: BTreeMap<SessionState, usize> = BTreeMap::new();
    for session in &sessions {
        *states.entry(session.state).or_default() += 1;
    }
    let jobs = jobs["jobs"].as_array().map(Vec::as_slice).unwrap_or_default();
    let gates: usize = jobs.iter().filter_map(|job| job["waiting"].as_array()).map(Vec::len).sum();
    let requests: usize = sessions.iter().map(waiting).sum();
    if common.json {
        let states: BTreeMap<&str, usize> = states.iter().map(|(state, count)| (state.as_str(), *count)).collect();
        let report = json!({
            "running": true, "url": server.url(), "pid": note.pid, "dataFolder": folder, "health": health,
            "sessions": states, "jobs": jobs.len(), "waiting": requests + gates,
        });
        print(&report.to_string())?;
        return Ok(ExitCode::SUCCESS);
    }
    let style = Style::of_output();
    let mut lines = vec![
        format!(
            "{} {} (process {}, version {}, up for {})",
            style.verdict(health["status"] == "ok"),
            style.bold(server.url()),
            note.pid,
            one_line(&value(&health["version"])),
            span(Duration::from_secs(health["uptimeSeconds"].as_u64().unwrap_or_default()))
        ),
        format!("Data folder: {}", path(folder)),
    ];
    if let Some(reason) = health["storage"]["reason"].as_str() {
        lines.push(style.red(&format!("Storage: {}", one_line(reason))));
    }
    let by_state: Vec<String> = states.iter().map(|(state, count)| format!("{count} {state}")).collect();
    let by_state = if by_state.is_empty() { "none".to_owned() } else { by_state.join(", ") };
    lines.push(format!("Sessions: {by_state}"));
    lines.push(format!(
        "Jobs: {}",
        if jobs.is_empty() { "none running".to_owned() } else { format!("{} running", jobs.len()) }
    ));
    if requests + gates > 0 {
        let what = format!("{} you; `flightdeck inbox` shows what", needs(requests + gates));
        lines.push(style.yellow(&what));
    }
    print(&lines.join("\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// How many things in a session wait for a person.
fn waiting(session: &SessionEntry) -> usize {
    let requests = usize::try_from(session.pending).unwrap_or_default();
    requests + usize::from(session.state == SessionState::NeedsLogin)
}

fn needs(number: usize) -> String {
    format!("{} {}", count(number, "thing"), if number == 1 { "needs" } else { "need" })
}
