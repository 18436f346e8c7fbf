//! A job's records as server-sent events.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::watch;

use super::jobs::job;
use crate::http::app::App;
use crate::http::auth::Caller;
use crate::http::body::{PathPart, QueryPart};
use crate::http::error::ApiResult;
use crate::http::openapi::{Operation, Tag, get};
use crate::http::pieces::Pieces;
use crate::http::sse::{self, Chunks};
use crate::jobs::{JobError, Record, Run};
use crate::model::Seq;
use crate::session::PresenceGuard;

/// Records of one part of a stream.
const CHUNK_RECORDS: usize = 500;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "JobStreamQuery")]
pub(in crate::http) struct StreamQuery {
    /// Only events after this number.
    after: Option<Seq>,
}

/// A job's records as a stream, resumable by number across restarts.
pub(in crate::http) async fn job_events(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    PathPart(id): PathPart<String>,
    headers: HeaderMap,
    QueryPart(query): QueryPart<StreamQuery>,
) -> ApiResult<Response> {
    let (job_id, run) = job(&app, &id).await?;
    let resumed = sse::resume_point(&headers, query.after)?;
    let after = resumed.unwrap_or(0);
    let last = run.log().committed();
    if after > last {
        return Err(crate::session::LiveError::CursorAhead { after, last }.into());
    }
    if resumed.is_some() && run.log().ended_at().is_some() && after >= last {
        // Everything was read and nothing will follow: 204 makes a browser stop reconnecting.
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let committed = run.log().watch();
    // The page holds this stream only while it is in view.
    let looks = (caller == Caller::Page).then(|| app.sessions().presence().enter(job_id));
    Ok(sse::stream(JobStream { run, committed, after, ended: false, _looks: looks }))
}

struct JobStream {
    run: Arc<Run>,
    committed: watch::Receiver<Seq>,
    after: Seq,
    ended: bool,
    _looks: Option<PresenceGuard>,
}

impl Chunks for JobStream {
    async fn next(&mut self) -> Option<Pieces> {
        while !self.ended {
            if self.run.stopping().is_cancelled() {
                return None;
            }
            self.committed.borrow_and_update();
            let is_over = self.run.log().ended_at().is_some();
            match self.run.log().events(self.after, CHUNK_RECORDS).await {
                Ok((events, _)) => {
                    if let Some(last) = events.last() {
                        self.after = last.seq;
                        return Some(sse::frames(&events));
                    }
                }
                Err(error) => {
                    // The reader reconnects with its last number and misses nothing.
                    tracing::error!(run = %self.run.log().stream(), %error, "a stream of a job ended with an error");
                    return None;
                }
            }
            if is_over {
                self.ended = true;
                return Some(sse::closed_frame(self.after));
            }
            tokio::select! {
                changed = self.committed.changed() => changed.ok()?,
                () = self.run.stopping().cancelled() => return None,
                () = tokio::time::sleep(sse::KEEP_ALIVE) => return Some(sse::keep_alive()),
            }
        }
        None
    }
}

pub(super) fn operations() -> Vec<Operation> {
    vec![
        get("/api/jobs/{id}/events", job_events)
            .named("streamJob", Tag::Jobs, "Follow a job")
            .details(
                "The log as server-sent events: `id:` is the number, `data:` the event. The last one is `event: closed`; a \
                 reader that has everything of a job that is over gets 204.",
            )
            .streams::<Record>()
            .resumable()
            .fails_with::<JobError>(),
    ]
}
