//! Starts child processes so that they can always be found again: each carries a mark, and a record of it is written
//! before it starts.

use std::path::PathBuf;

use tokio::process::{ChildStdin, ChildStdout};

use super::child::{ChildProcess, ProcessSpec, SpawnError};
use super::figures::ProcessProbe;
use super::ledger::{Identity, Ledger, Note};
use super::marker::Marker;
use super::sweep::{Swept, end_group, kill_at_once, sweep};
use super::system::{self, Carrier};

/// Starts all child processes. Clones share the ledger.
#[derive(Clone, Debug)]
pub struct Supervisor {
    ledger: Ledger,
}

/// A process left over from an earlier run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Orphan {
    /// The process id.
    pub pid: u32,
    /// The process name.
    pub name: String,
}

/// The process records of earlier runs cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the process records in {}; check that you own the folder, or remove it", folder.display())]
pub struct LedgerError {
    /// The folder of the records.
    pub folder: PathBuf,
    /// The cause.
    #[source]
    pub source: std::io::Error,
}

impl Supervisor {
    /// Keeps process records in a folder, which must exist and be private.
    pub fn in_folder(folder: PathBuf) -> Self {
        Self { ledger: Ledger::new(Some(folder)) }
    }

    /// Keeps no process records: if this process is killed, its children are not cleaned up later.
    pub fn without_ledger() -> Self {
        Self { ledger: Ledger::new(None) }
    }

    /// Starts a program with piped standard streams, as the leader of its own process group. Call it on a long-lived
    /// thread: on Linux, the child dies with the thread that started it.
    pub fn spawn(&self, spec: &ProcessSpec) -> Result<(ChildProcess, ChildStdin, ChildStdout), SpawnError> {
        let marker = Marker::new();
        let mut note = Note::new(&marker, &spec.program);
        let write = |note: &Note| {
            self.ledger.write(note).map_err(|source| SpawnError::Note {
                program: spec.program.clone(),
                folder: self.ledger.folder().map(PathBuf::from).unwrap_or_default(),
                source,
            })
        };
        // Written before the process starts, so that no process is ever without a record.
        write(&note)?;
        let trace = Trace { marker, ledger: self.ledger.clone() };
        let (child, stdin, stdout) = ChildProcess::spawn(spec, trace)?;
        note.child = Some(Identity::of(child.id()));
        write(&note)?;
        Ok((child, stdin, stdout))
    }

    /// Running processes that are left over from earlier runs. Reads every process of the machine: run it on a blocking
    /// thread.
    pub fn orphans(&self) -> Result<Vec<Orphan>, LedgerError> {
        let is_orphaned = |note: &Note| note.boot == system::boot() && !note.owner.is_alive();
        let mut orphans = Vec::new();
        for note in self.notes()?.iter().filter(|note| is_orphaned(note)) {
            let carriers = note.marker().map(|marker| system::look(&marker).carriers).unwrap_or_default();
            orphans.extend(carriers.into_iter().map(|Carrier { pid, name }| Orphan { pid, name }));
        }
        Ok(orphans)
    }

    fn notes(&self) -> Result<Vec<Note>, LedgerError> {
        self.ledger.notes().map_err(|source| LedgerError {
            folder: self.ledger.folder().map(PathBuf::from).unwrap_or_default(),
            source,
        })
    }

    /// Kills the processes left over from earlier runs: their children, and everything those started. Processes of a
    /// run that is still alive are not touched.
    pub async fn end_orphans(&self) -> Result<(), LedgerError> {
        for note in self.notes()? {
            let Some(marker) = note.marker() else { continue };
            let is_this_boot = note.boot == system::boot();
            if is_this_boot && note.owner.is_alive() {
                continue;
            }
            if is_this_boot {
                let swept = sweep(&marker, note.child.as_ref()).await;
                tell(&swept, &note);
                if !swept.is_clean {
                    // The record stays for the next start.
                    continue;
                }
            }
            self.ledger.remove(&marker);
        }
        Ok(())
    }
}

fn tell(swept: &Swept, note: &Note) {
    let program = note.program.display();
    for (pid, name) in &swept.ended {
        tracing::warn!(pid, name, %program, "killed a process left over from an earlier run");
    }
    if !swept.is_clean {
        tracing::error!(%program, "could not kill every process left over from an earlier run");
    }
}

/// What is known about one child besides its handle: how to find the processes it started, and its record.
#[derive(Debug)]
pub(super) struct Trace {
    marker: Marker,
    ledger: Ledger,
}

impl Trace {
    /// For a child that exited before its start time could be read.
    pub fn without_note() -> Self {
        Self { marker: Marker::new(), ledger: Ledger::new(None) }
    }

    pub fn marker(&self) -> &Marker {
        &self.marker
    }

    pub fn probe(&self, pid: u32) -> ProcessProbe {
        ProcessProbe { pid, marker: self.marker.clone() }
    }

    /// The child exited cleanly and stopped the processes it had started.
    pub fn settle(&self) {
        self.ledger.remove(&self.marker);
    }

    /// The child exited cleanly: kills the rest of its process group. Processes outside the group were meant to stay.
    pub async fn end_group(&self, group: u32) {
        let marker = self.marker.clone();
        let ended = tokio::task::spawn_blocking(move || end_group(&marker, group)).await;
        for Carrier { pid, name } in ended.unwrap_or_default() {
            tracing::info!(pid, name, "killed a process left over in a turn's process group");
        }
        self.settle();
    }

    /// The child exited without cleaning up: kills everything it started.
    pub async fn sweep(&self) {
        let swept = sweep(&self.marker, None).await;
        for (pid, name) in &swept.ended {
            tracing::warn!(pid, name, "killed a process left over from a dead agent");
        }
        if swept.is_clean {
            self.settle();
        }
    }

    /// Like [`Self::sweep`], for an owner that is being dropped. The record stays unless no process is left for
    /// certain.
    pub fn kill_at_once(&self) {
        if kill_at_once(&self.marker) {
            self.settle();
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use tempfile::TempDir;
    use tokio::io::{AsyncBufReadExt as _, BufReader};
    use tokio::process::{Child, Command};

    use super::*;

    /// A tool in its own session and process group.
    const TOOL: &str = "setsid sleep 1000 & echo $!";

    fn shell(script: &str) -> ProcessSpec {
        ProcessSpec {
            program: PathBuf::from("/bin/sh"),
            arguments: vec!["-c".to_owned(), script.to_owned()],
            environment: [("PATH".to_owned(), "/usr/bin:/bin".to_owned())].into(),
            working_directory: None,
        }
    }

    async fn number(stdout: ChildStdout) -> u32 {
        let line = BufReader::new(stdout).lines().next_line().await.expect("readable").expect("a line");
        line.parse().expect("a process id")
    }

    async fn until_gone(pid: u32) {
        while system::started(pid).is_some() {
            tokio::task::yield_now().await;
        }
    }

    fn supervisor() -> (TempDir, Supervisor) {
        let folder = tempfile::tempdir().expect("a folder");
        let supervisor = Supervisor::in_folder(folder.path().to_owned());
        (folder, supervisor)
    }

    fn files(folder: &TempDir) -> usize {
        std::fs::read_dir(folder.path()).expect("readable").count()
    }

    /// A process that no supervisor started, with or without a mark.
    async fn stray(script: &str, marker: Option<&Marker>) -> (Child, u32) {
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(script).stdout(std::process::Stdio::piped()).kill_on_drop(true);
        if let Some(marker) = marker {
            let (name, value) = marker.variable();
            command.env(name, value);
        }
        let mut child = command.spawn().expect("started");
        let pid = number(child.stdout.take().expect("piped")).await;
        (child, pid)
    }

    /// A record of a run that has ended.
    fn note(marker: &Marker, child: Identity) -> Note {
        let mut note = Note::new(marker, Path::new("/bin/sh"));
        note.owner.started = Some("another time".to_owned());
        note.child = Some(child);
        note
    }

    #[tokio::test]
    async fn a_child_is_written_down_while_it_runs_and_forgotten_when_it_ended_well() {
        let (folder, supervisor) = supervisor();
        let (child, stdin, _stdout) = supervisor.spawn(&shell("read line; exit 0")).expect("started");
        let notes = supervisor.ledger.notes().expect("readable");
        assert_eq!(notes[0].child, Some(Identity::of(child.id())));
        assert!(notes[0].owner.is_alive() && notes[0].child.as_ref().is_some_and(Identity::is_alive));
        drop(stdin);
        child.end(Duration::from_secs(100)).await;
        assert_eq!(files(&folder), 0);
    }

    #[tokio::test]
    async fn a_program_that_is_not_there_leaves_no_note() {
        let (folder, supervisor) = supervisor();
        let missing = ProcessSpec { program: PathBuf::from("/no/such/program"), ..shell("") };
        match supervisor.spawn(&missing) {
            Err(error) => assert!(error.to_string().contains("/no/such/program")),
            // With the wrapper, the failure shows up as an exit.
            Ok((child, ..)) => child.end(Duration::from_secs(100)).await,
        }
        assert_eq!(files(&folder), 0);
    }

    #[tokio::test]
    async fn nothing_is_started_that_cannot_be_written_down() {
        let missing = tempfile::tempdir().expect("a folder").path().join("missing");
        let supervisor = Supervisor::in_folder(missing.clone());
        let error = supervisor.spawn(&shell("exit 0")).expect_err("refused").to_string();
        assert!(error.contains("/bin/sh") && error.contains(&missing.display().to_string()), "{error}");
        assert!(!missing.exists(), "a data folder that is gone is not made again behind the server's back");
    }

    #[tokio::test]
    async fn what_a_killed_child_left_running_in_groups_of_its_own_is_ended_with_it() {
        let (folder, supervisor) = supervisor();
        let (mut child, _stdin, stdout) = supervisor.spawn(&shell(&format!("{TOOL}; wait"))).expect("started");
        let tool = number(stdout).await;
        let killed = Command::new("kill").arg("-9").arg(child.id().to_string()).status().await;
        assert!(killed.expect("kill runs").success());
        child.wait().await;
        assert!(system::started(tool).is_some(), "it is in a group of its own");
        child.end(Duration::from_secs(100)).await;
        assert!(system::started(tool).is_none());
        assert_eq!(files(&folder), 0);
    }

    #[tokio::test]
    async fn a_child_that_ended_well_may_leave_something_running_on_purpose() {
        let (folder, supervisor) = supervisor();
        let (child, stdin, stdout) = supervisor.spawn(&shell(&format!("{TOOL}; exit 0"))).expect("started");
        let tool = number(stdout).await;
        drop(stdin);
        let marker = child.probe().marker;
        child.end(Duration::from_secs(100)).await;
        assert!(system::started(tool).is_some());
        assert_eq!(files(&folder), 0);
        sweep(&marker, None).await;
    }

    #[tokio::test]
    async fn dropping_a_child_ends_its_tools_in_other_groups_too() {
        let (_folder, supervisor) = supervisor();
        let (child, _stdin, stdout) = supervisor.spawn(&shell(&format!("{TOOL}; wait"))).expect("started");
        let tool = number(stdout).await;
        drop(child);
        until_gone(tool).await;
    }

    #[tokio::test]
    async fn orphans_of_an_earlier_run_are_ended_politely_or_not() {
        let (folder, supervisor) = supervisor();
        let marker = Marker::new();
        let (mut polite, program) = stray("echo $$; exec sleep 1000", Some(&marker)).await;
        let (mut stubborn, _) = stray("trap '' TERM; echo $$; while :; do sleep 1000; done", Some(&marker)).await;
        supervisor.ledger.write(&note(&marker, Identity::of(program))).expect("written");
        let found = supervisor.orphans().expect("looked for");
        assert!(found.iter().any(|orphan| orphan.pid == program), "{found:?}");
        supervisor.end_orphans().await.expect("looked for");
        assert_eq!(supervisor.orphans().expect("looked for"), Vec::new());
        assert_eq!(polite.wait().await.expect("ended").to_string(), "signal: 15 (SIGTERM)");
        assert_eq!(stubborn.wait().await.expect("ended").to_string(), "signal: 9 (SIGKILL)");
        assert!(system::look(&marker).carriers.is_empty());
        assert_eq!(files(&folder), 0);
    }

    #[tokio::test]
    async fn tools_are_found_although_their_program_is_gone() {
        let (folder, supervisor) = supervisor();
        let marker = Marker::new();
        let (_tool, tool) = stray("echo $$; exec sleep 1000", Some(&marker)).await;
        // One process id that no longer exists, and one process of which only the mark was recorded when its owner
        // died.
        let mut gone = Command::new("true").spawn().expect("started");
        let gone_pid = gone.id().expect("an id");
        gone.wait().await.expect("ended");
        let dead = Identity { pid: gone_pid, started: Some("1".to_owned()) };
        for child in [Some(dead), None] {
            let marker = Marker::new();
            let (_tool, tool) = stray("echo $$; exec sleep 1000", Some(&marker)).await;
            let mut note = note(&marker, Identity::of(1));
            note.child = child;
            supervisor.ledger.write(&note).expect("written");
            supervisor.end_orphans().await.expect("looked for");
            until_gone(tool).await;
        }
        assert!(system::started(tool).is_some(), "another child's tool has another mark");
        assert_eq!(files(&folder), 0);
    }

    #[tokio::test]
    async fn an_innocent_process_is_never_touched() {
        let (folder, supervisor) = supervisor();
        let marker = Marker::new();
        let (mut unmarked, pid) = stray("echo $$; exec sleep 1000", None).await;
        let reused = Identity { pid, started: Some("1".to_owned()) };
        for child in [Identity::of(pid), reused] {
            supervisor.ledger.write(&note(&Marker::new(), child)).expect("written");
        }
        // It even carries the mark, but started at another time than the recorded child.
        let (mut later, later_pid) = stray("echo $$; exec sleep 1000", Some(&marker)).await;
        let reused = Identity { pid: later_pid, started: Some("1".to_owned()) };
        supervisor.ledger.write(&note(&marker, reused)).expect("written");
        supervisor.end_orphans().await.expect("looked for");
        assert!(matches!(unmarked.try_wait(), Ok(None)));
        assert!(matches!(later.try_wait(), Ok(None)));
        assert_eq!(files(&folder), 0);
    }

    #[tokio::test]
    async fn processes_of_a_run_that_is_still_alive_are_left_alone() {
        let (folder, supervisor) = supervisor();
        let (child, _stdin, stdout) = supervisor.spawn(&shell("echo $$; exec sleep 1000")).expect("started");
        number(stdout).await;
        Supervisor::in_folder(folder.path().to_owned()).end_orphans().await.expect("looked for");
        assert!(system::started(child.id()).is_some());
        assert_eq!(files(&folder), 1, "its note stays");
    }

    #[tokio::test]
    async fn notes_of_another_boot_are_dropped_and_end_nobody() {
        let (folder, supervisor) = supervisor();
        let marker = Marker::new();
        let (mut child, pid) = stray("echo $$; exec sleep 1000", Some(&marker)).await;
        let mut note = note(&marker, Identity::of(pid));
        note.boot = "another".to_owned();
        supervisor.ledger.write(&note).expect("written");
        supervisor.end_orphans().await.expect("looked for");
        assert!(matches!(child.try_wait(), Ok(None)));
        assert_eq!(files(&folder), 0);
    }

    #[tokio::test]
    async fn the_figures_of_a_child_hold_its_own_children_and_its_tools() {
        let (_folder, supervisor) = supervisor();
        let script = "(trap : TERM; while :; do :; done) & setsid sleep 1000 & echo $$; wait";
        let (child, _stdin, stdout) = supervisor.spawn(&shell(script)).expect("started");
        number(stdout).await;
        let probe = child.probe();
        let figures = loop {
            let figures = probe.figures().expect("running");
            if figures.processes == 3 && !figures.cpu.is_zero() {
                break figures;
            }
            tokio::task::yield_now().await;
        };
        assert!(figures.resident_bytes > 500_000, "{figures:?}");
        child.end(Duration::ZERO).await;
        assert_eq!(probe.figures(), None);
    }
}
