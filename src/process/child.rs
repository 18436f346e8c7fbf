//! One supervised child.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;

use super::signal::{Signal, signal_group};
use super::supervisor::Trace;
use super::{OutputTail, ProcessProbe};

/// How long the rest of a program's output may take to be read after its exit.
const STDERR_WITHIN: Duration = Duration::from_secs(1);

/// What to start.
#[derive(Clone, Debug)]
pub struct ProcessSpec {
    /// The program, started without a shell.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Its complete environment.
    pub environment: BTreeMap<String, String>,
    /// The working directory.
    pub working_directory: Option<PathBuf>,
}

/// Why a program could not be started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// The operating system returned an error.
    #[error("cannot start {}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// Its process record could not be written, so it was not started.
    #[error("did not start {}: cannot write its process record in {}", program.display(), folder.display())]
    Note {
        /// The program.
        program: PathBuf,
        /// The folder of the records.
        folder: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
}

/// How a child exited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exit {
    /// The exit code.
    pub code: Option<i32>,
    /// The signal that killed it.
    pub signal: Option<i32>,
}

impl Exit {
    fn of(status: std::process::ExitStatus) -> Self {
        #[cfg(unix)]
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        #[cfg(not(unix))]
        let signal = None;
        Self { code: status.code(), signal }
    }
}

/// A running child. Dropping it kills its process group and everything else it started.
#[derive(Debug)]
pub struct ChildProcess {
    child: Child,
    id: u32,
    succeeded: bool,
    stderr: OutputTail,
    stderr_reader: JoinHandle<()>,
    trace: Trace,
    /// Everything it started has been cleaned up, as far as known.
    is_settled: bool,
}

impl ChildProcess {
    /// Starts a program with the trace's mark.
    pub(super) fn spawn(spec: &ProcessSpec, trace: Trace) -> Result<(Self, ChildStdin, ChildStdout), SpawnError> {
        Self::start(command(spec), &spec.program, trace)
    }

    /// Like [`Self::spawn`], for a command built by [`supervised`].
    pub(super) fn start(
        mut command: Command,
        program: &Path,
        trace: Trace,
    ) -> Result<(Self, ChildStdin, ChildStdout), SpawnError> {
        let failed = |source| {
            trace.settle();
            SpawnError::Start { program: program.to_owned(), source }
        };
        let (name, value) = trace.marker().variable();
        command.env(name, value);
        let mut child = command.spawn().map_err(failed)?;
        let gone = || failed(std::io::Error::other("it exited immediately"));
        let id = child.id().ok_or_else(gone)?;
        let (stdin, stdout, stderr) =
            (child.stdin.take().ok_or_else(gone)?, child.stdout.take().ok_or_else(gone)?, child.stderr.take());
        let tail = OutputTail::default();
        let follower = tail.clone();
        let stderr_reader = tokio::spawn(async move {
            if let Some(stderr) = stderr {
                follower.follow(stderr).await;
            }
        });
        let child = Self { child, id, succeeded: false, stderr: tail, stderr_reader, trace, is_settled: false };
        Ok((child, stdin, stdout))
    }

    /// Its process id, which is also its process group id.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// The end of its standard error.
    pub fn stderr(&self) -> &OutputTail {
        &self.stderr
    }

    /// A probe for its resource use.
    pub fn probe(&self) -> ProcessProbe {
        self.trace.probe(self.id)
    }

    /// Waits until it exits by itself. Returns the exit status as text.
    pub async fn wait(&mut self) -> String {
        match self.child.wait().await {
            Ok(status) => {
                self.succeeded = status.success();
                status.to_string()
            }
            Err(error) => error.to_string(),
        }
    }

    /// Waits until it exits by itself. Returns the exit status. Cancel-safe.
    pub async fn exit(&mut self) -> Exit {
        match self.child.wait().await {
            Ok(status) => {
                self.succeeded = status.success();
                Exit::of(status)
            }
            Err(error) => {
                tracing::warn!(%error, pid = self.id, "cannot determine how a child exited");
                Exit::default()
            }
        }
    }

    /// Sends SIGTERM to its process group, without waiting.
    pub fn ask_to_end(&self) {
        signal_group(self.id, Signal::Terminate);
    }

    /// Waits until it exits by itself. Returns whether it succeeded, and the end of its standard error.
    pub(super) async fn outcome(&mut self) -> (bool, String) {
        self.wait().await;
        let words = self.stderr_text().await;
        if self.succeeded {
            self.trace.settle();
            self.is_settled = true;
        }
        (self.succeeded, words)
    }

    /// The end of its standard error after its exit; complete unless another process holds standard error open.
    pub async fn stderr_text(&mut self) -> String {
        if !self.stderr_reader.is_finished() {
            let _ = tokio::time::timeout(STDERR_WITHIN, &mut self.stderr_reader).await;
        }
        self.stderr.text()
    }

    /// Whether it exited by itself with code 0, as far as known.
    pub fn succeeded(&self) -> bool {
        self.succeeded
    }

    /// Stops it. Its stdin must be closed already. Sends SIGTERM to the group, waits for the grace period, then sends
    /// SIGKILL. A child that was killed or had crashed did not clean up, so everything it started is killed too.
    pub async fn end(mut self, grace: Duration) {
        if self.end_politely(grace).await {
            self.trace.settle();
        } else {
            self.trace.sweep().await;
        }
        self.is_settled = true;
    }

    /// Like [`Self::end`], and also kills the rest of its process group if it exited cleanly.
    pub async fn end_with_group(mut self, grace: Duration) {
        if self.end_politely(grace).await {
            self.trace.end_group(self.id).await;
        } else {
            self.trace.sweep().await;
        }
        self.is_settled = true;
    }

    /// Kills its process group without asking first, then everything else that it started, and waits until they are gone.
    pub async fn kill(mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            signal_group(self.id, Signal::Kill);
            let _ = self.child.wait().await;
        }
        self.trace.sweep().await;
        self.is_settled = true;
    }

    /// Returns whether it exited successfully.
    async fn end_politely(&mut self, grace: Duration) -> bool {
        if let Ok(status) = tokio::time::timeout(grace / 4, self.child.wait()).await {
            return status.is_ok_and(|status| status.success());
        }
        signal_group(self.id, Signal::Terminate);
        if let Ok(status) = tokio::time::timeout(grace, self.child.wait()).await {
            // A child that was killed by the signal has no exit code.
            return status.is_ok_and(|status| status.code().is_some());
        }
        signal_group(self.id, Signal::Kill);
        let _ = self.child.wait().await;
        false
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        self.stderr_reader.abort();
        if matches!(self.child.try_wait(), Ok(None)) {
            signal_group(self.id, Signal::Kill);
        }
        if !self.is_settled {
            self.trace.kill_at_once();
        }
    }
}

fn command(spec: &ProcessSpec) -> Command {
    let mut command = supervised(&spec.program);
    command.args(&spec.arguments).envs(&spec.environment);
    if let Some(folder) = &spec.working_directory {
        command.current_dir(folder);
    }
    command
}

/// The command for a supervised program: its own process group, piped streams and an empty environment.
pub(super) fn supervised(program: &Path) -> Command {
    let mut command = match parent_death_wrapper() {
        Some(wrapper) => {
            let mut command = Command::new(wrapper);
            command.args(["--pdeathsig", "KILL", "--"]).arg(program);
            command
        }
        None => Command::new(program),
    };
    command.env_clear().stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    command
}

/// The wrapper that makes a child die with its parent on Linux, even if the parent is killed with SIGKILL.
fn parent_death_wrapper() -> Option<&'static Path> {
    let setpriv = Path::new("/usr/bin/setpriv");
    (cfg!(target_os = "linux") && setpriv.exists()).then_some(setpriv)
}

#[cfg(all(test, unix))]
mod tests {
    use tokio::io::{AsyncBufReadExt, BufReader};

    use super::*;
    use crate::process::Supervisor;

    fn spawn(script: &str) -> Result<(ChildProcess, ChildStdin, ChildStdout), SpawnError> {
        Supervisor::without_ledger().spawn(&shell(script))
    }

    fn shell(script: &str) -> ProcessSpec {
        ProcessSpec {
            program: PathBuf::from("/bin/sh"),
            arguments: vec!["-c".to_owned(), script.to_owned()],
            environment: [("PATH".to_owned(), "/usr/bin:/bin".to_owned()), ("ONLY".to_owned(), "this".to_owned())]
                .into(),
            working_directory: None,
        }
    }

    fn is_alive(id: u32) -> bool {
        // A zombie is not alive.
        std::fs::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|stat| !stat.contains(") Z"))
    }

    #[tokio::test]
    async fn a_child_that_ignores_the_polite_way_is_killed_with_its_own_children() {
        let script = "trap '' TERM; sleep 1000 & echo $!; while :; do wait; done";
        let (child, stdin, stdout) = spawn(script).expect("started");
        let line = BufReader::new(stdout).lines().next_line().await.expect("readable").expect("a line");
        let grandchild: u32 = line.parse().expect("a process id");
        assert!(is_alive(grandchild));
        drop(stdin);
        child.end(Duration::from_millis(50)).await;
        while is_alive(grandchild) {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_killed_child_is_not_asked_and_nothing_of_it_is_left() {
        let folder = tempfile::tempdir().expect("a folder");
        let asked = folder.path().join("asked");
        let script = format!("trap 'touch {}' TERM; sleep 1000 & echo $!; while :; do wait; done", asked.display());
        let (child, _stdin, stdout) = spawn(&script).expect("started");
        let line = BufReader::new(stdout).lines().next_line().await.expect("readable").expect("a line");
        let grandchild: u32 = line.parse().expect("a process id");
        let id = child.id();
        child.kill().await;
        assert!(!is_alive(id), "it is gone when this returns");
        assert!(!asked.exists());
        while is_alive(grandchild) {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn dropping_a_child_ends_its_group() {
        let (child, _stdin, stdout) = spawn("sleep 1000 & echo $!; wait").expect("started");
        let line = BufReader::new(stdout).lines().next_line().await.expect("readable").expect("a line");
        drop(child);
        let grandchild: u32 = line.parse().expect("a process id");
        while is_alive(grandchild) {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn it_gets_the_given_environment_only_and_its_last_words_are_kept() {
        let (mut child, _stdin, stdout) = spawn("echo \"$ONLY-$HOME\"; echo trouble >&2; exit 3").expect("started");
        let line = BufReader::new(stdout).lines().next_line().await.expect("readable").expect("a line");
        assert_eq!(line, "this-");
        assert!(child.wait().await.contains('3'));
        while child.stderr().text() != "trouble" {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn how_a_child_ended_is_told_by_code_or_by_signal() {
        let (mut child, _stdin, _stdout) = spawn("exit 7").expect("started");
        assert_eq!(child.exit().await, Exit { code: Some(7), signal: None });
        let (mut child, _stdin, stdout) = spawn("echo ready; exec sleep 1000").expect("started");
        BufReader::new(stdout).lines().next_line().await.expect("readable").expect("a line");
        child.ask_to_end();
        assert_eq!(child.exit().await, Exit { code: None, signal: Some(15) });
    }

    #[tokio::test]
    async fn a_missing_program_is_named() {
        let spec = ProcessSpec { program: PathBuf::from("/no/such/program"), ..shell("") };
        // With the wrapper, the failure shows up as an exit; without it, immediately.
        match Supervisor::without_ledger().spawn(&spec) {
            Err(error) => assert!(error.to_string().contains("/no/such/program")),
            Ok((mut child, ..)) => {
                child.wait().await;
                while !child.stderr().text().contains("/no/such/program") {
                    tokio::task::yield_now().await;
                }
            }
        }
    }
}
