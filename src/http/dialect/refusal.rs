//! Errors of the model API, for requests that have not reached a dialect.

use axum::Json;
use axum::http::header;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::random_id;
use crate::capture::{CaptureError, ErrorKind};
use crate::http::{anthropic, openai};
use crate::model::redact;

/// The body of an error.
#[derive(Serialize)]
#[serde(untagged)]
pub(in crate::http) enum ErrorBody {
    OpenAi(openai::OpenAiError),
    Messages(anthropic::MessagesError),
}

/// How a dialect writes errors.
#[derive(Clone, Copy)]
pub(in crate::http) struct ErrorShape {
    /// The status of an error.
    pub status: fn(ErrorKind) -> StatusCode,
    /// The body of an error; takes the id of the request.
    pub body: fn(&CaptureError, &str) -> ErrorBody,
    /// The response header with the id of the request.
    pub request_id_header: &'static str,
}

impl ErrorShape {
    /// An error as a response.
    pub fn response(&self, error: &CaptureError) -> Response {
        let status = (self.status)(error.kind);
        if status.is_server_error() {
            tracing::error!(status = status.as_u16(), message = %error.message, "a model request failed");
        }
        let request = random_id("req_");
        let error = redacted(error.clone());
        let mut response = (status, Json((self.body)(&error, &request))).into_response();
        let headers = response.headers_mut();
        if let Ok(id) = HeaderValue::from_str(&request) {
            headers.insert(self.request_id_header, id);
        }
        if error.kind == ErrorKind::Unauthorised {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(after) = error.retry_after {
            // Rounded up: a client that comes back too early is refused again.
            headers
                .insert(header::RETRY_AFTER, HeaderValue::from(after.as_secs() + u64::from(after.subsec_nanos() > 0)));
        }
        response
    }
}

/// The error without secrets: an agent may quote them in its own messages.
pub(super) fn redacted(error: CaptureError) -> CaptureError {
    CaptureError { message: redact(&error.message).into_owned(), ..error }
}

/// An error in the shape of the dialect that a request under `/v1` is in.
pub(in crate::http) fn refusal(path: &str, headers: &HeaderMap, error: &CaptureError) -> Response {
    let is_anthropic =
        path == "/v1/messages" || path.starts_with("/v1/messages/") || headers.contains_key("anthropic-version");
    if is_anthropic { anthropic::ERRORS.response(error) } else { openai::ERRORS.response(error) }
}

#[cfg(test)]
mod tests;
