//! `flightdeck inbox`: everything that needs a person.

use std::process::ExitCode;

use serde_json::{Value, json};

use super::super::arguments::CommonFlags;
use super::super::command_context::CommandContext;
use super::super::connection::{about_session, sentence, server};
use super::super::output::print;
use super::super::terminal::style::Style;
use super::super::terminal::text::{indented, moment, one_line, span, value};
use super::asked::{Asked, Body};
use crate::client::{LocalServer, SessionDetails};
use crate::model::SessionState;
use crate::session::now;

pub(in crate::cli) fn inbox(common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let context = CommandContext::new(common)?;
    let server = server(&context)?;
    let (sessions, jobs) = context.wait_for(waiting(&server))?;
    if common.json {
        let requests = |details: &SessionDetails| {
            json!({
                "sessionId": details.entry.session_id, "title": details.entry.title, "state": details.entry.state,
                "requests": details.more.requests,
            })
        };
        let sessions: Vec<Value> = sessions.iter().map(requests).collect();
        print(&json!({ "sessions": sessions, "jobs": jobs }).to_string())?;
        return Ok(ExitCode::SUCCESS);
    }
    let style = Style::of_output();
    let mut shown: Vec<String> = sessions.iter().map(|details| session_text(details, style)).collect();
    shown.extend(jobs.iter().flat_map(|job| job_texts(job, style)));
    print(&if shown.is_empty() { "Nothing needs you.".to_owned() } else { shown.join("\n\n") })?;
    Ok(ExitCode::SUCCESS)
}

/// Sessions with open requests or without a login, and jobs that wait, oldest first.
async fn waiting(server: &LocalServer) -> anyhow::Result<(Vec<SessionDetails>, Vec<Value>)> {
    let mut sessions = Vec::new();
    for entry in server.sessions(None).await.map_err(sentence)?.iter().rev() {
        if entry.state != SessionState::Closed && (entry.pending > 0 || entry.state == SessionState::NeedsLogin) {
            let id = entry.session_id;
            sessions.push(server.session(id).await.map_err(|error| about_session(error, id))?);
        }
    }
    let listed = server.get("/api/jobs?status=Running").await.map_err(sentence)?;
    let jobs = listed["jobs"].as_array().into_iter().flatten();
    let waits = |job: &&Value| job["waiting"].as_array().is_some_and(|waiting| !waiting.is_empty());
    Ok((sessions, jobs.filter(waits).rev().cloned().collect()))
}

fn session_text(details: &SessionDetails, style: Style) -> String {
    let (id, number) = (details.entry.session_id, details.entry.session_id.number());
    let title = details.entry.title.as_deref().map_or_else(|| "untitled".to_owned(), one_line);
    let mut lines = vec![style.bold(&format!("{id}  {title}"))];
    if details.entry.state == SessionState::NeedsLogin {
        let detail =
            details.more.state_detail.as_deref().map_or_else(|| "the agent needs a login".to_owned(), one_line);
        lines.push(format!("  {detail}"));
    }
    for request in &details.more.requests {
        let asked = Asked::of_request(request);
        let age = request.asked_at.map(|at| format!(", {} ago", span(now().since(at)))).unwrap_or_default();
        lines.push(indented(&asked.shown(style), 2));
        let how = match asked.body {
            Body::Permission { .. } => format!("flightdeck allow {number} · flightdeck deny {number} -m REASON"),
            Body::Question { .. } => format!("flightdeck answer {number} TEXT"),
        };
        let which = if details.more.requests.len() > 1 { format!(" --request {}", asked.id) } else { String::new() };
        lines.push(style.dim(&format!("  {}{age}: {how}{which}", asked.id)));
    }
    lines.join("\n")
}

fn job_texts(job: &Value, style: Style) -> Vec<String> {
    let id = value(&job["jobId"]);
    let number = id.trim_start_matches("job-").to_owned();
    let waiting = job["waiting"].as_array().into_iter().flatten();
    let text = |waiting: &Value| {
        let age = moment(&waiting["since"]).map(|at| format!(", {} ago", span(now().since(at)))).unwrap_or_default();
        format!(
            "{}\n  {}\n{}",
            style.bold(&format!("{id}  {}", one_line(&value(&job["jobName"])))),
            style.yellow(&format!("? {}", one_line(&value(&waiting["title"])))),
            style.dim(&format!(
                "  {}{age}: flightdeck jobs approve {number} · flightdeck jobs reject {number} -m NOTE",
                value(&waiting["waitingId"])
            ))
        )
    };
    waiting.map(text).collect()
}
