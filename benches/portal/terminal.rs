//! What `flightdeck run` adds to a turn: its own start, three requests, the stream and the text on a pipe.
//!
//! Turns of the command and turns over HTTP alternate, so that both meet the same machine; the difference of each pair is
//! the command's own time.

use std::process::Stdio;
use std::time::Instant;

use serde_json::Value;
use tokio::process::Command;

use crate::process::Process;
use crate::report::{Report, percentile};
use crate::viewer::request;

const PAIRS: usize = 41;
/// The demo agent says this without a pause.
const PROMPT: &str = "many 20 0 20";

pub async fn measure(report: &mut Report) {
    let server = Process::start().await;
    let (mut own, mut turns, mut shares) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..PAIRS {
        let direct = over_http(&server).await;
        let command = by_command(&server).await;
        own.push(command - direct);
        turns.push(command);
        shares.push(command / direct);
    }
    report.add(
        "`flightdeck run` on a turn of the demo agent, beside the same turn over HTTP",
        "adds under 30 ms",
        format!(
            "adds {:.1} ms (median of {PAIRS} pairs; p90 {:.1} ms), {:.1} ms in all, {:.1} times the turn alone",
            percentile(&mut own, 0.5),
            percentile(&mut own, 0.9),
            percentile(&mut turns, 0.5),
            percentile(&mut shares, 0.5)
        ),
    );
    server.stop().await;
}

/// Milliseconds of a turn in a new session, without the command.
async fn over_http(server: &Process) -> f64 {
    let began = Instant::now();
    let created = request(server.port, "POST", "/api/copilot/session", r#"{"runtime":"demo"}"#).await;
    let body = created.split_once("\r\n\r\n").expect("a body").1;
    let created: Value = serde_json::from_str(body).expect("JSON");
    let path = format!("/api/copilot/session/{}/prompt", created["sessionId"].as_str().expect("an id"));
    let outcome = request(server.port, "POST", &path, &format!(r#"{{"text":"{PROMPT}","wait":true}}"#)).await;
    assert!(outcome.contains("succeeded"), "{outcome}");
    began.elapsed().as_secs_f64() * 1000.0
}

/// Milliseconds of the same turn by the command, from its start to its end.
async fn by_command(server: &Process) -> f64 {
    let binary = std::env::var_os("BENCH_BINARY").unwrap_or_else(|| env!("CARGO_BIN_EXE_flightdeck").into());
    let began = Instant::now();
    let output = Command::new(binary)
        .arg("--data-dir")
        .arg(server.folder.path().join("data"))
        .args(["run", "--runtime", "demo", PROMPT])
        .env("XDG_CONFIG_HOME", server.folder.path())
        .current_dir(server.folder.path())
        .stdin(Stdio::null())
        .output()
        .await
        .expect("the binary starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!output.stdout.is_empty(), "an answer");
    began.elapsed().as_secs_f64() * 1000.0
}
