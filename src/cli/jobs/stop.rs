//! `flightdeck jobs stop`: stops a job.

use std::process::ExitCode;

use serde_json::json;

use super::super::arguments::CommonFlags;
use super::super::command_context::CommandContext;
use super::super::connection::server;
use super::super::output::print;
use super::super::terminal::text::value;
use super::arguments::StopFlags;
use super::connection::about_job;

pub(super) fn stop(flags: &StopFlags, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let context = CommandContext::new(common)?;
    let (id, server) = (flags.id, server(&context)?);
    let path = format!("/api/jobs/{id}");
    let before = context.wait_for(server.get(&path)).map_err(|error| about_job(error, id))?;
    let stopped = context.wait_for(server.post(&format!("{path}/stop"))).map_err(|error| about_job(error, id))?;
    let status = value(&stopped["status"]);
    if common.json {
        print(&json!({ "jobId": id, "status": status }).to_string())?;
    } else if before["status"] == "Running" && status == "Canceled" {
        print(&format!("Stopped {id}. To continue it, run `flightdeck jobs retry {}`.", id.number()))?;
    } else {
        print(&format!("{id} was already over: {status}."))?;
    }
    Ok(ExitCode::SUCCESS)
}
