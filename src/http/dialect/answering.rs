//! From a request to a response, in any dialect.

use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::HeaderName;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;

use super::stream::stream;
use super::{Dialect, Fields, ReadRequest, Whole, estimate};
use crate::capture::{self, Answer, CaptureError, ErrorKind, Mode, Piece};
use crate::http::app::App;
use crate::http::auth::Caller;
use crate::http::body;
use crate::session::now;

/// How an answer is made: in the request a wish, in the response what happened.
const CAPTURE_HEADER: HeaderName = HeaderName::from_static("x-flightdeck-capture");
/// The parameters that were ignored.
const IGNORED_HEADER: HeaderName = HeaderName::from_static("x-flightdeck-ignored");
/// The figure is an estimate.
const ESTIMATE_HEADER: HeaderName = HeaderName::from_static("x-flightdeck-estimate");
/// A stream that fails before its first piece within this time is an error with a status. After it the stream begins,
/// so that the client sees that the connection is alive.
const FIRST_PIECE: Duration = Duration::from_secs(15);

/// Answers a request.
pub(in crate::http) async fn answer<D: Dialect + Sync>(app: &App, request: Request) -> Response {
    try_answer::<D>(app, request).await.unwrap_or_else(|error| D::ERRORS.response(&error))
}

async fn try_answer<D: Dialect + Sync>(app: &App, request: Request) -> Result<Response, CaptureError> {
    let mode = mode_of(request.headers())?;
    let caller = request.extensions().get::<Caller>().copied().unwrap_or(Caller::Program);
    let ReadRequest { request, wants_stream, dialect } = D::read(fields(request.into_body(), app).await?)?;
    let request = capture::Request { is_whole: !wants_stream, dialect: D::NAME, ..request };
    let ignored = request.ignored.join(", ");
    let answer = app.captures().answer(request, &caller.token_id(), mode).await?;
    Ok(finish(dialect, answer, wants_stream, ignored).await)
}

/// The response to a request whose answer has begun.
async fn finish<D: Dialect + Sync>(
    mut dialect: D,
    mut answer: Answer,
    wants_stream: bool,
    ignored: String,
) -> Response {
    dialect.begin_answer(answer.id(), now().as_millis() / 1_000);
    let prepared = prepare(dialect, &mut answer, wants_stream).await;
    // How it is made is final with the first piece.
    let about = AboutAnswer { ignored, origin: answer.origin().as_str(), id: answer.id().to_owned() };
    let mut response = match prepared {
        Ok(Ready::Response(response)) => response,
        Ok(Ready::Stream(dialect, first)) => stream(dialect, answer, first),
        Err(error) => D::ERRORS.response(&error),
    };
    about.write::<D>(response.headers_mut());
    response
}

enum Ready<D> {
    Response(Response),
    Stream(D, Option<Piece>),
}

async fn prepare<D: Dialect>(dialect: D, answer: &mut Answer, wants_stream: bool) -> Result<Ready<D>, CaptureError> {
    if !wants_stream {
        let whole = Whole::of(answer).await?;
        return Ok(Ready::Response(Json(dialect.whole(whole)).into_response()));
    }
    match tokio::time::timeout(FIRST_PIECE, answer.next()).await {
        Ok(Some(Piece::Failed(error))) => Err(error),
        Ok(first) => Ok(Ready::Stream(dialect, first)),
        Err(_) => Ok(Ready::Stream(dialect, None)),
    }
}

/// About how many tokens a request has.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct TokenEstimate {
    input_tokens: u64,
}

/// Counts the tokens of a request, roughly.
pub(in crate::http) async fn estimate_tokens<D: Dialect>(app: &App, request: Request) -> Response {
    let read = async { D::read(fields(request.into_body(), app).await?) };
    match read.await {
        Ok(ReadRequest { request, .. }) => {
            let mut response = Json(TokenEstimate { input_tokens: estimate(&request) }).into_response();
            response.headers_mut().insert(ESTIMATE_HEADER, HeaderValue::from_static("true"));
            response
        }
        Err(error) => D::ERRORS.response(&error),
    }
}

/// What the headers of a response say about its answer.
struct AboutAnswer {
    ignored: String,
    origin: &'static str,
    id: String,
}

impl AboutAnswer {
    fn write<D: Dialect>(&self, headers: &mut HeaderMap) {
        headers.insert(CAPTURE_HEADER, HeaderValue::from_static(self.origin));
        if let Ok(ignored) = HeaderValue::from_str(&self.ignored)
            && !ignored.is_empty()
        {
            headers.insert(IGNORED_HEADER, ignored);
        }
        if let Ok(id) = HeaderValue::from_str(&format!("req_{}", self.id)) {
            headers.entry(D::ERRORS.request_id_header).or_insert(id);
        }
    }
}

fn mode_of(headers: &HeaderMap) -> Result<Option<Mode>, CaptureError> {
    match headers.get(CAPTURE_HEADER).map(HeaderValue::as_bytes) {
        None => Ok(None),
        Some(b"hold") => Ok(Some(Mode::Hold)),
        Some(b"destroy") => Ok(Some(Mode::Destroy)),
        Some(_) => {
            let message = "Invalid header x-flightdeck-capture: expected hold or destroy.";
            Err(CaptureError::invalid(CAPTURE_HEADER.as_str(), message))
        }
    }
}

async fn fields(body: Body, app: &App) -> Result<Fields, CaptureError> {
    let bytes = body::read(body, app).await.map_err(|error| {
        let kind = match error.status {
            StatusCode::PAYLOAD_TOO_LARGE => ErrorKind::TooLarge,
            StatusCode::REQUEST_TIMEOUT => ErrorKind::TimedOut,
            _ => ErrorKind::Invalid,
        };
        CaptureError::new(kind, error.message)
    })?;
    Fields::of_body(&bytes)
}

#[cfg(test)]
mod tests;
