//! `flightdeck jobs status`: a job with its history, or the jobs that run.

use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};

use super::super::arguments::CommonFlags;
use super::super::command_context::CommandContext;
use super::super::connection::server;
use super::super::output::print;
use super::super::terminal::style::Style;
use super::super::terminal::text::{clock, indented, moment, one_line, span, value};
use super::arguments::StatusFlags;
use super::connection::about_job;
use super::gate::Gate;
use super::list::{jobs, jobs_table};
use crate::model::{JobStatus, Timestamp};
use crate::session::now;

pub(super) fn status(flags: &StatusFlags, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let context = CommandContext::new(common)?;
    let server = server(&context)?;
    let Some(id) = flags.id else {
        let (running, _) = context.wait_for(jobs(&server, Some(JobStatus::Running), true))?;
        let text = if common.json {
            json!({ "jobs": running }).to_string()
        } else if running.is_empty() {
            "No job is running.".to_owned()
        } else {
            jobs_table(&running, now())
        };
        print(&text)?;
        return Ok(ExitCode::SUCCESS);
    };
    let details = context.wait_for(server.get(&format!("/api/jobs/{id}"))).map_err(|error| about_job(error, id))?;
    print(&if common.json { details.to_string() } else { shown(&details, now(), Style::of_output()) })?;
    Ok(ExitCode::SUCCESS)
}

fn shown(job: &Value, now: Timestamp, style: Style) -> String {
    let status = value(&job["status"]);
    let coloured = status.parse().map_or(status.clone(), |status| style.status(status));
    let name = one_line(&value(&job["jobName"]));
    let mut lines = vec![format!("{}  {name}  {coloured}", style.bold(&value(&job["jobId"])))];
    lines.push(format!("Folder:   {}", one_line(&value(&job["workingDirectory"]))));
    let input = value(&job["userInput"]);
    if !input.is_empty() {
        lines.push(format!("Input:    {}", indented(&input, 10).trim_start()));
    }
    if let Some(started) = moment(&job["startTime"]) {
        let took = took(job, now).map(span).unwrap_or_default();
        lines.push(format!("Started:  {}, {took}", clock(started)));
    }
    if let Some(error) = job["error"].as_str() {
        lines.push(format!("Error:    {}", style.red(&one_line(error))));
    }
    for work in job["works"].as_array().into_iter().flatten() {
        lines.extend(work_lines(work, now, style));
    }
    let gates = Gate::all(job);
    let number = value(&job["jobId"]).replace("job-", "");
    for gate in &gates {
        let which = if gates.len() > 1 { format!(" --gate {}", one_line(&gate.id)) } else { String::new() };
        lines.push(String::new());
        lines.push(gate.shown(style));
        lines.push(format!(
            "  To answer: `flightdeck jobs approve {number}{which}` or `flightdeck jobs reject {number}{which} -m NOTE`"
        ));
    }
    lines.join("\n")
}

fn took(of: &Value, now: Timestamp) -> Option<Duration> {
    Some(moment(&of["endTime"]).unwrap_or(now).since(moment(&of["startTime"])?))
}

fn work_lines(work: &Value, now: Timestamp, style: Style) -> Vec<String> {
    let title = match work["gateTitle"].as_str() {
        Some(title) => format!("gate: {}", one_line(title)),
        None => one_line(&value(&work["taskName"])),
    };
    let attempts: &[Value] = work["attempts"].as_array().map_or(&[], Vec::as_slice);
    let mut lines = Vec::new();
    for (number, attempt) in attempts.iter().enumerate() {
        let status = attempt["status"].as_str().unwrap_or_default();
        let run =
            if attempts.len() > 1 { format!(" (run {} of {})", number + 1, attempts.len()) } else { String::new() };
        let took = took(attempt, now).map(span).unwrap_or_default();
        lines.push(format!("{} {} {title}{run}  {took}", style.mark(status), work["workId"]));
        for decision in attempt["decisions"].as_array().into_iter().flatten() {
            let time = moment(&decision["time"]).map(clock).unwrap_or_default();
            lines.push(format!("    {}  {}", style.dim(&time), one_line(&value(&decision["reason"]))));
        }
        let answer = &attempt["gate"]["answer"];
        if let Some(approved) = answer["approved"].as_bool() {
            let verdict = if approved { "approved" } else { "rejected" };
            let note = answer["note"].as_str().map(|note| format!(": {}", one_line(note))).unwrap_or_default();
            lines.push(format!("    {verdict} by {}{note}", value(&answer["by"])));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_shown_with_its_attempts_and_what_waits() {
        let at = |second: u32| format!("2026-03-01T00:00:{second:02}.000Z");
        let job = json!({
            "jobId": "job-3", "jobName": "feature", "status": "Running", "workingDirectory": "/w", "userInput": "a\nb",
            "startTime": at(0),
            "works": [
                { "workId": 0, "taskName": "plan", "status": "Succeeded", "attempts": [
                    { "startTime": at(0), "endTime": at(2), "status": "Failed", "decisions": [{ "time": at(1), "reason": "no" }] },
                    { "startTime": at(2), "endTime": at(5), "status": "Succeeded" },
                ] },
                { "workId": 1, "gateTitle": "Go?", "status": "Waiting", "attempts": [
                    { "startTime": at(5), "status": "Failed", "endTime": at(6),
                      "gate": { "answer": { "approved": false, "note": "why", "by": "page" } } },
                ] },
            ],
            "waiting": [{ "waitingId": "gate-2", "kind": "gate", "title": "Go?", "digest": "d", "shown": { "works": [] } }],
        });
        let now = moment(&json!(at(10))).expect("a moment");
        let expected = [
            "job-3  feature  Running",
            "Folder:   /w",
            "Input:    a",
            "          b",
            "Started:  2026-03-01T00:00:00Z, 10s",
            "✗ 0 plan (run 1 of 2)  2s",
            "    2026-03-01T00:00:01Z  no",
            "✓ 0 plan (run 2 of 2)  3s",
            "✗ 1 gate: Go?  1s",
            "    rejected by page: why",
            "",
            "gate-2: Go?",
            "  Digest: d",
            "  To answer: `flightdeck jobs approve 3` or `flightdeck jobs reject 3 -m NOTE`",
        ];
        assert_eq!(shown(&job, now, Style::plain()), expected.join("\n"));
    }
}
