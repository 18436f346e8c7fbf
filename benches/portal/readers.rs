//! The readers of agents' streams: lines or messages a second on one core, instructions for each.

use std::hint::black_box;
use std::process::Command;
use std::time::Instant;

use flightdeck::agent::AgentEvent;
use flightdeck::agent::copilot::relay;
use flightdeck::agent::headless::{ClaudeReader, CopilotReader};
use flightdeck::agent::transcript::StreamReader;

use crate::report::{Report, percentile};

/// Set for a child that makes lines and reads them, or only makes them: which reader, how many lines, `read` or `make`.
pub const PROGRAM: &str = "BENCH_READER";
const SESSION: &str = "6762664c-b302-4e0b-b1d0-68781715f535";
const LINES: usize = 300_000;
const ROUNDS: usize = 7;
/// Under valgrind, where everything is slow.
const FEW: usize = 2_000;
const MORE: usize = 12_000;

/// Lines as the real programs write them, each with an id of its own.
fn lines(reader: &str, count: usize) -> Vec<String> {
    let id = |number: usize| format!("{number:08x}-1bab-46c7-9ea6-3ed8462e96e3");
    (0..count)
        .map(|number| match reader {
            "claude" => format!(
                r#"{{"type":"stream_event","event":{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"tick{number} "}}}},"session_id":"6762664c-b302-4e0b-b1d0-68781715f535","parent_tool_use_id":null,"uuid":"{}","api_message_id":"msg_29df7acfad"}}"#,
                id(number)
            ),
            "sdk" => frame(&format!(
                r#"{{"jsonrpc":"2.0","method":"session.event","params":{{"sessionId":"{SESSION}","event":{{"type":"assistant.message_delta","data":{{"messageId":"881151fb-1989-4a3d-9ee3-23416ef2b442","deltaContent":"tick{number} "}},"ephemeral":true,"id":"{}","timestamp":"2026-01-15T18:56:56.841Z","parentId":"72cab101-5c0d-4d0b-942f-1a15ff6d0ff5"}}}}}}"#,
                id(number)
            )),
            _ => format!(
                r#"{{"type":"assistant.message_delta","data":{{"messageId":"881151fb-1989-4a3d-9ee3-23416ef2b442","deltaContent":"tick{number} "}},"ephemeral":true,"id":"{}","timestamp":"2026-01-15T18:56:56.841Z","parentId":"72cab101-5c0d-4d0b-942f-1a15ff6d0ff5"}}"#,
                id(number)
            ),
        })
        .collect()
}

fn frame(content: &str) -> String {
    format!("Content-Length: {}\r\n\r\n{content}", content.len())
}

fn new_reader(name: &str) -> Box<dyn StreamReader> {
    if name == "claude" { Box::new(ClaudeReader::new()) } else { Box::new(CopilotReader::new()) }
}

/// Relays the messages to a session, from the program's pipe to the channel that the session reads.
fn relayed(messages: &[String]) -> usize {
    let stream = std::io::Cursor::new(messages.concat());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let mut told = 0;
    let relaying = relay(stream, SESSION, |event| {
        // A session that is a moment behind gets several deltas in one.
        told +=
            if let AgentEvent::BlockDelta { delta, .. } = black_box(event) { delta.matches(' ').count() } else { 0 };
    });
    runtime.block_on(relaying).expect("relayed");
    told
}

fn read(name: &str, lines: &[String]) -> usize {
    if name == "sdk" {
        // On a thread of its own, because it needs a runtime of its own.
        return std::thread::scope(|scope| scope.spawn(|| relayed(lines)).join()).expect("relayed");
    }
    let (mut reader, mut events, mut told) = (new_reader(name), Vec::new(), 0);
    for line in lines {
        reader.read(black_box(line), &mut events);
        told += events.len();
        black_box(&events);
        events.clear();
    }
    told
}

/// What the child does.
pub fn run(what: &str) {
    let words: Vec<&str> = what.split(' ').collect();
    let lines = lines(words[0], words[1].parse().expect("a number"));
    if words[2] == "read" {
        black_box(read(words[0], &lines));
    }
    black_box(lines);
}

pub fn measure(report: &mut Report) {
    for (title, name) in [("copilot-headless", "copilot"), ("claude", "claude"), ("copilot", "sdk")] {
        let lines = lines(name, LINES);
        let mut rates: Vec<f64> = (0..ROUNDS)
            .map(|_| {
                let began = Instant::now();
                assert_eq!(read(name, &lines), LINES, "every line is one delta");
                #[expect(clippy::cast_precision_loss, reason = "a rate")]
                let rate = LINES as f64 / began.elapsed().as_secs_f64();
                rate
            })
            .collect();
        let instructions = instructions_a_line(name).map_or_else(
            || "instructions not counted, valgrind is not there".to_owned(),
            |count| format!("{count} instructions a line"),
        );
        report.add(
            &format!("`{title}`: {LINES} lines with a delta each, one core"),
            "300,000 lines/s",
            format!("{:.0} lines/s (median of {ROUNDS}), {instructions}", percentile(&mut rates, 0.5)),
        );
    }
}

/// What reading takes beyond making the lines, without what a process takes to start.
fn instructions_a_line(name: &str) -> Option<u64> {
    let of = |what: &str| Some(instructions(name, MORE, what)? - instructions(name, FEW, what)?);
    Some((of("read")? - of("make")?) / (MORE - FEW) as u64)
}

fn instructions(name: &str, count: usize, what: &str) -> Option<u64> {
    let own = std::env::current_exe().ok()?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(own)
        .env(PROGRAM, format!("{name} {count} {what}"))
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    text.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok())
}
