//! The portal's routes, exactly as existing clients expect them: GET and POST alike, plain-text bodies, errors as 200
//! with `{"error":"Name"}`.

mod live;
mod server;
mod session;

use axum::Json;
use axum::response::{IntoResponse, Response};
use serde_json::json;

pub(super) use live::{live, live_with_token};
pub(super) use server::{config, models, stop, test, token};
pub(super) use session::{query, start, stop_session};

/// An error in the portal's format.
fn portal_error(name: &str) -> Response {
    Json(json!({ "error": name })).into_response()
}
