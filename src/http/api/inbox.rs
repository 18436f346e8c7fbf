//! All sessions and jobs in one stream: their states, and what waits for a person.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use bytes::{BufMut, BytesMut};
use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::watch;

use crate::http::app::App;
use crate::http::auth::Caller;
use crate::http::openapi::{Operation, Tag, get};
use crate::http::pieces::Pieces;
use crate::http::sse::{self, Chunks};
use crate::jobs::JobFeedEntry;
use crate::session::{AnswererGuard, SessionStatus};

/// Ends the latest states: a reader that reconnects then knows that what was not mentioned is over or was deleted.
const CURRENT: &[u8] = b"event: current\ndata: {}\n\n";

/// First the latest state of every open session and every job that runs, then `event: current`, then changes. A reader
/// that reconnects gets the latest states again, so it needs no number to resume from.
pub(in crate::http) async fn inbox(State(app): State<App>, Extension(caller): Extension<Caller>) -> Response {
    let version = app.sessions().session_feed().watch();
    // A page shows what waits in every session, and a person can answer there.
    let answers = (caller == Caller::Page).then(|| app.sessions().answerers().enter());
    let job_version = app.jobs().feed().watch();
    sse::stream(Inbox { app, version, job_version, seen: 0, jobs_seen: 0, is_current: false, _answers: answers })
}

struct Inbox {
    app: App,
    version: watch::Receiver<u64>,
    job_version: watch::Receiver<u64>,
    seen: u64,
    jobs_seen: u64,
    /// Whether the reader got the latest states.
    is_current: bool,
    _answers: Option<AnswererGuard>,
}

impl Chunks for Inbox {
    async fn next(&mut self) -> Option<Pieces> {
        let stopping = self.app.sessions().stopping().clone();
        loop {
            if stopping.is_cancelled() {
                return None;
            }
            self.version.borrow_and_update();
            self.job_version.borrow_and_update();
            let (version, sessions) = self.app.sessions().session_feed().since(self.seen);
            let (job_version, jobs) = self.app.jobs().feed().since(self.jobs_seen);
            (self.seen, self.jobs_seen) = (version, job_version);
            if !sessions.is_empty() || !jobs.is_empty() || !self.is_current {
                let mut chunk = BytesMut::new();
                for entry in &sessions {
                    write_frame(&mut chunk, entry);
                }
                for entry in &jobs {
                    write_frame(&mut chunk, entry);
                }
                if !self.is_current {
                    chunk.extend_from_slice(CURRENT);
                    self.is_current = true;
                }
                return Some(chunk.freeze().into());
            }
            tokio::select! {
                changed = self.version.changed() => changed.ok()?,
                changed = self.job_version.changed() => changed.ok()?,
                () = stopping.cancelled() => return None,
                () = tokio::time::sleep(sse::KEEP_ALIVE) => return Some(sse::keep_alive()),
            }
        }
    }
}

fn write_frame(chunk: &mut BytesMut, entry: &impl Serialize) {
    chunk.extend_from_slice(b"data: ");
    serde_json::to_writer(chunk.writer(), entry).expect("plain values");
    chunk.extend_from_slice(b"\n\n");
}

/// The latest state of a session or a job.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum InboxEntry {
    Session(SessionStatus),
    Job(JobFeedEntry),
}

pub(super) fn operations() -> Vec<Operation> {
    vec![
        get("/api/events", inbox)
            .named("streamInbox", Tag::Reading, "Follow all sessions and jobs")
            .details(
                "Server-sent events: first the latest state of each open session and each running job, then one \
                 `event: current` with the data `{}`, then changes. `state` is null when a session was deleted.",
            )
            .streams::<InboxEntry>(),
    ]
}
