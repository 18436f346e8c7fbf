//! `flightdeck jobs`: starts jobs, follows them, and decides at their gates.
//!
//! What must always hold here:
//!
//! - Results go to standard output, everything else to standard error. Colours and redrawn lines are for terminals only.
//! - Ending a command never ends a job; only `jobs stop` does.
//! - Texts of agents, entries and repositories are printed without control characters: nobody can paint over what a
//!   person decides about.
//! - An answer to a gate carries the digest of exactly what this command printed, or the one that the caller passed.

mod arguments;
mod check;
mod connection;
mod decision;
mod dry_run;
mod event_line;
mod exit;
mod follow;
mod gate;
mod list;
mod log_follower;
mod logs;
mod outline;
mod pending;
mod retry;
mod run;
mod settings;
mod status;
mod stop;
mod trust;

use std::process::ExitCode;

pub(super) use arguments::{JOBS_HELP, JobsCommand};
pub(super) use settings::settings;

use super::arguments::CommonFlags;
use arguments::ListFlags;
use decision::Verdict;

/// Runs one of the commands.
pub(super) fn run(command: Option<JobsCommand>, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    match command {
        None => list::list(&ListFlags::default(), common),
        Some(JobsCommand::List(flags)) => list::list(&flags, common),
        Some(JobsCommand::Check(flags)) => check::check(&flags, common),
        Some(JobsCommand::Trust(flags)) => trust::trust(&flags, common),
        Some(JobsCommand::Run(flags)) => run::run(&flags, common),
        Some(JobsCommand::Status(flags)) => status::status(&flags, common),
        Some(JobsCommand::Stop(flags)) => stop::stop(&flags, common),
        Some(JobsCommand::Approve(flags)) => decision::decide(Verdict::Approve, &flags, common),
        Some(JobsCommand::Reject(flags)) => decision::decide(Verdict::Reject, &flags, common),
        Some(JobsCommand::Retry(flags)) => retry::retry(&flags, common),
        Some(JobsCommand::Logs(flags)) => logs::logs(&flags, common),
    }
}
