//! `flightdeck jobs logs`: the log of a job as lines.

use std::process::ExitCode;

use serde_json::json;
use tokio::sync::mpsc;

use super::super::arguments::CommonFlags;
use super::super::command_context::CommandContext;
use super::super::connection::server;
use super::super::output::print;
use super::arguments::LogsFlags;
use super::connection::about_job;
use super::event_line::{LoggedEvent, WorkNames};
use super::log_follower::{LogFollower, Update, log_page};

pub(super) fn logs(flags: &LogsFlags, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let context = CommandContext::new(common)?;
    // Also when following: a server that does not run is an error at first, and something to wait for later.
    let server = server(&context)?;
    let mut names = WorkNames::default();
    let mut show = |events: &[LoggedEvent]| -> anyhow::Result<()> {
        for event in events {
            if let Some(record) = event.record() {
                names.learn(&record);
            }
            print(&if common.json {
                json!({ "seq": event.seq, "time": event.time, "event": event.event }).to_string()
            } else {
                names.line(event)
            })?;
        }
        Ok(())
    };
    let id = flags.id;
    context.wait_for(async {
        if flags.follow {
            let (updates, mut received) = mpsc::channel(64);
            let follower = LogFollower { context: &context, job: id, after: 0, updates }.run();
            let showing = async {
                while let Some(update) = received.recv().await {
                    match update {
                        Update::Events(events) => show(&events)?,
                        Update::Lost => eprintln!("Lost the connection to the server; trying to reconnect …"),
                        Update::Found(url) => eprintln!("Connected to {url} again."),
                        Update::Pending(_) => {}
                        Update::Ended => break,
                    }
                }
                anyhow::Ok(())
            };
            let (outcome, printed) = futures_util::future::join(follower, showing).await;
            return outcome.and(printed);
        }
        let mut after = 0;
        loop {
            let (events, has_more) = log_page(&server, id, after).await.map_err(|error| about_job(error, id))?;
            show(&events)?;
            match events.last() {
                Some(last) if has_more => after = last.seq,
                _ => return Ok(()),
            }
        }
    })?;
    Ok(ExitCode::SUCCESS)
}
