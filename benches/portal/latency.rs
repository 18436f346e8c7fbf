//! From the agent's write to the viewer's read, and what relaying costs.
//!
//! Latency needs one clock, so agent, server and viewers share this process and its cores; the viewers read over TCP.

use std::sync::Arc;
use std::time::{Duration, Instant};

use flightdeck::agent::{AgentCommand, AgentEvent, Runtime, Runtimes};
use flightdeck::capture::{CaptureSettings, Captures, CapturesParts};
use flightdeck::config::{AuthMode, Config, Limits, LiveConfig};
use flightdeck::http::auth::{Auth, AuthSettings, ServerToken};
use flightdeck::http::{AllowedHosts, App, AppParts, Guard, Listeners, serve};
use flightdeck::jobs::{JobSettings, Jobs, JobsParts};
use flightdeck::model::{BlockKey, BlockKind};
use flightdeck::notify::{Notifier, NotifierParts, NotifySettings, PushKey};
use flightdeck::process::Supervisor;
use flightdeck::review::{Reviews, ReviewsParts};
use flightdeck::session::{NewPrompt, NewSession, SessionSettings, Sessions, SessionsParts};
use flightdeck::store::{DataFolder, Store, StoreSettings};
use tokio_util::sync::CancellationToken;

use crate::fake_runtime::{AgentSide, FakeRuntime};
use crate::process::Process;
use crate::report::{Report, percentile};
use crate::viewer::Viewer;

/// An agent whose deltas carry the moment they were written.
async fn stamp(AgentSide { mut commands, events }: AgentSide, epoch: Instant, rate: u32, count: u32) {
    while let Some(command) = commands.recv().await {
        if !matches!(command, AgentCommand::Prompt { .. }) {
            continue;
        }
        let began = tokio::time::Instant::now();
        for number in 0..count {
            tokio::time::sleep_until(began + Duration::from_secs(number.into()) / rate).await;
            let key = BlockKey::new(BlockKind::Message, "m");
            let delta = epoch.elapsed().as_nanos().to_string();
            if events.send(AgentEvent::BlockDelta { key, delta }).await.is_err() {
                return;
            }
        }
        if events.send(AgentEvent::Idle).await.is_err() {
            return;
        }
    }
}

async fn watch(mut viewer: Viewer, epoch: Instant) -> Vec<f64> {
    let mut micros = Vec::new();
    loop {
        let response = viewer.next().await;
        let read = epoch.elapsed().as_nanos();
        if let Some(rest) = response.split("\"delta\":\"").nth(1) {
            let written: u128 = rest.trim_end_matches("\"}").parse().expect("a stamp");
            #[expect(clippy::cast_precision_loss, reason = "a small number")]
            micros.push((read - written) as f64 / 1_000.0);
        } else if response.contains("onIdle") {
            return micros;
        }
    }
}

/// Latencies in microseconds: `active` of `open` sessions stream at a rate, each to that many viewers.
async fn latencies(open: usize, active: usize, viewers: usize, rate: u32, count: u32) -> Vec<f64> {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = DataFolder::lock(&folder.path().join("data")).expect("locked");
    let store = Store::open(&folder, StoreSettings::default()).expect("opened");
    let epoch = Instant::now();
    let stopping = CancellationToken::new();
    let runtime = FakeRuntime::new("stamping", move |agent| stamp(agent, epoch, rate, count));
    let sessions = Sessions::new(SessionsParts {
        store: store.clone(),
        runtimes: Runtimes::new(vec![Arc::new(runtime) as Arc<dyn Runtime>]),
        settings: SessionSettings { open_sessions: 10_000, ..SessionSettings::default() },
        stopping: stopping.clone(),
    });
    let captures = CapturesParts {
        runtimes: sessions.runtimes().clone(),
        store: store.clone(),
        settings: CaptureSettings::default(),
        folder: folder.path().to_owned(),
        accounting: Arc::new(()),
        now: flightdeck::session::now,
    };
    let token = ServerToken::of(&folder).expect("a token");
    let auth_settings = AuthSettings { mode: AuthMode::None, port: 0, behind_proxy: false, failures_per_minute: 1 };
    let listeners = Listeners::bind(None, 0).await.expect("bound");
    let port = listeners.port;
    let jobs = Jobs::new(JobsParts {
        sessions: sessions.clone(),
        supervisor: Supervisor::without_ledger(),
        settings: JobSettings { entry: None, test_folder: None, closed_grace: Duration::ZERO, readers: 1 },
        stopping: stopping.clone(),
    });
    let app = App::new(AppParts {
        sessions: sessions.clone(),
        jobs,
        captures: Captures::new(captures),
        notifier: Notifier::new(NotifierParts {
            store: store.clone(),
            settings: NotifySettings::default(),
            push_key: Arc::new(PushKey::of(&folder).expect("a key")),
            clock: Arc::new(flightdeck::session::now),
            is_watched: Arc::new(|_| false),
            stopping: stopping.clone(),
        }),
        reviews: Reviews::new(ReviewsParts {
            folder: folder.changes().expect("made"),
            sessions: sessions.clone(),
            stopping: stopping.clone(),
        }),
        auth: Auth::new(&token, auth_settings, store.clone()).await.expect("made"),
        guard: Guard::new(AllowedHosts::new(None, &[]), &[]),
        config: Arc::new(LiveConfig::fixed(Config {
            limits: Limits { connections: 10_000, ..Limits::default() },
            ..Config::default()
        })),
        repository_root: std::path::PathBuf::new(),
        data_folder: folder.path().to_owned(),
        quarantine: Arc::default(),
        stop: CancellationToken::new(),
    });
    let serving = serve(listeners, &app, &stopping);
    let mut all = Vec::new();
    for _ in 0..open {
        all.push(sessions.create(NewSession::default()).await.expect("created"));
    }
    let mut tasks = Vec::new();
    for session in &all[..active] {
        for _ in 0..viewers {
            let viewer = Viewer::open(port, &session.id().to_string()).await;
            tasks.push(tokio::spawn(watch(viewer, epoch)));
        }
    }
    for session in &all[..active] {
        session.prompt(NewPrompt { text: "go".to_owned(), ..NewPrompt::default() }).await.expect("accepted");
    }
    let mut micros = Vec::new();
    for task in tasks {
        micros.extend(task.await.expect("a viewer"));
    }
    stopping.cancel();
    sessions.shut_down().await;
    serving.finish(Duration::from_millis(100)).await;
    store.close().await;
    micros
}

fn show(micros: &mut [f64]) -> String {
    let (median, late) = (percentile(micros, 0.5), percentile(micros, 0.99));
    format!("p50 {:.2} ms, p99 {:.2} ms over {} readings", median / 1_000.0, late / 1_000.0, micros.len())
}

pub async fn measure(report: &mut Report) {
    let mut micros = latencies(1, 1, 10, 1_000, 5_000).await;
    report.add(
        "one session at 1,000 events/s to 10 viewers, agent's write to viewer's read",
        "p50 under 0.4 ms, p99 under 1 ms",
        show(&mut micros),
    );
    let mut micros = latencies(1_000, 100, 1, 100, 500).await;
    report.add("1,000 sessions open, 100 streaming at 100 events/s", "p99 under 5 ms", show(&mut micros));

    let process = Process::start().await;
    let mut ids = Vec::new();
    for _ in 0..1_000 {
        ids.push(process.new_session().await);
    }
    let mut tasks = Vec::new();
    for id in &ids[..100] {
        let mut viewer = Viewer::open(process.port, id).await;
        tasks.push(tokio::spawn(async move { while !viewer.next().await.contains("onIdle") {} }));
    }
    let (began, before) = (Instant::now(), process.processor_time());
    for id in &ids[..100] {
        process.prompt(id, "many 500 100 40").await;
    }
    for task in tasks {
        task.await.expect("a viewer");
    }
    let cores = (process.processor_time() - before) / began.elapsed().as_secs_f64();
    report.add("the same, processor time of the server", "under 1 core", format!("{cores:.2} cores"));
    process.stop().await;
}
