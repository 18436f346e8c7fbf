//! Captures on the real Copilot: our own share of a call, a loop held and destroyed, and many calls at once.

use std::collections::HashMap;
use std::path::Path;
use std::time::Instant;

use flightdeck::scripted_model::ScriptedModel;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::copilot::{milliseconds, moments, program, start};
use crate::pipe_clock;
use crate::process::Process;
use crate::report::{Report, percentile};
use crate::viewer::request;

const PROBES: u32 = 60;
const ROUNDS: usize = 5;
const LOOPS: usize = 20;
const AT_ONCE: usize = 50;

pub async fn measure(report: &mut Report) {
    let Some(program) = program() else { return };
    for mode in ["hold", "destroy"] {
        own_share(report, &program, mode).await;
    }
    first_piece(report, &program).await;
    loops(report, &program).await;
    many_at_once(report, &program).await;
}

/// Sends a conversation and gives the answer's message.
async fn ask(process: &Process, messages: &[Value]) -> Value {
    let parameters = json!({ "type": "object", "properties": { "at": { "type": "string" } } });
    let tool = json!({ "type": "function", "function": { "name": "look", "parameters": parameters } });
    let body = json!({ "model": "scripted-model", "messages": messages, "tools": [tool] });
    let reply = request(process.port, "POST", "/v1/chat/completions", &body.to_string()).await;
    let (_, body) = reply.split_once("\r\n\r\n").expect("a body");
    let answer: Value = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {reply}"));
    answer["choices"][0]["message"].clone()
}

/// With a clock between us and the program: what a call takes before the program has it, and after it has answered.
async fn own_share(report: &mut Report, program: &Path, mode: &str) {
    let model = ScriptedModel::start().await.expect("started");
    let notes = tempfile::NamedTempFile::new().expect("a file");
    let clock = std::env::current_exe().expect("this program");
    let variables = [
        (pipe_clock::PROGRAM, program.to_str().expect("UTF-8")),
        (pipe_clock::LOG, notes.path().to_str().expect("UTF-8")),
        ("FLIGHTDECK_CAPTURE_MODE", mode),
    ];
    let process = start(&clock, &model, &variables).await;
    let (mut messages, mut sent, mut ended) = (Vec::new(), HashMap::new(), HashMap::new());
    for number in 0..PROBES {
        if mode == "destroy" {
            messages.clear();
        }
        messages.push(json!({ "role": "user", "content": format!("@@echo {}{number}", pipe_clock::MARK) }));
        sent.insert(number, pipe_clock::now());
        let answer = ask(&process, &messages).await;
        ended.insert(number, pipe_clock::now());
        messages.push(answer);
    }
    process.stop().await;
    let text = std::fs::read_to_string(notes.path()).expect("readable");
    let (taken, said) = (moments(&text, "in"), moments(&text, "out"));
    let share = |from: &HashMap<u32, u128>, to: &HashMap<u32, u128>| -> Vec<f64> {
        (5..PROBES).map(|number| milliseconds(to[&number].saturating_sub(from[&number]))).collect()
    };
    let (mut before, mut after) = (share(&sent, &taken), share(&said, &ended));
    let before_is = if mode == "hold" { "before the program has it" } else { "before it, with its own session.create" };
    let (first, second) = (percentile(&mut before, 0.5), percentile(&mut after, 0.5));
    report.add(
        &format!("our share of a captured call, {mode}"),
        "median under 5 ms",
        format!("p50 {first:.2} ms {before_is}, {second:.2} ms after its message"),
    );
}

/// With the same clock: how long the first piece takes from the program's pipe to a caller that streams.
async fn first_piece(report: &mut Report, program: &Path) {
    let model = ScriptedModel::start().await.expect("started");
    let notes = tempfile::NamedTempFile::new().expect("a file");
    let clock = std::env::current_exe().expect("this program");
    let variables = [
        (pipe_clock::PROGRAM, program.to_str().expect("UTF-8")),
        (pipe_clock::LOG, notes.path().to_str().expect("UTF-8")),
    ];
    let process = start(&clock, &model, &variables).await;
    let mut seen = HashMap::new();
    for number in 0..PROBES {
        // Longer than anything that waits for a quiet moment.
        let content = format!("@@slow 5 20 {}{number}", pipe_clock::MARK);
        let messages = json!([{ "role": "user", "content": content }]);
        let body = json!({ "model": "scripted-model", "messages": messages, "stream": true }).to_string();
        seen.insert(number, time_of_first_piece(process.port, &body).await);
    }
    process.stop().await;
    let text = std::fs::read_to_string(notes.path()).expect("readable");
    let first = moments(&text, "first");
    let mut shares: Vec<f64> =
        (5..PROBES).map(|number| milliseconds(seen[&number].saturating_sub(first[&number]))).collect();
    let (median, high) = (percentile(&mut shares, 0.5), percentile(&mut shares, 0.99));
    report.add(
        "the first piece of a captured stream: frame in the program's pipe to caller",
        "median under 1 ms",
        format!("p50 {median:.2} ms, p99 {high:.2} ms over {} readings", shares.len()),
    );
}

/// Reads a stream to its end; gives when its first text came.
async fn time_of_first_piece(port: u16, body: &str) -> u128 {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.expect("listening");
    stream.set_nodelay(true).expect("set");
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.expect("sent");
    let (mut read, mut buffer, mut first) = (Vec::new(), vec![0; 64 * 1024], None);
    loop {
        let count = stream.read(&mut buffer).await.expect("readable");
        if count == 0 {
            return first.expect("a piece");
        }
        let moment = pipe_clock::now();
        read.extend_from_slice(&buffer[..count]);
        if first.is_none() && String::from_utf8_lossy(&read).contains("tick0") {
            first = Some(moment);
        }
    }
}

/// A loop of five rounds, held and destroyed.
async fn loops(report: &mut Report, program: &Path) {
    let mut rows = Vec::new();
    for mode in ["hold", "destroy"] {
        let model = ScriptedModel::start().await.expect("started");
        let process = start(program, &model, &[("FLIGHTDECK_CAPTURE_MODE", mode)]).await;
        ask(&process, &[json!({ "role": "user", "content": "@@plain" })]).await;
        let (began, before) = (Instant::now(), model.requests().len());
        for _ in 0..LOOPS {
            let mut messages =
                vec![json!({ "role": "user", "content": format!("@@loop {ROUNDS} look {{\"at\":\"x\"}}") })];
            loop {
                let answer = ask(&process, &messages).await;
                messages.push(answer.clone());
                let Some(calls) = answer["tool_calls"].as_array().filter(|calls| !calls.is_empty()) else { break };
                for call in calls {
                    let content = "a result of the caller ".repeat(50);
                    messages.push(json!({ "role": "tool", "tool_call_id": call["id"], "content": content }));
                }
            }
        }
        let each = began.elapsed().as_secs_f64() * 1e3 / as_f64(LOOPS);
        let asked = &model.requests()[before..];
        let bytes: usize = asked.iter().map(|body| body["messages"].to_string().len()).sum();
        let users = model.calls_with("@@loop").iter().filter(|call| call.initiator.as_deref() == Some("user")).count();
        process.stop().await;
        rows.push(format!(
            "{mode}: {} model calls, {} of them the user's, {:.1} KB of messages, {each:.0} ms",
            asked.len() / LOOPS,
            users / LOOPS,
            as_f64(bytes) / as_f64(LOOPS) / 1e3,
        ));
    }
    report.add("a loop of five tool calls, each with a result of 1.2 KB", "", rows.join("; "));
}

/// Many calls at once.
async fn many_at_once(report: &mut Report, program: &Path) {
    let model = ScriptedModel::start().await.expect("started");
    let process = start(program, &model, &[]).await;
    ask(&process, &[json!({ "role": "user", "content": "@@plain" })]).await;
    let before = process.memory() / 1024.0;
    let began = Instant::now();
    let calls = (0..AT_ONCE).map(|number| {
        let process = &process;
        async move {
            let answer = ask(process, &[json!({ "role": "user", "content": format!("@@echo {number}") })]).await;
            answer["content"] == format!("ECHO[{number}]")
        }
    });
    let right = futures_util::future::join_all(calls).await.into_iter().filter(|right| *right).count();
    let (seconds, peak) = (began.elapsed().as_secs_f64(), process.peak_memory() / 1024.0);
    process.stop().await;
    report.add(
        &format!("{AT_ONCE} captured calls at once"),
        "all right, memory bounded",
        format!("{right} right in {seconds:.2} s, server memory {before:.0} MB before, {peak:.0} MB at most"),
    );
}

#[expect(clippy::cast_precision_loss, reason = "small counts")]
fn as_f64(number: usize) -> f64 {
    number as f64
}
