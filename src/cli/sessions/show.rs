//! `flightdeck sessions show`: everything about a session but its transcript.

use std::process::ExitCode;

use serde_json::Value;

use super::super::arguments::CommonFlags;
use super::super::command_context::CommandContext;
use super::super::connection::{about_session, server};
use super::super::output::print;
use super::super::terminal::style::Style;
use super::super::terminal::text::{clock, count, moment, one_line, value};
use super::super::turn::session_named;

pub(super) fn show(id: &str, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let context = CommandContext::new(common)?;
    let server = server(&context)?;
    let details = context.wait_for(async {
        let id = session_named(&server, id).await?;
        server.get(&format!("/api/copilot/session/{id}")).await.map_err(|error| about_session(error, id))
    })?;
    print(&if common.json { details.to_string() } else { shown(&details, Style::of_output()) })?;
    Ok(ExitCode::SUCCESS)
}

fn shown(details: &Value, style: Style) -> String {
    let text = |name: &str| one_line(&value(&details[name]));
    let time = |name: &str| moment(&details[name]).map(clock).unwrap_or_default();
    let state = [text("state"), text("stateDetail")].join(" ");
    let requests = details["requests"].as_array().map_or(0, Vec::len);
    let queued = details["queuedPrompts"].as_array().map_or(0, Vec::len);
    let figure = |name: &str| match details["usage"][name].as_f64() {
        Some(figure) => format!("{figure}"),
        None => "unknown".to_owned(),
    };
    let is_known = details["usage"].as_object().is_some_and(|figures| figures.values().any(|figure| !figure.is_null()));
    let usage = format!(
        "input {}, output {} tokens, premium requests {}, cost in USD {}",
        figure("inputTokens"),
        figure("outputTokens"),
        figure("premiumRequests"),
        figure("costUsd")
    );
    let rows = [
        ("Session", text("sessionId")),
        ("Title", text("title")),
        ("State", state),
        ("Agent", text("runtime")),
        ("Model", text("model")),
        ("Effort", text("effort")),
        ("Folder", text("workingDirectory")),
        ("Permissions", text("permissionMode")),
        ("Waiting", if requests > 0 { count(requests, "request") } else { String::new() }),
        ("Queued", if queued > 0 { count(queued, "prompt") } else { String::new() }),
        ("Created", time("createdAt")),
        ("Updated", time("updatedAt")),
        ("Closed", time("closedAt")),
        ("Events", details["lastSeq"].to_string()),
        ("Usage", if is_known { usage } else { String::new() }),
    ];
    let line = |(name, text): (&str, String)| format!("{}  {}", style.dim(&format!("{name:<11}")), text.trim());
    let rows = rows.into_iter().filter(|(_, text)| !text.trim().is_empty());
    rows.map(line).collect::<Vec<_>>().join("\n")
}
