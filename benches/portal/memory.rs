//! What long messages cost in memory while they are relayed, what is kept afterwards, and whether anybody waits meanwhile.

use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use crate::process::Process;
use crate::report::{Report, percentile};
use crate::viewer::{Viewer, request};

/// Readers that left count as watching for ten seconds, and tails are looked at every five.
const UNTIL_RELEASED: Duration = Duration::from_secs(20);
const VIEWERS: usize = 10;
const DELTAS: usize = 20_000;
const ROUNDS: usize = 3;
const NOT_READING: usize = 250;

pub async fn measure(report: &mut Report) {
    reading(report).await;
    not_reading(report).await;
}

/// How many deltas a viewer gets until the turn ends.
async fn deltas(mut viewer: Viewer) -> usize {
    let mut deltas = 0;
    loop {
        let response = viewer.next().await;
        deltas += usize::from(response.starts_with(r#"{"callback":"onMessage""#));
        if response.contains("onIdle") {
            return deltas;
        }
    }
}

async fn reading(report: &mut Report) {
    let process = Process::start().await;
    let mut missed = 0;
    for _ in 0..ROUNDS {
        let session = process.new_session().await;
        let mut tasks = Vec::new();
        for _ in 0..VIEWERS {
            tasks.push(tokio::spawn(deltas(Viewer::open(process.port, &session).await)));
        }
        process.prompt(&session, &format!("many {DELTAS} 0 1024")).await;
        for task in tasks {
            missed += DELTAS - task.await.expect("a viewer");
        }
    }
    let peak = process.peak_memory() / 1024.0;
    tokio::time::sleep(UNTIL_RELEASED).await;
    let kept = process.memory() / 1024.0;
    report.add(
        &format!("20 MB in deltas of 1 KB to {VIEWERS} viewers, {ROUNDS} times"),
        "every delta, peak under 300 MB, under 100 MB kept",
        format!("{missed} of {} deltas missed, peak {peak:.0} MB, {kept:.0} MB kept", ROUNDS * VIEWERS * DELTAS),
    );
    process.stop().await;
}

/// The same message first while the viewers are attached, then for viewers that come when it is only in the store.
async fn not_reading(report: &mut Report) {
    let process = Process::start().await;
    let session = process.new_session().await;
    let before = process.memory() / 1024.0;
    for (when, comes_late) in [("attached before it", false), ("that come after it", true)] {
        let done = CancellationToken::new();
        let health = tokio::spawn(health_times(process.port, done.clone()));
        let mut viewers = Vec::new();
        if comes_late {
            tokio::time::sleep(UNTIL_RELEASED).await;
        }
        for _ in 0..NOT_READING {
            viewers.push(Viewer::open(process.port, &session).await);
        }
        if !comes_late {
            process.prompt(&session, "many 10 0 1000000").await;
            deltas(Viewer::open(process.port, &session).await).await;
        }
        tokio::time::sleep(Duration::from_secs(5)).await;
        let during = process.memory() / 1024.0;
        let peak = process.peak_memory() / 1024.0;
        drop(viewers);
        done.cancel();
        let mut waits = health.await.expect("measured");
        tokio::time::sleep(UNTIL_RELEASED).await;
        let kept = process.memory() / 1024.0;
        report.add(
            &format!("a message of 10 MB, {NOT_READING} viewers {when} and do not read"),
            "a few times its size, nobody waits",
            format!(
                "idle {before:.0} MB, peak so far {peak:.0} MB, {during:.0} MB with all of them, {kept:.0} MB when they are gone; \
                 /api/health meanwhile p50 {:.1} ms, p99 {:.1} ms, slowest {:.1} ms",
                percentile(&mut waits, 0.5),
                percentile(&mut waits, 0.99),
                percentile(&mut waits, 1.0),
            ),
        );
    }
    process.stop().await;
}

/// How long a short request takes, again and again, in milliseconds.
async fn health_times(port: u16, done: CancellationToken) -> Vec<f64> {
    let mut times = Vec::new();
    while !done.is_cancelled() {
        let began = Instant::now();
        request(port, "GET", "/api/health", "").await;
        times.push(began.elapsed().as_secs_f64() * 1_000.0);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    times
}
