//! A viewer that comes late to a long session.

use std::time::Instant;

use flightdeck::model::Timestamp;
use flightdeck::store::{DataFolder, Store, StoreSettings};

use crate::process::Process;
use crate::report::Report;
use crate::start::{fill, new_session};
use crate::viewer::{Viewer, request};

const EVENTS: u64 = 100_000;

pub async fn measure(report: &mut Report) {
    let folder = tempfile::tempdir().expect("a folder");
    {
        let locked = DataFolder::lock(&folder.path().join("data")).expect("locked");
        let store = Store::open(&locked, StoreSettings::default()).expect("opened");
        let time = Timestamp::from_millis(1_700_000_000_000);
        let id = new_session(&store, time).await;
        fill(&store, id, EVENTS, 100).await;
        store.close().await;
    }
    let process = Process::start_in(folder).await;
    let began = Instant::now();
    let page = request(
        process.port,
        "GET",
        &format!("/api/copilot/session/session-1/log?before={}&limit=100", EVENTS + 1),
        "",
    )
    .await;
    let first_screen = began.elapsed().as_secs_f64() * 1_000.0;
    assert!(page.contains(&format!("\"m{EVENTS}\"")));
    let began = Instant::now();
    let mut viewer = Viewer::open(process.port, "session-1").await;
    for _ in 0..EVENTS {
        viewer.next().await;
    }
    let whole = began.elapsed().as_secs_f64() * 1_000.0;
    report.add(
        &format!("late viewer of {EVENTS} events"),
        "complete under 1 s, first screen under 100 ms",
        format!("complete in {whole:.0} ms, first screen (last 100 events) in {first_screen:.1} ms"),
    );
    process.stop().await;
}
