//! What a person sees and types at a terminal.

use std::process::Stdio;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdin, ChildStdout};

use super::{jobs, json_of, server, until_waiting, with_folder};
use crate::support::Server;

/// Runs the program behind its first argument at a terminal of its own, and ends as it does.
const TERMINAL: &str = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";

struct Terminal {
    child: Child,
    keys: ChildStdin,
    screen: ChildStdout,
    seen: String,
}

impl Terminal {
    fn start(server: &Server, arguments: &[&str]) -> Self {
        let builder = server.builder_again().wrapped_in(&["python3", "-c", TERMINAL]);
        let mut command = builder.command(server.folder());
        command.args(with_folder(arguments)).stdin(Stdio::piped()).env("TERM", "xterm").env_remove("NO_COLOR");
        let mut child = command.spawn().expect("python3 runs");
        let (keys, screen) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        Self { child, keys, screen, seen: String::new() }
    }

    /// Waits until a text is on the screen that was not there before.
    async fn until(&mut self, text: &str) {
        let from = self.seen.len();
        while !self.seen[from..].contains(text) {
            assert!(self.read().await, "{text:?} does not appear: {}", self.seen);
        }
    }

    async fn read(&mut self) -> bool {
        let mut part = [0; 4096];
        let length = self.screen.read(&mut part).await.expect("readable");
        self.seen.push_str(&String::from_utf8_lossy(&part[..length]));
        length > 0
    }

    async fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).await.expect("typed");
        self.keys.flush().await.expect("typed");
    }

    /// The exit code, and everything that was on the screen.
    async fn ended(mut self) -> (Option<i32>, String) {
        while self.read().await {}
        (self.child.wait().await.expect("waited").code(), self.seen)
    }
}

#[tokio::test]
async fn a_gate_is_asked_and_approved_at_the_terminal() {
    let server = server().await;
    let mut terminal = Terminal::start(&server, &["run", "gated"]);
    terminal.until("[a]pprove").await;
    for part in ["\u{1b}[32m✓\u{1b}[0m 0 greet", "Go on?", "Look at **this**.", "Digest: "] {
        assert!(terminal.seen.contains(part), "{part}: {}", terminal.seen);
    }
    terminal.press("what\n").await;
    terminal.until("[a]pprove").await;
    terminal.press("a\n").await;
    let (code, seen) = terminal.ended().await;
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("gate-1 approved by api") && seen.contains("Succeeded"), "{seen}");
}

#[tokio::test]
async fn a_rejection_asks_for_a_note() {
    let server = server().await;
    let mut terminal = Terminal::start(&server, &["run", "gated"]);
    terminal.until("[a]pprove").await;
    terminal.press("r\n").await;
    terminal.until("Note for the tasks that follow").await;
    terminal.press("not like this\n").await;
    let (code, seen) = terminal.ended().await;
    assert_eq!(code, Some(1), "{seen}");
    assert!(seen.contains("gate-1 rejected by api: not like this"), "{seen}");
}

#[tokio::test]
async fn detaching_leaves_the_gate_open_and_an_answer_elsewhere_ends_the_question() {
    let server = server().await;
    let mut terminal = Terminal::start(&server, &["run", "gated"]);
    terminal.until("[a]pprove").await;
    terminal.press("d\n").await;
    let (code, seen) = terminal.ended().await;
    assert_eq!(code, Some(130), "{seen}");
    assert!(seen.contains("Detached; job-1 continues"), "{seen}");
    assert_eq!(json_of(&jobs(&server, &["status", "1", "--json"]).await)["waiting"][0]["waitingId"], "gate-1");

    let mut terminal = Terminal::start(&server, &["run", "gated"]);
    terminal.until("[a]pprove").await;
    assert_eq!(jobs(&server, &["approve", "2", "--yes"]).await.code, Some(0));
    let (code, seen) = terminal.ended().await;
    assert_eq!(code, Some(0), "{seen}");
}

#[tokio::test]
async fn a_decision_is_confirmed_and_only_yes_counts() {
    let server = server().await;
    jobs(&server, &["run", "gated", "--detach"]).await;
    until_waiting(&server, "job-1").await;
    for (answer, code) in [("\n", 1), ("n\n", 1), ("y\n", 0)] {
        let mut terminal = Terminal::start(&server, &["approve", "1"]);
        terminal.until("Approve this? [y/N]").await;
        terminal.press(answer).await;
        let (ended, seen) = terminal.ended().await;
        assert_eq!(ended, Some(code), "{answer:?}: {seen}");
    }
}
