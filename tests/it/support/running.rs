//! A command that runs beside a test.

use std::process::Stdio;

use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStderr, ChildStdout};

use super::{Ended, Server};

/// A command that runs beside the test.
pub struct Running {
    pub child: Child,
    pub stdout: Lines<BufReader<ChildStdout>>,
    pub printed: String,
    pub stderr: Lines<BufReader<ChildStderr>>,
    pub seen: String,
}

impl Running {
    pub fn start(server: &Server, arguments: &[&str]) -> Self {
        let mut command = server.builder_again().command(server.folder());
        let mut child = command.args(arguments).stdin(Stdio::null()).spawn().expect("the binary starts");
        let stdout = BufReader::new(child.stdout.take().expect("piped")).lines();
        let stderr = BufReader::new(child.stderr.take().expect("piped")).lines();
        Self { child, stdout, printed: String::new(), stderr, seen: String::new() }
    }

    /// Reads standard error until a line holds a text.
    pub async fn until(&mut self, text: &str) {
        loop {
            let line = self.stderr.next_line().await.expect("readable");
            let line = line.unwrap_or_else(|| panic!("{text:?} does not appear: {}", self.seen));
            self.seen.push_str(&line);
            self.seen.push('\n');
            if line.contains(text) {
                return;
            }
        }
    }

    /// Reads a line of standard output.
    pub async fn printed_line(&mut self) -> bool {
        let Some(line) = self.stdout.next_line().await.expect("readable") else { return false };
        self.printed.push_str(&line);
        self.printed.push('\n');
        true
    }

    pub async fn ended(mut self) -> Ended {
        while let Some(line) = self.stderr.next_line().await.expect("readable") {
            self.seen.push_str(&line);
            self.seen.push('\n');
        }
        while self.printed_line().await {}
        let status = self.child.wait().await.expect("waited");
        Ended { success: status.success(), code: status.code(), stdout: self.printed, stderr: self.seen }
    }
}
