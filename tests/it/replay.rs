//! `flightdeck replay` over every recorded transcript, compared with what it said when somebody last looked.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

fn replay(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_flightdeck")).arg("replay").args(arguments).output().expect("the binary runs")
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn said(arguments: &[&str]) -> String {
    let output = replay(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Compares exactly. With `UPDATE_SNAPSHOTS` in the environment the file is rewritten instead.
fn check(name: &str, text: &str) {
    let file = root().join("tests/snapshots").join(name);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        std::fs::write(&file, text).expect("written");
    }
    let expected = std::fs::read_to_string(&file).unwrap_or_default();
    let different = text.lines().zip(expected.lines()).position(|(now, then)| now != then);
    assert!(text == expected, "{name} is not what it was, from line {different:?}; UPDATE_SNAPSHOTS=1 accepts it");
}

fn transcripts(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join("tests/transcripts").join(folder)).expect("transcripts");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

fn check_all(folder: &str, runtime: impl Fn(&str) -> &'static str) {
    for file in transcripts(folder) {
        let name = file.file_stem().expect("a name").to_str().expect("UTF-8");
        let (runtime, path) = (runtime(name), file.to_str().expect("UTF-8"));
        check(&format!("{folder}/{name}.jsonl"), &said(&["--runtime", runtime, path]));
        check(&format!("{folder}/{name}.final.json"), &said(&["--runtime", runtime, "--final", path]));
    }
}

#[test]
fn streams_of_copilot_are_read_as_before() {
    check_all("headless", |_| "copilot-headless");
}

#[test]
fn streams_of_claude_code_are_read_as_before() {
    check_all("claude", |_| "claude");
}

#[test]
fn recordings_of_the_sdk_are_read_as_before() {
    check_all("sdk", |_| "copilot");
}

#[test]
fn recordings_of_acp_are_read_as_before() {
    check_all("acp", |name| match name {
        "gemini" => "acp:gemini",
        "opencode" => "acp:opencode",
        _ => "copilot-acp",
    });
}

fn outcome(runtime: &str, file: &Path) -> Value {
    let line = said(&["--runtime", runtime, "--final", file.to_str().expect("UTF-8")]);
    assert_eq!(line.lines().count(), 1);
    serde_json::from_str(&line).expect("JSON")
}

#[test]
fn the_last_line_says_what_the_turn_came_to() {
    let headless = |name: &str| root().join(format!("tests/transcripts/headless/{name}.jsonl"));
    for (name, verdict, class, text) in [
        ("plain", "succeeded", Value::Null, "Hello from the fake model. This is a plain streamed reply."),
        ("stream-off", "succeeded", Value::Null, "Reasoned answer: 42."),
        ("error500", "failed", json!("network"), ""),
        ("midfail", "failed", json!("stream-broken"), ""),
        ("sigterm", "failed", json!("aborted"), ""),
    ] {
        let outcome = outcome("copilot-headless", &headless(name));
        assert_eq!((&outcome["verdict"], &outcome["errorClass"]), (&json!(verdict), &class), "{name} {outcome}");
        assert_eq!(outcome["text"], text, "{name}");
        assert_eq!(outcome["model"], "fake-model", "{name}");
    }
    let tool = outcome("copilot-headless", &headless("tool-bash"));
    assert!(tool["text"].as_str().expect("text").starts_with("Final answer after tools."), "{tool}");
    assert_eq!(tool["usage"]["numTurns"], 2);
    assert_eq!(tool["usage"]["inputTokens"], Value::Null);
    assert_eq!(tool["sessionId"], "46073f2b-0f96-4381-a89a-eb3903725c6a");
}

#[test]
fn a_stream_that_was_given_up_leaves_no_block_open_and_nothing_in_the_answer() {
    let file = root().join("tests/transcripts/headless/midfail.jsonl");
    let said = said(&["--runtime", "copilot-headless", file.to_str().expect("UTF-8")]);
    let count = |name: &str| said.matches(&format!("\"callback\":\"{name}\"")).count();
    assert_eq!(count("onStartMessage"), count("onEndMessage"));
    assert!(count("onStartMessage") > 1, "{said}");
}

#[test]
fn what_cannot_be_read_is_said_with_what_can() {
    for (arguments, word) in [
        (&["--runtime", "nobody", "/dev/null"][..], "copilot-headless"),
        (&["--runtime", "claude", "/no/such/file"][..], "/no/such/file"),
    ] {
        let output = replay(arguments);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && stderr.contains(word), "{stderr}");
    }
    let empty = said(&["--runtime", "claude", "--final", "/dev/null"]);
    assert!(empty.contains(r#""verdict":"failed""#) && empty.contains(r#""errorClass":"stream-broken""#), "{empty}");
}
