//! `flightdeck jobs list`: the jobs that can be started in a folder, and those that run or ran.

use std::process::ExitCode;

use serde_json::{Value, json};

use super::super::arguments::CommonFlags;
use super::super::command_context::CommandContext;
use super::super::connection::{sentence, server};
use super::super::output::{print, table};
use super::super::terminal::text::{clock, count, moment, one_line, shortened, span, value, working_directory};
use super::arguments::ListFlags;
use crate::client::{LocalServer, about_folder, with_query};
use crate::jobs::entry::{Work, WorkNode};
use crate::model::{JobStatus, Timestamp};
use crate::session::now;

/// How many jobs are shown that no longer run.
const RECENT: usize = 10;
/// Jobs of one request.
const PAGE: usize = 500;
const LONGEST_INPUT: usize = 40;

pub(super) fn list(flags: &ListFlags, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let context = CommandContext::new(common)?;
    let server = server(&context)?;
    if flags.all || flags.status.is_some() {
        let (jobs, has_more) = context.wait_for(jobs(&server, flags.status, flags.all))?;
        if common.json {
            print(&json!({ "jobs": jobs }).to_string())?;
        } else {
            print(&jobs_table(&jobs, now()))?;
            if has_more {
                eprintln!("There are more jobs; add --all to list every one.");
            }
        }
        return Ok(ExitCode::SUCCESS);
    }
    let folder = working_directory(&context.resolved.start_folder, flags.folder.folder.as_ref())?;
    let offered = context.wait_for(server.get(&about_folder("/api/copilot/job", &folder))).map_err(sentence)?;
    let entry = context.wait_for(server.get(&about_folder("/api/jobs/entry", &folder))).map_err(sentence)?;
    let available = available(&offered);
    let jobs = context.wait_for(recent(&server))?;
    if common.json {
        let in_force = if entry["inForce"] == true { &entry } else { &entry["fallback"] };
        let source = json!({ "source": in_force["source"], "path": in_force["path"], "hash": in_force["hash"] });
        let shown = json!({ "workingDirectory": folder, "entry": source, "available": available, "jobs": jobs });
        print(&shown.to_string())?;
        return Ok(ExitCode::SUCCESS);
    }
    let title = format!("Jobs that you can start in {}:", super::super::terminal::text::path(&folder));
    let mut parts = vec![title, available_table(&available)];
    if !jobs.is_empty() {
        parts.push(format!("\nRunning and recent jobs:\n{}", jobs_table(&jobs, now())));
    }
    print(&parts.join("\n"))?;
    if entry["source"] == "folder" && entry["inForce"] != true {
        eprintln!("{}", not_in_force(&entry));
    }
    Ok(ExitCode::SUCCESS)
}

/// Why the folder's own jobs are not listed.
fn not_in_force(entry: &Value) -> String {
    let path = value(&entry["path"]);
    if entry["trusted"] == true || entry["entry"].is_null() {
        format!("The jobs of {path} are not listed: the file has errors. To see them, run `flightdeck jobs check`.")
    } else {
        format!(
            "The jobs of {path} are not listed: you do not trust the file yet. To look at it and trust it, run `flightdeck jobs trust`."
        )
    }
}

/// The jobs of an entry, in the order of its grid.
fn available(offered: &Value) -> Vec<Value> {
    let Some(jobs) = offered["jobs"].as_object() else { return Vec::new() };
    let mut names: Vec<&str> = Vec::new();
    let rows = offered["grid"].as_array().into_iter().flatten();
    let in_grid =
        rows.flat_map(|row| row["jobs"].as_array().into_iter().flatten()).filter_map(|cell| cell["jobName"].as_str());
    for name in in_grid.chain(jobs.keys().map(String::as_str)) {
        if !names.contains(&name) && jobs.contains_key(name) {
            names.push(name);
        }
    }
    let described = |name: &&str| {
        let job = &jobs[*name];
        let work: Option<Work> = serde_json::from_value(job["work"].clone()).ok();
        let nodes = work.as_ref().map(Work::nodes).unwrap_or_default();
        let gates = nodes.iter().filter(|node| matches!(node, WorkNode::Gate(_))).count();
        json!({
            "jobName": name,
            "requireUserInput": job["requireUserInput"] == true,
            "tasks": nodes.len() - gates,
            "gates": gates,
        })
    };
    names.iter().map(described).collect()
}

fn available_table(available: &[Value]) -> String {
    if available.is_empty() {
        return "None.".to_owned();
    }
    let number = |value: &Value| usize::try_from(value.as_u64().unwrap_or_default()).unwrap_or_default();
    let row = |job: &Value| {
        let gates = number(&job["gates"]);
        let gates = if gates == 0 { String::new() } else { format!(", {}", count(gates, "gate")) };
        let input = if job["requireUserInput"] == true { "required" } else { "none" };
        vec![
            one_line(&value(&job["jobName"])),
            input.to_owned(),
            format!("{}{gates}", count(number(&job["tasks"]), "task")),
        ]
    };
    table(&["NAME", "INPUT", "STEPS"], &available.iter().map(row).collect::<Vec<_>>())
}

/// The jobs that run, and the newest others.
async fn recent(server: &LocalServer) -> anyhow::Result<Vec<Value>> {
    let (mut listed, _) = jobs(server, Some(JobStatus::Running), true).await?;
    let newest = server.get(&with_query("/api/jobs", &[("limit", &RECENT.to_string())])).await.map_err(sentence)?;
    for job in newest["jobs"].as_array().into_iter().flatten() {
        if !listed.iter().any(|known| known["jobId"] == job["jobId"]) {
            listed.push(job.clone());
        }
    }
    let number = |job: &Value| job["jobId"].as_str().and_then(|id| id.rsplit_once('-')?.1.parse::<u32>().ok());
    listed.sort_by_key(|job| std::cmp::Reverse(number(job)));
    Ok(listed)
}

/// Jobs with a status, newest first: all of them, or one page. Also whether there are more.
pub(super) async fn jobs(
    server: &LocalServer,
    status: Option<JobStatus>,
    all: bool,
) -> anyhow::Result<(Vec<Value>, bool)> {
    let (mut jobs, limit) = (Vec::new(), PAGE.to_string());
    let mut before = String::new();
    loop {
        let parameters =
            [("limit", limit.as_str()), ("status", status.map_or("", JobStatus::as_str)), ("before", &before)];
        let page = server.get(&with_query("/api/jobs", &parameters)).await.map_err(sentence)?;
        jobs.extend(page["jobs"].as_array().into_iter().flatten().cloned());
        match page["next"].as_str() {
            Some(next) if all => next.clone_into(&mut before),
            next => return Ok((jobs, next.is_some())),
        }
    }
}

/// Jobs as the API has them.
pub(super) fn jobs_table(jobs: &[Value], now: Timestamp) -> String {
    if jobs.is_empty() {
        return "No jobs.".to_owned();
    }
    let row = |job: &Value| {
        let started = moment(&job["startTime"]);
        let took = started.map(|started| span(moment(&job["endTime"]).unwrap_or(now).since(started)));
        let is_waiting = job["waiting"].as_array().is_some_and(|waiting| !waiting.is_empty());
        let status = if is_waiting { "Waiting for you".to_owned() } else { value(&job["status"]) };
        vec![
            value(&job["jobId"]),
            status,
            one_line(&value(&job["jobName"])),
            started.map(clock).unwrap_or_default(),
            took.unwrap_or_default(),
            one_line(&value(&job["workingDirectory"])),
            shortened(&one_line(&value(&job["userInput"])), LONGEST_INPUT),
        ]
    };
    let rows: Vec<Vec<String>> = jobs.iter().map(row).collect();
    table(&["ID", "STATUS", "NAME", "STARTED", "TOOK", "FOLDER", "INPUT"], &rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn available_jobs_come_in_the_order_of_the_grid() {
        let work = json!({ "kind": "Seq", "works": [
            { "kind": "Ref", "workIdInJob": 0, "taskId": "a" }, { "kind": "Gate", "workIdInJob": 1, "title": "Go?" },
        ] });
        let offered = json!({
            "grid": [{ "keyword": "x", "jobs": [null, { "name": "Z", "jobName": "z" }, { "name": "again", "jobName": "z" }] }],
            "jobs": { "a": { "requireUserInput": true, "work": work }, "z": { "work": work } },
        });
        let expected = "NAME  INPUT     STEPS\nz     none      1 task, 1 gate\na     required  1 task, 1 gate";
        assert_eq!(available_table(&available(&offered)), expected);
        assert_eq!(available_table(&[]), "None.");
    }

    #[test]
    fn jobs_are_listed_with_what_they_took() {
        let job = json!({
            "jobId": "job-2", "jobName": "build", "status": "Running", "workingDirectory": "/w", "userInput": "a\nb",
            "startTime": "2026-03-01T00:00:00.000Z", "waiting": [{}],
        });
        let now = moment(&json!("2026-03-01T00:01:05.000Z")).expect("a moment");
        let text = jobs_table(&[job], now);
        assert!(text.ends_with("job-2  Waiting for you  build  2026-03-01T00:00:00Z  1m 5s  /w      a b"), "{text}");
    }
}
