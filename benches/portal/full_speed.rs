//! One session at full speed to 1, 10 and 50 viewers: how fast, and is anything lost.

use std::time::Instant;

use crate::process::Process;
use crate::report::{Report, percentile};
use crate::viewer::Viewer;

const DELTAS: usize = 20_000;
const SIZE: usize = 40;
const ROUNDS: usize = 5;

async fn watch(mut viewer: Viewer) -> (usize, bool, Instant) {
    let (mut deltas, mut text, mut whole) = (0, String::new(), false);
    loop {
        let response = viewer.next().await;
        if let Some(rest) = response.split("\"delta\":\"").nth(1) {
            deltas += 1;
            text.push_str(rest.trim_end_matches("\"}"));
        } else if let Some(rest) = response.split("\"completeContent\":\"").nth(1) {
            whole = rest.trim_end_matches("\"}") == text;
        } else if response.contains("onIdle") {
            return (deltas, whole, Instant::now());
        }
    }
}

pub async fn measure(report: &mut Report) {
    for viewers in [1, 10, 50] {
        let process = Process::start().await;
        let (mut rates, mut lost, mut wrong) = (Vec::new(), 0, 0);
        for _ in 0..ROUNDS {
            let session = process.new_session().await;
            let mut tasks = Vec::new();
            for _ in 0..viewers {
                let viewer = Viewer::open(process.port, &session).await;
                tasks.push(tokio::spawn(watch(viewer)));
            }
            let began = Instant::now();
            process.prompt(&session, &format!("many {DELTAS} 0 {SIZE}")).await;
            for task in tasks {
                let (deltas, whole, ended) = task.await.expect("a viewer");
                lost += DELTAS - deltas;
                wrong += usize::from(!whole);
                #[expect(clippy::cast_precision_loss, reason = "a rate")]
                rates.push(deltas as f64 / (ended - began).as_secs_f64());
            }
        }
        let aim = if viewers == 1 { "0 lost, 90,000 events/s" } else { "0 lost" };
        report.add(
            &format!("{DELTAS} deltas at full speed, {viewers} viewer(s), {ROUNDS} times"),
            aim,
            format!(
                "{lost} lost, {wrong} texts that differ, {:.0} events/s per viewer (median)",
                percentile(&mut rates, 0.5)
            ),
        );
        process.stop().await;
    }
    stalled(report).await;
}

/// Memory that a long turn takes, with and without a viewer that never reads beside the one that does.
async fn stalled(report: &mut Report) {
    let mut grown = Vec::new();
    for beside in [false, true] {
        let process = Process::start().await;
        let session = process.new_session().await;
        let mut never_reads = Vec::new();
        if beside {
            never_reads.push(Viewer::open(process.port, &session).await);
        }
        let viewer = Viewer::open(process.port, &session).await;
        let before = process.memory();
        process.prompt(&session, "many 50000 0 200").await;
        watch(viewer).await;
        grown.push((process.memory() - before) / 1024.0);
        process.stop().await;
    }
    report.add(
        "a turn of 10 MB beside a viewer that never reads",
        "memory bounded",
        format!("memory grew by {:.0} MB, without that viewer by {:.0} MB", grown[1], grown[0]),
    );
}
