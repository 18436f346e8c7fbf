//! What jobs add to the sessions that they use, how quickly a long one resumes, and many at once.
//!
//! The agent is inside the process and answers at once, so that what is left is ours.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use flightdeck::agent::{AgentCommand, AgentEvent, Runtime, Runtimes};
use flightdeck::jobs::{JobSettings, Jobs, JobsParts, NewJobRequest};
use flightdeck::model::{JobId, JobStatus};
use flightdeck::process::Supervisor;
use flightdeck::session::{NewPrompt, NewSession, SessionSettings, Sessions, SessionsParts};
use flightdeck::store::{DataFolder, Store, StoreSettings};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::fake_runtime::{AgentSide, FakeRuntime};
use crate::report::Report;

const WORKS: u32 = 1_000;
const JOBS: usize = 100;
const WORKS_OF_EACH: u32 = 10;
/// How long each agent works in the measurement of many jobs.
const AGENT_TIME: Duration = Duration::from_millis(100);

struct Deck {
    sessions: Sessions,
    jobs: Jobs,
    store: Store,
    stopping: CancellationToken,
}

impl Deck {
    async fn open(folder: &Path, agent_time: Duration) -> Self {
        let data = DataFolder::lock(&folder.join("data")).expect("locked");
        let store = Store::open(&data, StoreSettings::default()).expect("opened");
        let stopping = CancellationToken::new();
        let runtime = FakeRuntime::new("quick", move |agent| answer(agent, agent_time));
        let sessions = Sessions::new(SessionsParts {
            store: store.clone(),
            runtimes: Runtimes::new(vec![Arc::new(runtime) as Arc<dyn Runtime>]),
            settings: SessionSettings { open_sessions: 10_000, ..SessionSettings::default() },
            stopping: stopping.clone(),
        });
        sessions.restore().await.expect("restored");
        let settings = JobSettings {
            entry: Some(folder.join("jobs.json")),
            test_folder: None,
            closed_grace: Duration::ZERO,
            readers: 10,
        };
        let jobs = Jobs::new(JobsParts {
            sessions: sessions.clone(),
            supervisor: Supervisor::without_ledger(),
            settings,
            stopping: stopping.clone(),
        });
        Self { sessions, jobs, store, stopping }
    }

    async fn start(&self, name: &str, folder: &Path) -> JobId {
        let request = NewJobRequest {
            name: name.to_owned(),
            working_directory: folder.to_string_lossy().into_owned(),
            ..NewJobRequest::default()
        };
        self.jobs.start(request).await.expect("started")
    }

    async fn finish(&self, id: JobId) {
        let run = self.jobs.job(id).await.expect("found");
        let mut committed = run.log().watch();
        while run.log().progress().status == JobStatus::Running {
            committed.changed().await.expect("the run is there");
        }
        assert_eq!(run.log().progress().status, JobStatus::Succeeded);
    }

    async fn close(self) {
        self.stopping.cancel();
        self.jobs.shut_down().await;
        self.sessions.shut_down().await;
        self.store.close().await;
    }
}

async fn answer(AgentSide { mut commands, events }: AgentSide, time: Duration) {
    while let Some(command) = commands.recv().await {
        if matches!(command, AgentCommand::Prompt { .. }) {
            tokio::time::sleep(time).await;
            if events.send(AgentEvent::Idle).await.is_err() {
                return;
            }
        }
    }
}

fn write_entry(folder: &Path) {
    let task = json!({ "model": { "category": "driving" }, "prompt": ["go"], "requireUserInput": false });
    let works = |count: u32| -> Vec<Value> { (0..count).map(|_| json!({ "kind": "Ref", "taskId": "t" })).collect() };
    let gated = |count: u32| -> Vec<Value> {
        works(count).into_iter().chain([json!({ "kind": "Gate", "title": "Go on?" })]).collect()
    };
    let entry = json!({
        "models": { "driving": "default" },
        "drivingSessionRetries": [{ "modelId": "default", "retries": 1 }],
        "promptVariables": {},
        "tasks": { "t": task },
        "jobs": {
            "long": { "work": { "kind": "Seq", "works": works(WORKS) } },
            "waits": { "work": { "kind": "Seq", "works": gated(WORKS) } },
            "short": { "work": { "kind": "Seq", "works": works(WORKS_OF_EACH) } },
        },
        "grid": [],
    });
    std::fs::write(folder.join("jobs.json"), entry.to_string()).expect("written");
}

pub async fn measure(report: &mut Report) {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    write_entry(folder);
    let deck = Deck::open(folder, Duration::ZERO).await;
    let alone = sessions_alone(&deck, folder).await;
    let began = Instant::now();
    let id = deck.start("long", folder).await;
    deck.finish(id).await;
    let per_work = began.elapsed() / WORKS;
    let own = per_work.saturating_sub(alone);
    report.add(
        "a job's own time per work",
        "under 5 ms",
        format!("{} (with its session {}, a session alone {})", ms(own), ms(per_work), ms(alone)),
    );
    let waits = deck.start("waits", folder).await;
    let run = deck.jobs.job(waits).await.expect("found");
    let mut committed = run.log().watch();
    while run.log().progress().waiting.is_empty() {
        committed.changed().await.expect("the run is there");
    }
    drop(run);
    deck.close().await;
    resume(report, folder, waits).await;
    many(report, folder).await;
}

/// What a session costs that is opened, asked once and closed.
async fn sessions_alone(deck: &Deck, folder: &Path) -> Duration {
    let began = Instant::now();
    for _ in 0..WORKS {
        let working_directory = folder.to_string_lossy().into_owned();
        let new = NewSession { working_directory, ..NewSession::default() };
        let session = deck.sessions.create(new).await.expect("created");
        let prompt = NewPrompt { text: "go".to_owned(), ..NewPrompt::default() };
        let accepted = session.prompt(prompt).await.expect("accepted");
        session.outcome(accepted.prompt).await.expect("over");
        session.close().await.expect("closed");
    }
    began.elapsed() / WORKS
}

async fn resume(report: &mut Report, folder: &Path, id: JobId) {
    let deck = Deck::open(folder, Duration::ZERO).await;
    let began = Instant::now();
    deck.jobs.restore().await.expect("restored");
    let run = deck.jobs.job(id).await.expect("found");
    assert!(!run.log().progress().waiting.is_empty(), "its gate waits");
    let records = run.log().committed();
    report.add(
        &format!("a job with {WORKS} finished works resumes"),
        "under 100 ms",
        format!("{} ({records} records)", ms(began.elapsed())),
    );
    drop(run);
    deck.close().await;
}

/// Many jobs whose agents take time: together they should take as long as one.
async fn many(report: &mut Report, folder: &Path) {
    let deck = Deck::open(folder, AGENT_TIME).await;
    let began = Instant::now();
    let mut started = Vec::new();
    for _ in 0..JOBS {
        started.push(deck.start("short", folder).await);
    }
    for id in started {
        deck.finish(id).await;
    }
    let agents = AGENT_TIME * WORKS_OF_EACH;
    let measured = began.elapsed();
    report.add(
        &format!("{JOBS} jobs at once, {WORKS_OF_EACH} works each of {} ms", AGENT_TIME.as_millis()),
        "limited by the agents",
        format!("{} in all; the agents of one job alone take {}", ms(measured), ms(agents)),
    );
    deck.close().await;
}

fn ms(duration: Duration) -> String {
    format!("{:.1} ms", duration.as_secs_f64() * 1_000.0)
}
