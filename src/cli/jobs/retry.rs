//! `flightdeck jobs retry`: continues a failed or canceled job from its failed steps.

use std::process::ExitCode;

use serde_json::json;

use super::super::arguments::CommonFlags;
use super::super::command_context::CommandContext;
use super::super::connection::server;
use super::super::output::print;
use super::super::signals::Signals;
use super::arguments::RetryFlags;
use super::connection::about_job;
use super::run::follow_to_the_end;

pub(super) fn retry(flags: &RetryFlags, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let context = CommandContext::new(common)?;
    let (id, server) = (flags.id, server(&context)?);
    let path = format!("/api/jobs/{id}");
    let before = context.wait_for(server.get(&path)).map_err(|error| about_job(error, id))?;
    let retried = context.wait_for(server.post(&format!("{path}/retry"))).map_err(|error| about_job(error, id))?;
    if flags.follow {
        let mut signals = context.wait_for(async { Signals::register() })?;
        eprintln!("{id} continues.");
        return follow_to_the_end(&context, id, before["lastSeq"].as_u64().unwrap_or(0), &mut signals, common);
    }
    if common.json {
        print(&json!({ "jobId": id, "status": retried["status"] }).to_string())?;
    } else {
        print(&format!("{id} continues. To follow it, run `flightdeck jobs logs -f {}`.", id.number()))?;
    }
    Ok(ExitCode::SUCCESS)
}
