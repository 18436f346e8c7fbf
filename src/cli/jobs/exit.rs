//! Exit codes of commands that follow a job.

use std::process::ExitCode;

use crate::model::JobStatus;

/// The arguments are wrong, as clap has it too.
pub(super) const USAGE: u8 = 2;
/// The command ended before the job.
pub(super) const DETACHED: u8 = 130;

/// The exit code for how a job ended.
pub(super) fn of(status: JobStatus) -> ExitCode {
    match status {
        JobStatus::Succeeded => ExitCode::SUCCESS,
        JobStatus::Failed => ExitCode::from(1),
        JobStatus::Canceled => ExitCode::from(3),
        JobStatus::Running => ExitCode::from(DETACHED),
    }
}
