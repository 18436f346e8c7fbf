//! Runs a program for its output, with limits on time and output.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::SpawnError;
use super::child::{ChildProcess, supervised};
use super::supervisor::Trace;

/// What to run, and the limits.
#[derive(Clone, Debug)]
pub struct Capture {
    /// The program, started without a shell.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Its complete environment.
    pub environment: BTreeMap<OsString, OsString>,
    /// The working directory.
    pub working_directory: PathBuf,
    /// The time limit, after which it is killed.
    pub time_limit: Duration,
    /// The output limit, after which it is killed.
    pub byte_limit: usize,
}

/// The output of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// Whether it succeeded; a program that reached the output limit did.
    pub success: bool,
    /// Its standard output, up to the limit.
    pub output: Vec<u8>,
    /// Whether the output is complete.
    pub complete: bool,
    /// The last lines of its standard error.
    pub stderr: String,
}

/// Why a program's output could not be captured.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// It did not start.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// It timed out and was killed.
    #[error("{} timed out after {} seconds and was killed", program.display(), limit.as_secs())]
    TimedOut {
        /// The program.
        program: PathBuf,
        /// The time limit.
        limit: Duration,
    },
    /// Its output could not be read.
    #[error("cannot read the output of {}", program.display())]
    Read {
        /// The program.
        program: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
}

impl Capture {
    /// Runs the program until it exits or reaches a limit. Dropping the future kills the program and all its children.
    pub async fn run(&self) -> Result<Captured, CaptureError> {
        self.run_with_input(&[]).await
    }

    /// As [`Self::run`], with this on its standard input.
    pub async fn run_with_input(&self, input: &[u8]) -> Result<Captured, CaptureError> {
        let mut command = supervised(&self.program);
        command.args(&self.arguments).envs(&self.environment).current_dir(&self.working_directory);
        let (mut child, mut stdin, stdout) = ChildProcess::start(command, &self.program, Trace::without_note())?;
        let run = async {
            let mut output = Vec::new();
            let feed = async move {
                // A program that exits without reading everything says why itself.
                let _ = stdin.write_all(input).await;
                drop(stdin);
            };
            {
                let mut rest = stdout.take(self.byte_limit as u64 + 1);
                let read = rest.read_to_end(&mut output);
                let (mut feed, mut read) = (std::pin::pin!(feed), std::pin::pin!(read));
                let mut is_fed = false;
                // Both at once: a program may write before it has read all of its input.
                loop {
                    tokio::select! {
                        () = &mut feed, if !is_fed => is_fed = true,
                        length = &mut read => {
                            length?;
                            break;
                        }
                    }
                }
            }
            if output.len() > self.byte_limit {
                output.truncate(self.byte_limit);
                return Ok(Captured { success: true, output, complete: false, stderr: String::new() });
            }
            let (success, stderr) = child.outcome().await;
            Ok(Captured { success, output, complete: true, stderr })
        };
        match tokio::time::timeout(self.time_limit, run).await {
            Ok(captured) => captured.map_err(|source| CaptureError::Read { program: self.program.clone(), source }),
            Err(_) => Err(CaptureError::TimedOut { program: self.program.clone(), limit: self.time_limit }),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str) -> Capture {
        Capture {
            program: PathBuf::from("/bin/sh"),
            arguments: vec!["-c".into(), script.into()],
            environment: [("PATH".into(), "/usr/bin:/bin".into())].into(),
            working_directory: std::env::temp_dir(),
            time_limit: Duration::from_mins(1),
            byte_limit: 1_000,
        }
    }

    #[tokio::test]
    async fn output_success_and_last_words_are_told() {
        let captured = shell("echo out; echo err >&2; exit 3").run().await.expect("run");
        let stderr = "err".to_owned();
        assert_eq!(captured, Captured { success: false, output: b"out\n".to_vec(), complete: true, stderr });
        assert!(shell("cat").run().await.expect("run").success, "its input is closed");
    }

    #[tokio::test]
    async fn input_and_output_may_both_be_longer_than_a_pipe_holds() {
        let input = b"0123456789\n".repeat(100_000);
        let capture = Capture { byte_limit: input.len(), ..shell("cat") };
        let captured = capture.run_with_input(&input).await.expect("run");
        assert!(captured.success && captured.complete && captured.output == input);
        assert!(shell("exit 0").run_with_input(&input).await.expect("run").success, "it need not read any of it");
    }

    #[tokio::test]
    async fn too_much_output_is_cut_and_the_program_ended() {
        let captured = shell("while :; do echo xxxxxxxxx; done").run().await.expect("run");
        assert_eq!((captured.output.len(), captured.complete, captured.success), (1_000, false, true));
    }

    #[tokio::test(start_paused = true)]
    async fn what_takes_too_long_is_ended_with_its_children() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut capture = shell("sleep 1000 & echo $! > pid; wait");
        capture.working_directory = folder.path().to_owned();
        let pid = folder.path().join("pid");
        // The paused clock runs on by itself while a test waits, except for a blocking task: so the time is over as soon as
        // the program has written this.
        let written = tokio::task::spawn_blocking(move || {
            loop {
                let text = std::fs::read_to_string(&pid).unwrap_or_default();
                if let Some(child) = text.strip_suffix('\n') {
                    return child.to_owned();
                }
                std::thread::yield_now();
            }
        });
        let (captured, child) = tokio::join!(capture.run(), written);
        let error = captured.expect_err("too long");
        assert!(matches!(error, CaptureError::TimedOut { .. }), "{error}");
        let child = child.expect("no panic");
        // A zombie is not alive.
        let is_alive =
            || std::fs::read_to_string(format!("/proc/{child}/stat")).is_ok_and(|stat| !stat.contains(") Z"));
        while is_alive() {
            tokio::task::yield_now().await;
        }
    }
}
