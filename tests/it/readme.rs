//! The README's commands work as they are written.

use std::process::Stdio;

use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;

use crate::support::Server;
use crate::support::markdown::{code_spans, section};
use crate::support::source::project_file;

/// The code block of a section that holds a text.
fn block(heading: &str, holding: &str) -> String {
    let readme = project_file("README.md");
    let blocks = section(&readme, heading).split("```").skip(1).step_by(2);
    blocks.map(str::trim).find(|block| block.contains(holding)).expect("a block").to_owned()
}

/// Pastes the commands for a first session into a new shell.
async fn paste_first_session(server: &Server) {
    let commands = block("## First session", "TOKEN=").replace("http://localhost:8888", &server.url);
    assert!(commands.contains(&server.url), "{commands}");
    let mut shell = Command::new("bash")
        .args(["-euo", "pipefail", "-c", &commands])
        .env("XDG_DATA_HOME", server.folder())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("bash runs");
    let mut lines = BufReader::new(shell.stdout.take().expect("piped")).lines();
    let mut output = Vec::new();
    while !output.last().is_some_and(|line: &String| line.contains("onIdle")) {
        let line = lines.next_line().await.expect("readable");
        output.push(line.unwrap_or_else(|| panic!("the events end too early: {output:?}")));
    }
    let answer: serde_json::Value = serde_json::from_str(&output[0]).expect("the answer is JSON");
    assert_eq!(answer["verdict"], "succeeded", "{answer}");
    assert!(output.iter().any(|line| line.contains("onUserPrompt")), "{output:?}");
}

#[tokio::test]
async fn the_commands_for_a_first_session_work_also_when_there_are_sessions_already() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("flightdeck");
    let server = Server::builder().data_folder(&data).start_in(folder).await;
    paste_first_session(&server).await;
    server.session().await.ask("hello").await;
    paste_first_session(&server).await;
}

#[tokio::test]
async fn every_command_that_is_named_exists() {
    let folder = tempfile::tempdir().expect("a folder");
    let readme = project_file("README.md");
    let commands: Vec<&str> =
        code_spans(&readme).into_iter().filter_map(|span| span.strip_prefix("flightdeck ")).collect();
    assert!(commands.len() >= 4, "{commands:?}");
    for command in commands.into_iter().filter(|command| !command.starts_with("COMMAND")) {
        let mut arguments: Vec<&str> = command.split(' ').collect();
        arguments.push("--help");
        let ended = Server::builder().run(folder.path(), &arguments).await;
        assert!(ended.success, "flightdeck {command}: {}", ended.stderr);
    }
}
