//! Refusals for paths under `/v1/`, in the shape that their clients understand.

use axum::Json;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::error::ApiError;
use crate::model::redact;

/// An error in `OpenAI`'s shape, or in Anthropic's for a client that sends its header.
pub(super) fn models_refusal(request: &HeaderMap, error: &ApiError) -> Response {
    let kind = match error.status {
        StatusCode::UNAUTHORIZED => "authentication_error",
        StatusCode::FORBIDDEN => "permission_error",
        StatusCode::NOT_FOUND => "not_found_error",
        StatusCode::TOO_MANY_REQUESTS => "rate_limit_error",
        _ => "invalid_request_error",
    };
    let message = redact(&error.message);
    let body = if request.contains_key("anthropic-version") {
        json!({ "type": "error", "error": { "type": kind, "message": message } })
    } else {
        // The code that OpenAI's clients know; for the rest, ours.
        let code = if error.status == StatusCode::UNAUTHORIZED { "invalid_api_key" } else { error.name };
        json!({ "error": { "message": message, "type": kind, "param": null, "code": code } })
    };
    let mut response = (error.status, Json(body)).into_response();
    if error.status == StatusCode::UNAUTHORIZED {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}
