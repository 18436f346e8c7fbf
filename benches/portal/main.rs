//! The benchmark of the whole server: the real binary in the release profile, real `SQLite` files, viewers over TCP.
//!
//! `cargo xtask bench` builds, runs and writes the table into `docs/benchmarks.md`. Nothing here asserts a time: machines differ, and
//! the table says which one it was.

mod capture;
mod copilot;
#[path = "../../tests/fake_runtime/mod.rs"]
#[expect(dead_code, reason = "tests use more of it")]
mod fake_runtime;
mod full_speed;
mod history;
mod jobs;
mod latency;
mod memory;
mod pipe_clock;
mod process;
mod readers;
mod report;
mod search;
mod start;
mod terminal;
mod viewer;

use report::Report;

fn main() {
    match (std::env::var(pipe_clock::PROGRAM), std::env::var(readers::PROGRAM)) {
        (Ok(program), _) => pipe_clock::run(&program),
        (_, Ok(what)) => readers::run(&what),
        _ => measure(),
    }
}

#[tokio::main]
async fn measure() {
    let mut report = Report::default();
    match std::env::var("BENCH_ONLY").as_deref() {
        Ok("readers") => readers::measure(&mut report),
        Ok("memory") => memory::measure(&mut report).await,
        Ok("start") => start::measure(&mut report).await,
        Ok("full_speed") => full_speed::measure(&mut report).await,
        Ok("capture") => capture::measure(&mut report).await,
        Ok("jobs") => jobs::measure(&mut report).await,
        Ok("search") => search::measure(&mut report).await,
        Ok("terminal") => terminal::measure(&mut report).await,
        Ok(other) => {
            panic!(
                "BENCH_ONLY takes readers, memory, start, full_speed, capture, jobs, search or terminal, not {other}"
            )
        }
        Err(_) => all(&mut report).await,
    }
    let text = report.write();
    println!("{text}");
    if let Some(path) = std::env::var_os("BENCH_OUTPUT") {
        std::fs::write(&path, text).expect("written");
    }
}

async fn all(report: &mut Report) {
    readers::measure(report);
    start::measure(report).await;
    full_speed::measure(report).await;
    memory::measure(report).await;
    history::measure(report).await;
    latency::measure(report).await;
    copilot::measure(report).await;
    capture::measure(report).await;
    jobs::measure(report).await;
    search::measure(report).await;
    terminal::measure(report).await;
}
