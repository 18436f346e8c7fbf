//! A session's events as a stream, resumable by number across restarts.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::watch;

use super::session;
use crate::http::app::App;
use crate::http::auth::Caller;
use crate::http::body::{PathPart, QueryPart};
use crate::http::error::ApiResult;
use crate::http::openapi::{Operation, Tag, get};
use crate::http::pieces::{PIECE_BYTES, Pieces};
use crate::http::sse::{self, Chunks};
use crate::model::{Scope, Seq};
use crate::session::{AnswererGuard, Head, LiveError, PresenceGuard, Session, SessionError, ViewerGuard};

/// Pending events are sent in one write, up to this size. A reader that does not read holds that much memory.
const CHUNK_EVENTS: usize = 2_048;
const CHUNK_BYTES: usize = PIECE_BYTES;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct StreamQuery {
    /// Only events after this number.
    after: Option<Seq>,
    /// The reader can answer requests. Needs the scope `approve`.
    #[serde(default)]
    answers: bool,
}

pub(in crate::http) async fn session_events(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    PathPart(id): PathPart<String>,
    headers: HeaderMap,
    QueryPart(query): QueryPart<StreamQuery>,
) -> ApiResult<Response> {
    if query.answers {
        caller.must_have(Scope::Approve)?;
    }
    let session = session(&app, &id).await?;
    let resumed = sse::resume_point(&headers, query.after)?;
    let after = resumed.unwrap_or(0);
    session.check_cursor(after).await?;
    let head = session.log().head();
    if resumed.is_some() && head.is_complete() && after >= head.committed {
        // Everything was read and nothing will follow: 204 makes a browser stop reconnecting.
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let viewer = session.log().attach(after, app.limits().readers_per_session).ok_or(LiveError::TooManyReaders)?;
    let head = session.log().watch();
    let could_answer = query.answers || caller == Caller::Page;
    let answers = could_answer.then(|| session.log().answerers().enter());
    let looks = could_answer.then(|| app.sessions().presence().enter(session.id()));
    Ok(sse::stream(SessionStream { session, head, after, ended: false, viewer, _answers: answers, _looks: looks }))
}

struct SessionStream {
    session: Arc<Session>,
    head: watch::Receiver<Head>,
    after: Seq,
    ended: bool,
    viewer: ViewerGuard,
    _answers: Option<AnswererGuard>,
    _looks: Option<PresenceGuard>,
}

impl Chunks for SessionStream {
    async fn next(&mut self) -> Option<Pieces> {
        // The connection asks for more, so it has sent everything before.
        self.viewer.has_read(self.after);
        while !self.ended {
            let head = *self.head.borrow_and_update();
            if head.deleted || head.broken || self.session.stopping().is_cancelled() {
                return None;
            }
            match self.session.log().read_after(self.after, CHUNK_EVENTS, CHUNK_BYTES).await {
                Ok(events) => {
                    if let Some(last) = events.last() {
                        self.after = last.seq;
                        return Some(sse::frames(&events));
                    }
                }
                Err(error) => {
                    // The reader reconnects with its last number and misses nothing.
                    tracing::error!(session = %self.session.id(), error = %error, "a stream ended with an error");
                    return None;
                }
            }
            if head.is_complete() {
                self.ended = true;
                return Some(sse::closed_frame(self.after));
            }
            tokio::select! {
                changed = self.head.changed() => changed.ok()?,
                () = self.session.stopping().cancelled() => return None,
                // The reader reconnects with its last number; the session is then loaded again.
                () = self.session.gone() => return None,
                () = tokio::time::sleep(sse::KEEP_ALIVE) => return Some(sse::keep_alive()),
            }
        }
        None
    }
}

pub(super) fn operations() -> Vec<Operation> {
    vec![
        get("/api/copilot/session/{id}/events", session_events)
            .named("streamSession", Tag::Reading, "Follow a session")
            .details(
                "Server-sent events: `data:` is a response on one line, `id:` its number. After the last response of a closed \
                 session there is one `event: closed`; a reader that has everything of a closed session gets 204. With \
                 `answers=true` the reader counts as somebody who can answer requests.",
            )
            .streams::<crate::model::Response>()
            .resumable()
            .fails_with::<SessionError>()
            .fails_with::<LiveError>(),
    ]
}
