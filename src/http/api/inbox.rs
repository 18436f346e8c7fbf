//! All sessions in one stream: their states and the requests that wait for a person.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use bytes::{BufMut, BytesMut};
use tokio::sync::watch;

use crate::http::app::App;
use crate::http::auth::Caller;
use crate::http::pieces::Pieces;
use crate::http::sse::{self, Chunks};
use crate::session::AnswererGuard;

/// First the latest state of every open session, then changes. A reader that reconnects gets the
/// latest states again, so it needs no number to resume from.
pub(in crate::http) async fn inbox(State(app): State<App>, Extension(caller): Extension<Caller>) -> Response {
    let version = app.sessions().session_feed().watch();
    // A page shows what waits in every session, and a person can answer there.
    let answers = (caller == Caller::Page).then(|| app.sessions().answerers().enter());
    sse::stream(Inbox { app, version, seen: 0, _answers: answers })
}

struct Inbox {
    app: App,
    version: watch::Receiver<u64>,
    seen: u64,
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
            let (version, entries) = self.app.sessions().session_feed().since(self.seen);
            self.seen = version;
            if !entries.is_empty() {
                let mut chunk = BytesMut::new();
                for entry in entries {
                    chunk.extend_from_slice(b"data: ");
                    let mut writer = chunk.writer();
                    serde_json::to_writer(&mut writer, &entry).expect("plain values");
                    chunk = writer.into_inner();
                    chunk.extend_from_slice(b"\n\n");
                }
                return Some(chunk.freeze().into());
            }
            tokio::select! {
                changed = self.version.changed() => changed.ok()?,
                () = stopping.cancelled() => return None,
                () = tokio::time::sleep(sse::KEEP_ALIVE) => return Some(sse::keep_alive()),
            }
        }
    }
}
