//! `flightdeck run`, `attach`, `logs` and the commands that answer, with the real binary and the demo agent.

mod answering;
#[cfg(unix)]
mod attaching;
mod background;
mod logs;
mod running;
#[cfg(unix)]
mod terminal;

use std::process::Stdio;

use serde_json::Value;
use tokio::io::AsyncWriteExt as _;

use crate::support::{Ended, Server};

/// The arguments of a turn on the demo agent in the server's work folder.
fn turn<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    ["run", "--runtime", "demo", "-C", "work"].iter().chain(arguments).copied().collect()
}

/// A command with something on standard input.
async fn piped(server: &Server, arguments: &[&str], input: &str) -> Ended {
    let mut command = server.builder_again().command(server.folder());
    let mut child = command.args(arguments).stdin(Stdio::piped()).spawn().expect("the binary starts");
    let mut stdin = child.stdin.take().expect("piped");
    stdin.write_all(input.as_bytes()).await.expect("written");
    drop(stdin);
    let output = child.wait_with_output().await.expect("ended");
    Ended {
        success: output.status.success(),
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

/// Every line of an output as JSON.
fn json_lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}
