//! Reading request bodies and paths, with errors that say what to send instead.

use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use http_body_util::BodyExt as _;
use serde::de::DeserializeOwned;

use super::app::App;
use super::error::ApiError;

/// A body must be here within this time, so that nobody holds a connection open with half a request.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// The body of a portal route: UTF-8 text whatever its Content-Type says, without one trailing newline.
pub(super) struct TextBody(pub String);

impl FromRequest<App> for TextBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, Self::Rejection> {
        let bytes = read(request.into_body(), app.limits().body_bytes).await?;
        let mut text = String::from_utf8(bytes)
            .map_err(|_| ApiError::bad_request("InvalidUtf8", "The body is not valid UTF-8; send text in UTF-8."))?;
        if text.ends_with('\n') {
            text.pop();
            if text.ends_with('\r') {
                text.pop();
            }
        }
        Ok(Self(text))
    }
}

/// The body of one of our own routes: JSON, and labelled as such.
pub(super) struct JsonBody<T>(pub T);

impl<T: DeserializeOwned> FromRequest<App> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, Self::Rejection> {
        if !is_json(request.headers()) {
            return Err(ApiError::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "UnsupportedMediaType",
                "This route takes JSON; send the header Content-Type: application/json.",
            ));
        }
        let bytes = read(request.into_body(), app.limits().body_bytes).await?;
        // A list would be read field by field in the order of the type, which is nobody's business.
        if bytes.trim_ascii_start().first() == Some(&b'[') {
            return Err(ApiError::bad_request("InvalidJson", "The body will not do: it is a list, not an object."));
        }
        let value = serde_json::from_slice(&bytes)
            .map_err(|error| ApiError::bad_request("InvalidJson", format!("The body will not do: {error}.")))?;
        Ok(Self(value))
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
}

async fn read(body: Body, limit: usize) -> Result<Vec<u8>, ApiError> {
    match tokio::time::timeout(BODY_TIMEOUT, read_within(body, limit)).await {
        Ok(Ok(Some(bytes))) => Ok(bytes),
        Ok(Ok(None)) => Err(ApiError::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "BodyTooLarge",
            format!("The body has more than {limit} bytes; send less, or raise limits.body_bytes."),
        )),
        Ok(Err(error)) => Err(ApiError::bad_request("InvalidBody", format!("The body could not be read: {error}."))),
        Err(_) => Err(ApiError::new(
            StatusCode::REQUEST_TIMEOUT,
            "BodyTimeout",
            format!("The body was not complete within {} seconds.", BODY_TIMEOUT.as_secs()),
        )),
    }
}

/// The body, or `None` when it is too large. Then the rest is read and dropped: most clients do not look for an answer
/// before they have sent everything, and would find a closed connection instead of the reason.
async fn read_within(mut body: Body, limit: usize) -> Result<Option<Vec<u8>>, axum::Error> {
    let mut kept = Some(Vec::new());
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        kept = kept.filter(|bytes| bytes.len() + data.len() <= limit);
        if let Some(bytes) = &mut kept {
            bytes.extend_from_slice(&data);
        }
    }
    Ok(kept)
}

/// Path segments, percent-decoded.
pub(super) struct PathPart<T>(pub T);

impl<T: DeserializeOwned + Send> FromRequestParts<App> for PathPart<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Self::Rejection> {
        match Path::from_request_parts(parts, app).await {
            Ok(Path(value)) => Ok(Self(value)),
            Err(error) => {
                Err(ApiError::bad_request("InvalidPath", format!("The path will not do: {}.", error.body_text())))
            }
        }
    }
}

/// Query parameters; an unknown one is an error.
pub(super) struct QueryPart<T>(pub T);

impl<T: DeserializeOwned + Send> FromRequestParts<App> for QueryPart<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Self::Rejection> {
        match Query::from_request_parts(parts, app).await {
            Ok(Query(value)) => Ok(Self(value)),
            Err(error) => {
                Err(ApiError::bad_request("InvalidQuery", format!("The query will not do: {}.", error.body_text())))
            }
        }
    }
}

/// The caller's own key for a prompt, if it sent one.
pub(super) fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, ApiError> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    match value.to_str() {
        Ok(text) if !text.is_empty() && text.len() <= 255 => Ok(Some(text.to_owned())),
        _ => Err(ApiError::bad_request(
            "InvalidIdempotencyKey",
            "The header Idempotency-Key takes 1 to 255 visible ASCII characters.",
        )),
    }
}
