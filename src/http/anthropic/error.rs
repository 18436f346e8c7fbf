//! Errors as Anthropic writes them: `{"type":"error","error":{"type","message"},"request_id"}`.

use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;

use crate::capture::{CaptureError, ErrorKind};
use crate::http::dialect::{ErrorBody, ErrorShape};

/// The errors of the dialect.
pub(in crate::http) const ERRORS: ErrorShape = ErrorShape {
    status: |kind| names(kind).0,
    body: |error, request| ErrorBody::Messages(body(error, Some(request))),
    request_id_header: "request-id",
};

/// An error as Anthropic writes it.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct MessagesError {
    /// `error`.
    #[serde(rename = "type")]
    kind: &'static str,
    error: MessagesErrorDetail,
    /// Not in streams.
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
}

/// What went wrong.
#[derive(Serialize, JsonSchema)]
struct MessagesErrorDetail {
    #[serde(rename = "type")]
    kind: &'static str,
    /// For people.
    message: String,
}

fn names(kind: ErrorKind) -> (StatusCode, &'static str) {
    match kind {
        ErrorKind::Invalid => (StatusCode::BAD_REQUEST, "invalid_request_error"),
        ErrorKind::Unauthorised => (StatusCode::UNAUTHORIZED, "authentication_error"),
        ErrorKind::Forbidden => (StatusCode::FORBIDDEN, "permission_error"),
        ErrorKind::NotFound => (StatusCode::NOT_FOUND, "not_found_error"),
        ErrorKind::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "request_too_large"),
        ErrorKind::Limited => (StatusCode::TOO_MANY_REQUESTS, "rate_limit_error"),
        ErrorKind::Failed => (StatusCode::INTERNAL_SERVER_ERROR, "api_error"),
        ErrorKind::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, "api_error"),
        ErrorKind::TimedOut => (StatusCode::GATEWAY_TIMEOUT, "timeout_error"),
    }
}

/// The body of an error, also as an event of a stream. The dialect has no field for the parameter, so the message must
/// name it.
pub(super) fn body(error: &CaptureError, request: Option<&str>) -> MessagesError {
    let message = match &error.param {
        Some(param) if !error.message.contains(param.as_str()) => format!("{param}: {}", error.message),
        _ => error.message.clone(),
    };
    let error = MessagesErrorDetail { kind: names(error.kind).1, message };
    MessagesError { kind: "error", error, request_id: request.map(str::to_owned) }
}
