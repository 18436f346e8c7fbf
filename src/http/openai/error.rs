//! Errors as OpenAI writes them: `{"error":{"message","type","param","code"}}`.

use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;

use crate::capture::{CaptureError, ErrorKind};
use crate::http::dialect::{ErrorBody, ErrorShape};

/// The errors of both of OpenAI's dialects.
pub(in crate::http) const ERRORS: ErrorShape =
    ErrorShape { status, body: |error, _| ErrorBody::OpenAi(body(error)), request_id_header: "x-request-id" };

/// An error as OpenAI writes it.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct OpenAiError {
    error: OpenAiErrorDetail,
}

/// What went wrong.
#[derive(Serialize, JsonSchema)]
struct OpenAiErrorDetail {
    /// For people.
    message: String,
    #[serde(rename = "type")]
    kind: &'static str,
    /// The parameter that is wrong.
    param: Option<String>,
    /// For programs.
    code: Option<&'static str>,
}

fn status(kind: ErrorKind) -> StatusCode {
    match kind {
        ErrorKind::Invalid => StatusCode::BAD_REQUEST,
        ErrorKind::Unauthorised => StatusCode::UNAUTHORIZED,
        ErrorKind::Forbidden => StatusCode::FORBIDDEN,
        ErrorKind::NotFound => StatusCode::NOT_FOUND,
        ErrorKind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        ErrorKind::Limited => StatusCode::TOO_MANY_REQUESTS,
        ErrorKind::Failed => StatusCode::INTERNAL_SERVER_ERROR,
        ErrorKind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        ErrorKind::TimedOut => StatusCode::GATEWAY_TIMEOUT,
    }
}

/// The body of an error, also as an event of a stream.
pub(super) fn body(error: &CaptureError) -> OpenAiError {
    let (kind, _) = names(error.kind);
    let (message, param) = (error.message.clone(), error.param.clone());
    OpenAiError { error: OpenAiErrorDetail { message, kind, param, code: code(error) } }
}

/// The name of an error for programs.
pub(super) fn code(error: &CaptureError) -> Option<&'static str> {
    error.code.or(names(error.kind).1)
}

/// The type and the default code of a class of errors.
fn names(kind: ErrorKind) -> (&'static str, Option<&'static str>) {
    match kind {
        ErrorKind::Invalid => ("invalid_request_error", None),
        ErrorKind::Unauthorised => ("authentication_error", Some("invalid_api_key")),
        ErrorKind::Forbidden => ("permission_error", Some("insufficient_permissions")),
        ErrorKind::NotFound => ("invalid_request_error", Some("not_found")),
        ErrorKind::TooLarge => ("invalid_request_error", Some("request_too_large")),
        ErrorKind::Limited => ("rate_limit_error", Some("rate_limit_exceeded")),
        ErrorKind::Failed => ("server_error", Some("server_error")),
        ErrorKind::Unavailable => ("server_error", Some("unavailable")),
        ErrorKind::TimedOut => ("server_error", Some("timeout")),
    }
}
