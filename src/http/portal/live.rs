//! The portal's long poll.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{portal_error, session::find};
use crate::http::app::App;
use crate::http::auth::Caller;
use crate::http::body::{PathPart, QueryPart};
use crate::http::error::{ApiError, ApiResult};
use crate::http::openapi::{Operation, Tag, portal};
use crate::http::pieces::{Pieces, PiecesBuilder};
use crate::model::Seq;
use crate::session::{Delivery, LiveError};

const LONGEST_TOKEN: usize = 128;

pub(in crate::http) async fn live(State(app): State<App>, PathPart(id): PathPart<String>) -> ApiResult<Response> {
    let Some(session) = find(&app, &id).await? else { return Ok(portal_error("SessionNotFound")) };
    match session.live_one().await {
        Ok(delivery) => {
            let bytes = delivery.events.first().map(|event| event.body.clone()).unwrap_or_default();
            Ok(deliver(bytes.into(), delivery))
        }
        Err(error) => refuse(error),
    }
}

/// Other parameters are ignored, as on all routes of the portal.
#[derive(Deserialize, JsonSchema)]
pub(in crate::http) struct LiveQuery {
    /// Where a new token begins to read.
    pub after: Option<Seq>,
    /// The page is not in view, so nobody is looking.
    pub hidden: Option<String>,
    /// The times of the responses are wanted too.
    pub times: Option<String>,
}

/// A reader token is any short text.
pub(super) fn check_token(token: &str) -> ApiResult<()> {
    if token.is_empty() || token.chars().count() > LONGEST_TOKEN {
        let message = format!("A reader token has 1 to {LONGEST_TOKEN} characters.");
        return Err(ApiError::bad_request("InvalidToken", message));
    }
    Ok(())
}

pub(in crate::http) async fn live_with_token(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    PathPart((id, token)): PathPart<(String, String)>,
    QueryPart(LiveQuery { after, hidden, times }): QueryPart<LiveQuery>,
) -> ApiResult<Response> {
    check_token(&token)?;
    let Some(session) = find(&app, &id).await? else { return Ok(portal_error("SessionNotFound")) };
    let is_page = caller == Caller::Page;
    let _answers = is_page.then(|| session.log().answerers().enter());
    let _looks = (is_page && hidden.is_none()).then(|| app.sessions().presence().enter(session.id()));
    match session.live_batch(&token, after).await {
        Ok(delivery) => Ok(deliver(batch(&delivery, times.is_some()), delivery)),
        Err(error) => refuse(error),
    }
}

/// The responses of a delivery; with `with_times`, also when each was made, in milliseconds since 1970.
fn batch(delivery: &Delivery, with_times: bool) -> Pieces {
    let beside = if with_times { 15 } else { 1 };
    let size = delivery.events.iter().map(|event| PiecesBuilder::copied(event.body.len()) + beside).sum::<usize>() + 64;
    let mut batch = PiecesBuilder::with_capacity(size);
    batch.write(b"{\"responses\":[");
    for (position, event) in delivery.events.iter().enumerate() {
        if position > 0 {
            batch.write(b",");
        }
        batch.write_body(&event.body);
    }
    batch.write(b"],\"lastSeq\":");
    batch.write_number(delivery.last_seq());
    if with_times {
        batch.write(b",\"times\":[");
        for (position, event) in delivery.events.iter().enumerate() {
            if position > 0 {
                batch.write(b",");
            }
            batch.write_number(u64::try_from(event.time.as_millis()).unwrap_or(0));
        }
        batch.write(b"]");
    }
    batch.write(b"}");
    batch.finish()
}

fn refuse(error: LiveError) -> ApiResult<Response> {
    match error {
        LiveError::NotFound => Ok(portal_error("SessionNotFound")),
        LiveError::Closed => Ok(portal_error("SessionClosed")),
        LiveError::Timeout => Ok(portal_error("HttpRequestTimeout")),
        LiveError::ParallelCall => Ok(portal_error("ParallelCallNotSupported")),
        other => Err(other.into()),
    }
}

fn deliver(pieces: Pieces, delivery: Delivery) -> Response {
    let body = Body::new(DeliveryBody::new(pieces, move || delivery.delivered()));
    (StatusCode::OK, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}

/// Moves the reader's cursor when the connection takes the last bytes, and not before: a client that disconnected while
/// waiting, or halfway, gets everything with its next call.
pub(super) struct DeliveryBody<F> {
    pieces: Pieces,
    delivered: Option<F>,
}

impl<F: FnOnce()> DeliveryBody<F> {
    pub fn new(pieces: Pieces, delivered: F) -> Self {
        Self { pieces, delivered: Some(delivered) }
    }
}

impl<F: FnOnce() + Unpin> http_body::Body for DeliveryBody<F> {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let polled = Pin::new(&mut self.pieces).poll_frame(context);
        if self.pieces.is_end_stream()
            && let Some(delivered) = self.delivered.take()
        {
            delivered();
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.pieces.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.pieces.size_hint()
    }
}

/// Responses of a session. They are written byte by byte, so that a large one is not copied.
#[derive(JsonSchema)]
#[schemars(rename = "ResponseBatch")]
#[expect(dead_code, reason = "only its schema is used")]
struct Batch {
    responses: Vec<crate::model::Response>,
    /// The number of the last one.
    #[serde(rename = "lastSeq")]
    last_seq: Seq,
}

/// The errors of the long poll, with the names for what is missing and what is over.
pub(super) const fn live_errors(not_found: &'static str, closed: &'static str) -> [&'static str; 4] {
    [not_found, closed, "HttpRequestTimeout", "ParallelCallNotSupported"]
}

/// An operation of the long poll.
pub(super) fn with_token(operation: Operation) -> Operation {
    operation
        .path_part("token", "A reader token of 1 to 128 characters, such as one from `/api/token`.")
        .error(400, "InvalidToken")
        .fails_with::<LiveError>()
}

pub(super) fn operations() -> Vec<Operation> {
    const DETAILS: &str = "Takes one response from a cursor that all callers share. Waits up to 5 s if there is none.";
    let errors = live_errors("SessionNotFound", "SessionClosed");
    let one = |path, id| {
        portal(path, live)
            .named(id, Tag::Portal, "Read one response")
            .details(DETAILS)
            .replies_with::<crate::model::Response>(200, "application/json")
            .portal_errors(&errors)
            .fails_with::<LiveError>()
    };
    vec![
        one("/api/copilot/session/{id}/live", "portalLive"),
        one("/api/copilot/session/live/{id}", "portalLiveById"),
        with_token(portal("/api/copilot/session/{id}/live/{token}", live_with_token))
            .named("portalLiveBatch", Tag::Portal, "Read a batch of responses")
            .details("Each token has a cursor of its own. Waits up to 5 s if there is nothing.")
            .replies_with::<Batch>(200, "application/json")
            .portal_errors(&errors),
    ]
}
