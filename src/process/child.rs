//! One supervised child.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;

use super::signal::{Signal, signal_group};
use super::supervisor::Trace;
use super::{ProcessProbe, StderrTail};

/// How long what a program wrote before its end may take to be read.
const LAST_WORDS_WITHIN: Duration = Duration::from_secs(1);

/// What to start.
#[derive(Clone, Debug)]
pub struct ProcessSpec {
    /// The program itself, no shell.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// All of its environment.
    pub environment: BTreeMap<String, String>,
    /// Where it runs.
    pub working_directory: Option<PathBuf>,
}

/// The program could not be started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// The operating system refused.
    #[error("cannot start {}", program.display())]
    Start {
        /// Which.
        program: PathBuf,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// Nothing is started that a later run could not find.
    #[error("did not start {}: cannot write its process record in {}", program.display(), folder.display())]
    Note {
        /// Which.
        program: PathBuf,
        /// Where.
        folder: PathBuf,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
}

/// How a child ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exit {
    /// Its own word on it.
    pub code: Option<i32>,
    /// What ended it from outside.
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

/// A running child. Dropping it kills its whole group and everything else that it has started.
#[derive(Debug)]
pub struct ChildProcess {
    child: Child,
    id: u32,
    succeeded: bool,
    stderr: StderrTail,
    stderr_reader: JoinHandle<()>,
    trace: Trace,
    /// Nothing of it is left, as far as anybody can tell.
    is_settled: bool,
}

impl ChildProcess {
    /// Starts a program that carries the trace's mark.
    pub(super) fn spawn(spec: &ProcessSpec, trace: Trace) -> Result<(Self, ChildStdin, ChildStdout), SpawnError> {
        Self::start(command(spec), &spec.program, trace)
    }

    /// As [`Self::spawn`], for a command that [`supervised`] made.
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
        let tail = StderrTail::default();
        let follower = tail.clone();
        let stderr_reader = tokio::spawn(async move {
            if let Some(stderr) = stderr {
                follower.follow(stderr).await;
            }
        });
        let child = Self { child, id, succeeded: false, stderr: tail, stderr_reader, trace, is_settled: false };
        Ok((child, stdin, stdout))
    }

    /// Its process id, which is also its group's.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// What it said last.
    pub fn stderr(&self) -> &StderrTail {
        &self.stderr
    }

    /// Looks at what it uses.
    pub fn probe(&self) -> ProcessProbe {
        self.trace.probe(self.id)
    }

    /// Waits until it ends by itself. Gives how, in words.
    pub async fn wait(&mut self) -> String {
        match self.child.wait().await {
            Ok(status) => {
                self.succeeded = status.success();
                status.to_string()
            }
            Err(error) => error.to_string(),
        }
    }

    /// Waits until it ends by itself. Gives how, for those who judge it. May be dropped and asked again.
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

    /// Asks its whole group to end, and does not wait for it.
    pub fn ask_to_end(&self) {
        signal_group(self.id, Signal::Terminate);
    }

    /// Waits until it ends by itself. Gives whether it ended well, and its last words.
    pub(super) async fn outcome(&mut self) -> (bool, String) {
        self.wait().await;
        let words = self.last_words().await;
        if self.succeeded {
            self.trace.settle();
            self.is_settled = true;
        }
        (self.succeeded, words)
    }

    /// What it said last, once it has ended: all of it, unless somebody else holds its standard error open.
    pub async fn last_words(&mut self) -> String {
        if !self.stderr_reader.is_finished() {
            let _ = tokio::time::timeout(LAST_WORDS_WITHIN, &mut self.stderr_reader).await;
        }
        self.stderr.text()
    }

    /// Whether it ended by itself with the exit code 0, as far as anybody waited for it.
    pub fn succeeded(&self) -> bool {
        self.succeeded
    }

    /// Ends it: its stdin must be closed already; then SIGTERM to the group, a grace, SIGKILL to the group. One that had
    /// to be killed, or had died before, has not seen to what it had started, so that is ended too.
    pub async fn end(mut self, grace: Duration) {
        if self.end_politely(grace).await {
            self.trace.settle();
        } else {
            self.trace.sweep().await;
        }
        self.is_settled = true;
    }

    /// As [`Self::end`], and nobody of its process group outlives it, however well it ended.
    pub async fn end_with_group(mut self, grace: Duration) {
        if self.end_politely(grace).await {
            self.trace.end_group(self.id).await;
        } else {
            self.trace.sweep().await;
        }
        self.is_settled = true;
    }

    /// Gives whether it ended well.
    async fn end_politely(&mut self, grace: Duration) -> bool {
        if let Ok(status) = tokio::time::timeout(grace / 4, self.child.wait()).await {
            return status.is_ok_and(|status| status.success());
        }
        signal_group(self.id, Signal::Terminate);
        if let Ok(status) = tokio::time::timeout(grace, self.child.wait()).await {
            // One that took the signal as it is has no code of its own.
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

/// A program as we start all of them: in a group of its own, with piped streams and an empty environment.
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

/// On Linux a child can be told to die with its parent, even when that is killed with `-9`.
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
        // A zombie is not alive any more.
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
        // Behind the wrapper the failure shows as an exit; without it, at once.
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
