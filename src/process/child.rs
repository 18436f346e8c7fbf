//! One supervised child.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;

use super::StderrTail;

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
#[error("{} could not be started", program.display())]
pub struct SpawnError {
    /// Which.
    pub program: PathBuf,
    /// Why not.
    #[source]
    pub source: std::io::Error,
}

/// A running child. Dropping it kills its whole group.
#[derive(Debug)]
pub struct ChildProcess {
    child: Child,
    id: u32,
    stderr: StderrTail,
    stderr_reader: JoinHandle<()>,
}

impl ChildProcess {
    /// Starts a program with piped standard streams, as the leader of a process group of its own.
    pub fn spawn(spec: &ProcessSpec) -> Result<(Self, ChildStdin, ChildStdout), SpawnError> {
        Self::start(command(spec), &spec.program)
    }

    /// As [`Self::spawn`], for a command that [`supervised`] made.
    pub(super) fn start(mut command: Command, program: &Path) -> Result<(Self, ChildStdin, ChildStdout), SpawnError> {
        let failed = |source| SpawnError { program: program.to_owned(), source };
        let mut child = command.spawn().map_err(failed)?;
        let gone = || failed(std::io::Error::other("it ended at once"));
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
        Ok((Self { child, id, stderr: tail, stderr_reader }, stdin, stdout))
    }

    /// Its process id, which is also its group's.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// What it said last.
    pub fn stderr(&self) -> &StderrTail {
        &self.stderr
    }

    /// Waits until it ends by itself. Gives how, in words.
    pub async fn wait(&mut self) -> String {
        match self.child.wait().await {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        }
    }

    /// Waits until it ends by itself. Gives whether it ended well, and its last words.
    pub(super) async fn outcome(&mut self) -> (bool, String) {
        let success = self.child.wait().await.is_ok_and(|status| status.success());
        // Read to the end, which is near: whoever could still write has ended.
        let _ = (&mut self.stderr_reader).await;
        (success, self.stderr.text())
    }

    /// Ends it: its stdin must be closed already; then SIGTERM to the group, a grace, SIGKILL to the group.
    pub async fn end(mut self, grace: Duration) {
        if tokio::time::timeout(grace / 4, self.child.wait()).await.is_err() {
            signal_group(self.id, Signal::Terminate);
            if tokio::time::timeout(grace, self.child.wait()).await.is_err() {
                signal_group(self.id, Signal::Kill);
                let _ = self.child.wait().await;
            }
        }
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        self.stderr_reader.abort();
        if matches!(self.child.try_wait(), Ok(None)) {
            signal_group(self.id, Signal::Kill);
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

#[derive(Clone, Copy)]
enum Signal {
    Terminate,
    Kill,
}

#[cfg(unix)]
fn signal_group(id: u32, signal: Signal) {
    use rustix::process::{Pid, Signal as Unix, kill_process_group};
    let signal = match signal {
        Signal::Terminate => Unix::TERM,
        Signal::Kill => Unix::KILL,
    };
    let group = i32::try_from(id).ok().and_then(Pid::from_raw);
    if let Some(Err(error)) = group.map(|group| kill_process_group(group, signal)) {
        tracing::debug!(%error, id, "the process group is gone already");
    }
}

#[cfg(not(unix))]
fn signal_group(_: u32, _: Signal) {
    // The child itself is killed by tokio when it is dropped; a job object for its children comes with Windows support.
}

#[cfg(all(test, unix))]
mod tests {
    use tokio::io::{AsyncBufReadExt, BufReader};

    use super::*;

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
        let (child, stdin, stdout) = ChildProcess::spawn(&shell(script)).expect("started");
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
        let (child, _stdin, stdout) = ChildProcess::spawn(&shell("sleep 1000 & echo $!; wait")).expect("started");
        let line = BufReader::new(stdout).lines().next_line().await.expect("readable").expect("a line");
        drop(child);
        let grandchild: u32 = line.parse().expect("a process id");
        while is_alive(grandchild) {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn it_gets_the_given_environment_only_and_its_last_words_are_kept() {
        let (mut child, _stdin, stdout) =
            ChildProcess::spawn(&shell("echo \"$ONLY-$HOME\"; echo trouble >&2; exit 3")).expect("started");
        let line = BufReader::new(stdout).lines().next_line().await.expect("readable").expect("a line");
        assert_eq!(line, "this-");
        assert!(child.wait().await.contains('3'));
        while child.stderr().text() != "trouble" {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_missing_program_is_named() {
        let spec = ProcessSpec { program: PathBuf::from("/no/such/program"), ..shell("") };
        // Behind the wrapper the failure shows as an exit; without it, at once.
        match ChildProcess::spawn(&spec) {
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
