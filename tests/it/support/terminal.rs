//! What a person sees and types at a terminal.

use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::Server;

/// Runs the program behind its first argument at a terminal of its own, and ends as it does.
const TERMINAL: &str = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";

/// Longer than anything takes, and shorter than what ends a test without saying what was on the screen.
const PATIENCE: Duration = Duration::from_mins(1);

/// A command at a terminal of its own.
pub struct Terminal {
    child: Child,
    keys: ChildStdin,
    screen: ChildStdout,
    /// Everything that was on the screen so far. A read may end within a character.
    bytes: Vec<u8>,
    /// The same as text.
    pub seen: String,
    /// The end of the last text that was waited for. One read may bring several of them.
    mark: usize,
}

impl Terminal {
    /// Starts a command of the binary against a server's data.
    pub fn start(server: &Server, arguments: &[&str]) -> Self {
        Self::start_with_variables(server, arguments, &[])
    }

    /// The same, with more variables in its environment.
    pub fn start_with_variables(server: &Server, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let builder = server.builder_again().wrapped_in(&["python3", "-c", TERMINAL]);
        let mut command = builder.command(server.folder());
        command.args(arguments);
        Self::of(command, variables)
    }

    /// Starts another program in the same surroundings.
    pub fn start_program(server: &Server, words: &[&str]) -> Self {
        let (program, arguments) = words.split_first().expect("a program");
        let surroundings = server.builder_again().command(server.folder());
        let mut command = Command::new("python3");
        command.args(["-c", TERMINAL, program]).args(arguments).current_dir(server.folder());
        for (name, value) in surroundings.as_std().get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        Self::of(command, &[])
    }

    fn of(mut command: Command, variables: &[(&str, &str)]) -> Self {
        command.stdin(Stdio::piped()).env("TERM", "xterm").env_remove("NO_COLOR").envs(variables.iter().copied());
        let mut child = command.spawn().expect("python3 runs");
        let (keys, screen) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        Self { child, keys, screen, bytes: Vec::new(), seen: String::new(), mark: 0 }
    }

    /// Waits until a text is on the screen behind everything that was waited for before.
    pub async fn until(&mut self, text: &str) {
        self.until_behind(self.mark, text).await;
    }

    /// Waits until a text is on the screen, or was.
    pub async fn until_seen(&mut self, text: &str) {
        self.until_behind(0, text).await;
    }

    async fn until_behind(&mut self, from: usize, text: &str) {
        loop {
            if let Some(place) = self.seen[from..].find(text) {
                self.mark = self.mark.max(from + place + text.len());
                return;
            }
            assert!(self.read().await, "{text:?} does not appear: {}", self.seen);
        }
    }

    async fn read(&mut self) -> bool {
        let mut part = [0; 4096];
        let read = tokio::time::timeout(PATIENCE, self.screen.read(&mut part)).await;
        let length = read.unwrap_or_else(|_| panic!("nothing more appears: {}", self.seen)).expect("readable");
        self.bytes.extend_from_slice(&part[..length]);
        self.seen = String::from_utf8_lossy(&self.bytes).into_owned();
        length > 0
    }

    /// Types something.
    pub async fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).await.expect("typed");
        self.keys.flush().await.expect("typed");
    }

    /// The exit code, and everything that was on the screen.
    pub async fn ended(mut self) -> (Option<i32>, String) {
        while self.read().await {}
        (self.child.wait().await.expect("waited").code(), self.seen)
    }
}
