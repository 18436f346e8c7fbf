//! What people read about a task, and what agents are told.

use crate::jobs::entry::{Command, DEFAULT_MODEL};
use crate::jobs::record::CommandEnd;
use crate::model::SessionId;

pub fn session_started(session: SessionId, is_driving: bool, model: &str) -> String {
    let kind = if is_driving { "Driving" } else { "Task" };
    let model = named(model);
    format!("[SESSION STARTED] {kind} session {session} with {model}")
}

fn named(model: &str) -> &str {
    if model.is_empty() || model == DEFAULT_MODEL { "the default model" } else { model }
}

pub fn crashed(reason: &str, crashes: usize, attempts: usize, model: &str) -> String {
    let next = crashes + 1;
    let model = named(model);
    format!("[SESSION CRASHED] {reason}. Trying again in a new session with {model} (attempt {next} of {attempts})")
}

pub fn crashed_for_good(reason: &str, crashes: usize) -> String {
    let attempts = if crashes == 1 { "1 attempt".to_owned() } else { format!("{crashes} attempts") };
    format!("[SESSION CRASHED] {reason}. Giving up after {attempts}")
}

pub fn available(reason: Option<&str>) -> String {
    format!("[AVAILABILITY] The task is available: {}", reason.unwrap_or("the condition holds"))
}

pub fn unavailable(reported: Option<bool>, reason: Option<&str>) -> String {
    format!("[AVAILABILITY] The task is not available: {}", why_not(reported, reason))
}

pub fn criteria_succeeded(reason: Option<&str>) -> String {
    match reason {
        Some(reason) => format!("[CRITERIA] All checks succeeded: {reason}"),
        None => "[CRITERIA] All checks succeeded".to_owned(),
    }
}

pub fn criteria_failed(problems: &[String]) -> String {
    format!("[CRITERIA] A check failed: {}", problems.join("; "))
}

pub fn condition_failed(reported: Option<bool>, reason: Option<&str>) -> String {
    format!("the condition does not hold: {}", why_not(reported, reason))
}

fn why_not(reported: Option<bool>, reason: Option<&str>) -> &str {
    match reported {
        None => "the agent called neither job_boolean_true nor job_boolean_false",
        Some(_) => reason.unwrap_or("the agent gave no reason"),
    }
}

pub fn another_try(iteration: u32, most: u32) -> String {
    format!("[DECISION] Asking the agent again (retry {iteration} of {most})")
}

pub fn prerequisite(reason: &str) -> String {
    format!("[DECISION] The agent reported that a prerequisite failed: {reason}")
}

pub fn succeeded(reason: &str) -> String {
    format!("[TASK SUCCEEDED] The task succeeded: {reason}")
}

pub fn failed(reason: &str) -> String {
    format!("[TASK FAILED] The task failed: {reason}")
}

pub fn stopped() -> String {
    "[OPERATION] Somebody stopped the task".to_owned()
}

pub fn denied(what: &str) -> String {
    format!("[OPERATION] Denied by the task's permissions: {what}")
}

pub fn continued() -> String {
    "[OPERATION] The server was restarted while the agent was working. The agent continues in the same session"
        .to_owned()
}

/// The prompt after a crash. The first line is the original portal's.
pub fn after_crash(request: &str) -> String {
    format!("The session crashed, please redo and here is the last request:\n{request}")
}

/// The prompt after a restart of the server.
pub fn after_restart(request: &str) -> String {
    format!(
        "You were interrupted while you worked on the request below, and some of it may be done already. Check what is \
         done, do not repeat it, and finish the rest:\n{request}"
    )
}

/// What follows the original prompt when a check failed.
pub fn retry(missing_tools: &[String], additional: Option<&str>, command_failure: Option<&str>) -> String {
    let mut text = String::new();
    if !missing_tools.is_empty() {
        text.push_str("\n## Required Tool Not Called: ");
        text.push_str(&missing_tools.join(", "));
    }
    if let Some(additional) = additional {
        text.push_str("\n## You accidentally Stopped\n");
        text.push_str(additional);
    }
    if let Some(failure) = command_failure {
        text.push_str("\n## A Check Failed\n");
        text.push_str(failure);
    }
    text
}

/// Why a command failed; the first line is short.
pub fn command_failure(command: &Command, end: &CommandEnd) -> String {
    let line = command.run.join(" ");
    let expected = command.expect_exit.unwrap_or(0);
    let first = match (end.exit, &end.problem) {
        (Some(exit), _) => format!("`{line}` exited with {exit}, expected {expected}"),
        (None, Some(problem)) => format!("`{line}` {problem}"),
        (None, None) => format!("`{line}` was killed"),
    };
    if end.output.is_empty() { first } else { format!("{first}\n{}", end.output) }
}
