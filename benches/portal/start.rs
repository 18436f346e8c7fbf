//! Starting, idling, and what a session costs in memory.

use bytes::Bytes;
use flightdeck::model::{
    PermissionPolicy, SessionBudget, SessionId, SessionOrigin, SessionProfile, SessionState, Timestamp,
};
use flightdeck::store::{Append, Creation, DataFolder, EventRow, NewSessionRecord, Store, StoreSettings};

use crate::process::Process;
use crate::report::{Report, percentile};
use crate::viewer::request;

const STARTS: usize = 9;
const SESSIONS: usize = 1_000;

fn profile() -> SessionProfile {
    SessionProfile {
        title: Some("old".to_owned()),
        title_is_given: true,
        runtime: "demo".to_owned(),
        model: "demo".to_owned(),
        effort: None,
        working_directory: None,
        permissions: PermissionPolicy::default(),
        system_prompt: None,
        options: serde_json::Map::new(),
        budget: SessionBudget::default(),
    }
}

/// A session in a store.
pub async fn new_session(store: &Store, now: Timestamp) -> SessionId {
    let (state, origin) = (SessionState::Ready, SessionOrigin::User);
    let record = NewSessionRecord { profile: profile(), state, origin, job: None, key: None, now, most_open: 100 };
    match store.create_session(record).await.expect("created") {
        Creation::New(id) => id,
        other => panic!("{other:?}"),
    }
}

/// Writes events of a size into a session of a folder.
pub async fn fill(store: &Store, session: SessionId, count: u64, size: usize) {
    let time = Timestamp::from_millis(1_700_000_000_000);
    let content = "x".repeat(size);
    for start in (1..=count).step_by(1_000) {
        let events = (start..(start + 1_000).min(count + 1))
            .map(|seq| EventRow {
                seq,
                time,
                block: None,
                body: Bytes::from(format!(
                    "{{\"callback\":\"onEndMessage\",\"messageId\":\"m{seq}\",\"completeContent\":\"{content}\"}}"
                )),
            })
            .collect();
        store.append(Append { stream: session.into(), time, events, ended_blocks: Vec::new(), changes: Vec::new() });
        store.flush().await.expect("flushed");
    }
}

pub async fn measure(report: &mut Report) {
    let empty = Process::start().await;
    report.add(
        "idle memory, new database",
        "under 15 MB",
        format!(
            "{:.1} MB, of which {:.1} MB are its own and the rest are pages of files, the program's among them",
            empty.memory() / 1024.0,
            empty.own_memory() / 1024.0
        ),
    );
    for _ in 0..SESSIONS {
        empty.new_session().await;
    }
    // A new start loads sessions without their agents.
    let process = Process::start_in(empty.stop().await).await;
    let after_start = process.memory();
    for number in 1..=SESSIONS {
        request(process.port, "GET", &format!("/api/copilot/session/session-{number}"), "").await;
    }
    #[expect(clippy::cast_precision_loss, reason = "a small number")]
    let per_session = (process.memory() - after_start) / SESSIONS as f64;
    report.add("memory per session with no agent attached", "under 20 KB", format!("{per_session:.1} KB"));
    process.stop().await;

    let mut folder = tempfile::tempdir().expect("a folder");
    {
        let locked = DataFolder::lock(&folder.path().join("data")).expect("locked");
        let store = Store::open(&locked, StoreSettings::default()).expect("opened");
        let time = Timestamp::from_millis(1_700_000_000_000);
        for _ in 0..64 {
            let id = new_session(&store, time).await;
            fill(&store, id, 16_000, 1_000).await;
        }
        store.close().await;
    }
    let size = std::fs::metadata(folder.path().join("data/flightdeck.db")).expect("there").len();
    let mut times = Vec::new();
    let mut memory = 0.0;
    for _ in 0..STARTS {
        let process = Process::start_in(folder).await;
        times.push(process.first_answer * 1_000.0);
        memory = process.memory() / 1024.0;
        folder = process.stop().await;
    }
    #[expect(clippy::cast_precision_loss, reason = "for people")]
    let gigabytes = size as f64 / 1e9;
    report.add(
        &format!("start to first answered request, database of {gigabytes:.2} GB"),
        "under 50 ms",
        format!("{:.1} ms (median of {STARTS}), {memory:.1} MB then", percentile(&mut times, 0.5)),
    );
}
