//! The real Copilot behind the server: our own share of a prompt and of an event, many sessions at once, a long turn.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use flightdeck::scripted_model::ScriptedModel;

use crate::pipe_clock;
use crate::process::Process;
use crate::report::{Report, percentile};
use crate::viewer::Viewer;

const PROBES: u32 = 60;
const SESSIONS: usize = 30;
const PIECES: usize = 1_000;
const LONG: usize = 100_000;

/// The server-only program, where `cargo xtask bench` put it.
pub fn program() -> Option<PathBuf> {
    let packages = PathBuf::from(std::env::var_os("TEST_AGENTS")?).join("node_modules/@github");
    Some(packages.join("copilot-sdk-linux-x64/prebuilds/linux-x64/copilot-runtime")).filter(|path| path.exists())
}

pub async fn start(program: &Path, model: &ScriptedModel, more: &[(&str, &str)]) -> Process {
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path().join("copilot");
    let base_url = model.base_url();
    let mut variables = vec![
        ("COPILOT_CLI_PATH", program.to_str().expect("UTF-8")),
        ("COPILOT_HOME", home.to_str().expect("UTF-8")),
        ("COPILOT_PROVIDER_BASE_URL", &base_url),
        ("COPILOT_PROVIDER_API_KEY", "none"),
        ("COPILOT_MODEL", "scripted-model"),
        ("COPILOT_OFFLINE", "true"),
        ("COPILOT_AUTO_UPDATE", "false"),
    ];
    variables.extend(more);
    let variables: Vec<(String, String)> =
        variables.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    Process::start_with(folder, &variables).await
}

pub async fn measure(report: &mut Report) {
    let Some(program) = program() else {
        eprintln!("the real Copilot is not there; its rows are left out (cargo xtask bench installs it)");
        return;
    };
    let model = ScriptedModel::start().await.expect("started");
    own_share(report, &program, &model).await;
    many_sessions(report, &program, &model).await;
    long_turn(report, &program, &model).await;
}

/// With a clock between us and the program.
async fn own_share(report: &mut Report, program: &Path, model: &ScriptedModel) {
    let notes = tempfile::NamedTempFile::new().expect("a file");
    let clock = std::env::current_exe().expect("this program");
    let variables = [
        (pipe_clock::PROGRAM, program.to_str().expect("UTF-8")),
        (pipe_clock::LOG, notes.path().to_str().expect("UTF-8")),
    ];
    let process = start(&clock, model, &variables).await;
    let session = process.new_session_on("scripted-model").await;
    let mut viewer = Viewer::open(process.port, &session).await;
    let (mut sent, mut seen) = (HashMap::new(), HashMap::new());
    for number in 0..PROBES {
        sent.insert(number, pipe_clock::now());
        process.prompt(&session, &format!("@@echo {}{number}", pipe_clock::MARK)).await;
        loop {
            let response = viewer.next().await;
            if response.contains("onEndMessage") {
                seen.insert(number, pipe_clock::now());
            } else if response.contains("onIdle") {
                break;
            }
        }
    }
    process.stop().await;
    let text = std::fs::read_to_string(notes.path()).expect("readable");
    let share = |from: &HashMap<u32, u128>, to: &HashMap<u32, u128>| -> Vec<f64> {
        // The first ones start the program's own session.
        (5..PROBES).map(|number| milliseconds(to[&number].saturating_sub(from[&number]))).collect()
    };
    let (mut prompt, mut event) = (share(&sent, &moments(&text, "in")), share(&moments(&text, "out"), &seen));
    for (what, values) in [
        ("our share of a prompt on the real Copilot: HTTP request to frame in its pipe", &mut prompt),
        ("our share of an event of the real Copilot: frame in its pipe to viewer", &mut event),
    ] {
        let (median, high) = (percentile(values, 0.5), percentile(values, 0.99));
        report.add(
            what,
            "median under 1 ms",
            format!("p50 {median:.2} ms, p99 {high:.2} ms over {} readings", values.len()),
        );
    }
}

/// The moments that a clock noted, by number.
pub fn moments(notes: &str, direction: &str) -> HashMap<u32, u128> {
    notes
        .lines()
        .filter_map(|line| line.strip_prefix(direction)?.trim().split_once(' '))
        .map(|(number, moment)| (number.parse().expect("a number"), moment.parse().expect("a moment")))
        .collect()
}

#[expect(clippy::cast_precision_loss, reason = "a few milliseconds")]
pub fn milliseconds(nanoseconds: u128) -> f64 {
    nanoseconds as f64 / 1e6
}

/// Reads one turn; gives how many deltas came, and whether they and the end say the expected text.
async fn read_turn(mut viewer: Viewer, expected: String) -> (usize, bool) {
    let (mut deltas, mut text, mut whole) = (0, String::new(), false);
    loop {
        let response: serde_json::Value = serde_json::from_str(&viewer.next().await).expect("JSON");
        match response["callback"].as_str() {
            Some("onMessage") => {
                deltas += 1;
                text.push_str(response["delta"].as_str().expect("text"));
            }
            Some("onEndMessage") => whole = response["completeContent"] == *expected && text == expected,
            Some("onIdle") => return (deltas, whole),
            _ => {}
        }
    }
}

async fn many_sessions(report: &mut Report, program: &Path, model: &ScriptedModel) {
    let process = start(program, model, &[]).await;
    let expected = (0..PIECES).map(|tick| format!("tick{tick} ")).collect::<Vec<_>>().concat();
    let mut sessions = Vec::new();
    for _ in 0..SESSIONS {
        let session = process.new_session_on("scripted-model").await;
        let viewer = Viewer::open(process.port, &session).await;
        sessions.push((session, tokio::spawn(read_turn(viewer, expected.clone()))));
    }
    let (began, before) = (Instant::now(), process.processor_time());
    for (session, _) in &sessions {
        process.prompt(session, &format!("@@slow {PIECES} 10")).await;
    }
    let (mut deltas, mut wrong) = (0, 0);
    for (_, turn) in sessions {
        let (seen, whole) = turn.await.expect("a viewer");
        deltas += seen;
        wrong += usize::from(!whole);
    }
    let (seconds, used) = (began.elapsed().as_secs_f64(), process.processor_time() - before);
    process.stop().await;
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    let rate = deltas as f64 / seconds;
    report.add(
        &format!("{SESSIONS} Copilot sessions streaming at once through one process, {PIECES} deltas each"),
        "nothing lost, our processor time under half a core",
        format!("{wrong} texts that differ, {rate:.0} deltas/s in all, {:.2} cores", used / seconds),
    );
}

async fn long_turn(report: &mut Report, program: &Path, model: &ScriptedModel) {
    let process = start(program, model, &[]).await;
    let expected = (0..LONG).map(|token| format!("tok{token} ")).collect::<Vec<_>>().concat();
    let session = process.new_session_on("scripted-model").await;
    let viewer = Viewer::open(process.port, &session).await;
    let began = Instant::now();
    process.prompt(&session, &format!("@@many {LONG}")).await;
    let (deltas, whole) = read_turn(viewer, expected).await;
    let seconds = began.elapsed().as_secs_f64();
    process.stop().await;
    let verdict = if whole { "complete" } else { "NOT complete" };
    report.add(
        &format!("a turn of {LONG} deltas relayed from the real Copilot"),
        "complete",
        format!("{verdict}, {deltas} deltas delivered in {seconds:.1} s"),
    );
}
