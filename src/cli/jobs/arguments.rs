//! The flags of `flightdeck jobs`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::model::{JobId, JobStatus};

/// The long help of `flightdeck jobs`.
pub(in crate::cli) const JOBS_HELP: &str = "\
Start jobs, follow them and decide at their gates

A job is a tree of tasks; a task is one prompt with checks. Jobs are defined in an entry: .flightdeck/jobs.json in the \
folder or its repository (once you trust it), else the file that the setting jobs.entry names, else the jobs that come \
with Flightdeck.

Jobs run in the server. Ending a command, or Ctrl+C, never stops a job.";

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum JobsCommand {
    /// List the jobs that you can start in this folder, and the ones that run or ran (the default command)
    List(ListFlags),
    /// Check an entry and print every problem; needs no server
    ///
    /// Exit codes: 0 no errors, 1 errors.
    Check(CheckFlags),
    /// Trust the jobs of a folder, after showing what they may run
    ///
    /// Jobs of .flightdeck/jobs.json can be started once you trust the file. A change to the file asks again.
    Trust(TrustFlags),
    /// Start a job and follow it
    ///
    /// Input comes from the arguments, from -f FILE, or from standard input if the job needs input and gets none otherwise.
    ///
    /// Ctrl+C detaches; the job continues. If the server is restarted, following resumes.
    ///
    /// Exit codes: 0 succeeded, 1 failed, 2 not started because of its arguments, 3 canceled, 130 detached.
    Run(RunFlags),
    /// Show a job with its history, or all running jobs
    Status(StatusFlags),
    /// Stop a job
    Stop(StopFlags),
    /// Approve what a job waits for: show it, confirm, and let the job continue
    Approve(DecisionFlags),
    /// Reject what a job waits for: show it, confirm, and send the note back
    Reject(DecisionFlags),
    /// Continue a failed or canceled job from its failed steps
    Retry(RetryFlags),
    /// Print what a job did, one event per line
    ///
    /// With --json, each line is a JSON object.
    Logs(LogsFlags),
}

#[derive(Debug, Default, Args)]
pub(in crate::cli) struct FolderFlag {
    /// The working directory [default: the current folder]
    #[arg(short = 'C', value_name = "DIR")]
    pub folder: Option<PathBuf>,
}

#[derive(Debug, Default, Args)]
pub(in crate::cli) struct ListFlags {
    /// List every job that ever ran, in any folder
    #[arg(long)]
    pub all: bool,
    /// List only jobs with this status: Running, Succeeded, Failed or Canceled
    #[arg(long, value_name = "STATUS", value_parser = job_status)]
    pub status: Option<JobStatus>,
    #[command(flatten)]
    pub folder: FolderFlag,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct CheckFlags {
    /// The entry [default: the one of the working directory]
    pub file: Option<PathBuf>,
    #[command(flatten)]
    pub folder: FolderFlag,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct TrustFlags {
    #[command(flatten)]
    pub folder: FolderFlag,
    /// Trust the file without asking if it has this hash
    #[arg(long)]
    pub hash: Option<String>,
    /// Trust the file without asking
    #[arg(long, short)]
    pub yes: bool,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct RunFlags {
    /// The job
    pub name: String,
    /// What the job is to do; several words are joined
    pub input: Vec<String>,
    #[command(flatten)]
    pub folder: FolderFlag,
    /// Read the input from a file; - reads standard input. With INPUT as well, the file follows it
    #[arg(long, short, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Use another model for a category of the entry; repeat it for several categories
    #[arg(long = "model", value_name = "CATEGORY=ID", value_parser = category_model)]
    pub models: Vec<(String, String)>,
    /// Print what the job would do, and start nothing
    #[arg(long, conflicts_with = "detach")]
    pub dry: bool,
    /// Print the job's id and return at once
    #[arg(long, short)]
    pub detach: bool,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct StatusFlags {
    /// The job, such as 3 or job-3 [default: all that run]
    #[arg(value_parser = job_id)]
    pub id: Option<JobId>,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct StopFlags {
    /// The job, such as 3 or job-3
    #[arg(value_parser = job_id)]
    pub id: JobId,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct DecisionFlags {
    /// The job, such as 3 or job-3
    #[arg(value_parser = job_id)]
    pub id: JobId,
    /// A note for the tasks that follow
    #[arg(long = "message", short = 'm', value_name = "NOTE")]
    pub note: Option<String>,
    /// Which one, if several wait, such as gate-2
    #[arg(long, value_name = "ID")]
    pub gate: Option<String>,
    /// Answer without asking, if what is shown still has this digest
    #[arg(long)]
    pub digest: Option<String>,
    /// Answer without asking
    #[arg(long, short, conflicts_with = "digest")]
    pub yes: bool,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct RetryFlags {
    /// The job, such as 3 or job-3
    #[arg(value_parser = job_id)]
    pub id: JobId,
    /// Follow the job as `jobs run` does, with the same exit codes
    #[arg(long)]
    pub follow: bool,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct LogsFlags {
    /// The job, such as 3 or job-3
    #[arg(value_parser = job_id)]
    pub id: JobId,
    /// Print new events as they happen, until the job ends
    #[arg(long, short)]
    pub follow: bool,
}

fn job_id(text: &str) -> Result<JobId, String> {
    let id = text.parse::<u32>().map(JobId::from_number);
    id.or_else(|_| text.parse()).map_err(|_| "not a job id such as 3 or job-3".to_owned())
}

fn job_status(text: &str) -> Result<JobStatus, String> {
    let known = JobStatus::ALL.into_iter().find(|status| status.as_str().eq_ignore_ascii_case(text));
    known.ok_or_else(|| format!("unknown status; known: {}", JobStatus::ALL.map(JobStatus::as_str).join(", ")))
}

fn category_model(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((category, model)) if !category.is_empty() && !model.is_empty() => {
            Ok((category.to_owned(), model.to_owned()))
        }
        _ => Err("expected a category of the entry and a model, such as coding=gpt-5".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_enough_for_an_id() {
        assert_eq!(job_id("3"), Ok(JobId::from_number(3)));
        assert_eq!(job_id("job-3"), Ok(JobId::from_number(3)));
        for text in ["", "-3", "task-3", "job-", "three"] {
            assert!(job_id(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_status_is_known_in_any_case() {
        assert_eq!(job_status("failed"), Ok(JobStatus::Failed));
        assert!(job_status("done").expect_err("unknown").contains("Running, Succeeded, Failed, Canceled"));
    }

    #[test]
    fn a_model_belongs_to_a_category() {
        assert_eq!(category_model("coding=a/b=c"), Ok(("coding".to_owned(), "a/b=c".to_owned())));
        for text in ["coding", "=x", "coding="] {
            assert!(category_model(text).is_err(), "{text}");
        }
    }
}
