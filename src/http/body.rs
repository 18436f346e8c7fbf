//! Reading request bodies and paths, with errors that say what to send instead.

use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use http_body_util::BodyExt as _;
use serde::de::DeserializeOwned;
use tokio_util::task::TaskTracker;

use super::app::App;
use super::error::ApiError;

/// A body must arrive within this time, so that nobody holds a connection open with half a request.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// The body of a portal route: UTF-8 text whatever its Content-Type says, without one trailing newline.
pub(super) struct TextBody(pub String);

impl FromRequest<App> for TextBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, Self::Rejection> {
        let bytes = read(request.into_body(), app).await?;
        let mut text = String::from_utf8(bytes)
            .map_err(|_| ApiError::bad_request("InvalidUtf8", "Invalid request body: not valid UTF-8."))?;
        if text.ends_with('\n') {
            text.pop();
            if text.ends_with('\r') {
                text.pop();
            }
        }
        Ok(Self(text))
    }
}

/// The body of one of Flightdeck's own routes: JSON, with the matching Content-Type.
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
        let bytes = read(request.into_body(), app).await?;
        // Serde would read an array field by field in the order of the type.
        if bytes.trim_ascii_start().first() == Some(&b'[') {
            return Err(ApiError::bad_request(
                "InvalidJson",
                "Invalid request body: expected a JSON object, got an array.",
            ));
        }
        let value = serde_json::from_slice(&bytes)
            .map_err(|error| ApiError::bad_request("InvalidJson", format!("Invalid request body: {error}.")))?;
        Ok(Self(value))
    }
}

/// The body of one of Flightdeck's own routes that takes none: nothing, or an empty object.
pub(super) struct NoBody;

impl FromRequest<App> for NoBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, Self::Rejection> {
        let bytes = read(request.into_body(), app).await?;
        let text: Vec<u8> = bytes.into_iter().filter(|byte| !byte.is_ascii_whitespace()).collect();
        if text.is_empty() || text == b"{}" {
            return Ok(Self);
        }
        Err(ApiError::bad_request("InvalidBody", "This route takes no request body; send none."))
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
}

/// Reads a whole body.
pub(super) async fn read(mut body: Body, app: &App) -> Result<Vec<u8>, ApiError> {
    let limit = app.limits().body_bytes;
    match tokio::time::timeout(BODY_TIMEOUT, read_within(&mut body, limit)).await {
        Ok(Ok(Some(bytes))) => Ok(bytes),
        Ok(Ok(None)) => {
            drain(body, app.draining());
            Err(ApiError::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "BodyTooLarge",
                format!("The request body is larger than {limit} bytes; send less, or raise limits.body_bytes."),
            ))
        }
        Ok(Err(error)) => {
            Err(ApiError::bad_request("InvalidBody", format!("The request body could not be read: {error}.")))
        }
        Err(_) => Err(ApiError::new(
            StatusCode::REQUEST_TIMEOUT,
            "BodyTimeout",
            format!("The request body was not complete within {} seconds.", BODY_TIMEOUT.as_secs()),
        )),
    }
}

/// The body, or `None` as soon as it is too large.
async fn read_within(body: &mut Body, limit: usize) -> Result<Option<Vec<u8>>, axum::Error> {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        if bytes.len() + data.len() > limit {
            return Ok(None);
        }
        bytes.extend_from_slice(&data);
    }
    Ok(Some(bytes))
}

/// Reads and discards the rest of a body that is too large, after the response: most clients do not read a response
/// before they have sent everything, and would see a closed connection instead of the reason. It ends with the connection.
fn drain(mut body: Body, draining: &TaskTracker) {
    draining.spawn(tokio::time::timeout(BODY_TIMEOUT, async move { while let Some(Ok(_)) = body.frame().await {} }));
}

/// Path segments, percent-decoded.
pub(super) struct PathPart<T>(pub T);

impl<T: DeserializeOwned + Send> FromRequestParts<App> for PathPart<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Self::Rejection> {
        match Path::from_request_parts(parts, app).await {
            Ok(Path(value)) => Ok(Self(value)),
            Err(error) => Err(ApiError::bad_request("InvalidPath", format!("Invalid path: {}.", error.body_text()))),
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
            Err(error) => Err(ApiError::bad_request("InvalidQuery", format!("Invalid query: {}.", error.body_text()))),
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
