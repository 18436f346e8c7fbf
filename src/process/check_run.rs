//! Runs a program for its exit code, and keeps the last lines of what it wrote.

use std::time::Duration;

use super::{Exit, OutputTail, ProcessSpec, SpawnError, Supervisor};

/// How many lines of the output are kept. The report of a failed test has its cause some way before its end.
const LINES: usize = 100;

/// How a program ended that was run for its exit code.
#[derive(Debug)]
pub enum CheckEnd {
    /// It exited, or was killed by a signal.
    Exited(Exit),
    /// It took too long and was killed with everything that it had started.
    TimedOut,
    /// It did not start.
    NotStarted(SpawnError),
}

/// Runs a program to its end. Returns how it ended and the last lines that it wrote: standard output, then standard error.
/// Dropping the future kills the program and everything that it started.
pub async fn run_check(supervisor: &Supervisor, spec: &ProcessSpec, time_limit: Duration) -> (CheckEnd, String) {
    let (mut child, stdin, stdout) = match supervisor.spawn(spec) {
        Ok(started) => started,
        Err(error) => return (CheckEnd::NotStarted(error), String::new()),
    };
    drop(stdin);
    let output = OutputTail::of_lines(LINES);
    let run = async {
        // Its own output first: a program that nobody reads would wait.
        output.clone().follow(stdout).await;
        child.exit().await
    };
    let end = match tokio::time::timeout(time_limit, run).await {
        Ok(exit) => CheckEnd::Exited(exit),
        Err(_) => CheckEnd::TimedOut,
    };
    let errors = child.stderr_text().await;
    child.end_with_group(Duration::ZERO).await;
    let output = output.text();
    let both = if output.is_empty() || errors.is_empty() { output + &errors } else { format!("{output}\n{errors}") };
    (end, both)
}

#[cfg(all(test, unix))]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn shell(script: &str) -> ProcessSpec {
        ProcessSpec {
            program: PathBuf::from("/bin/sh"),
            arguments: vec!["-c".to_owned(), script.to_owned()],
            environment: [("PATH".to_owned(), "/usr/bin:/bin".to_owned())].into(),
            working_directory: None,
        }
    }

    #[tokio::test]
    async fn the_exit_code_and_the_last_lines_are_kept() {
        let script = "i=0; while [ $i -lt 500 ]; do echo line $i; i=$((i+1)); done; echo trouble >&2; exit 3";
        let (end, output) = run_check(&Supervisor::without_ledger(), &shell(script), Duration::from_mins(1)).await;
        assert!(matches!(end, CheckEnd::Exited(Exit { code: Some(3), .. })), "{end:?}");
        assert!(output.ends_with("line 499\ntrouble") && output.starts_with("line 400\n"), "{output}");
    }

    #[tokio::test]
    async fn a_program_that_takes_too_long_is_killed() {
        let limit = Duration::from_millis(50);
        let (end, output) = run_check(&Supervisor::without_ledger(), &shell("echo begun; sleep 1000"), limit).await;
        assert!(matches!(end, CheckEnd::TimedOut), "{end:?}: {output}");
    }
}
