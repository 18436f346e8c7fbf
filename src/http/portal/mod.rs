//! The portal's own routes, word for word as its documents have them: GET and POST alike, plain-text bodies, business
//! errors as 200 with `{"error":"Name"}`.

mod live;
mod server;
mod session;

use axum::Json;
use axum::response::{IntoResponse, Response};
use serde_json::json;

pub(super) use live::{live, live_with_token};
pub(super) use server::{config, models, stop, test, token};
pub(super) use session::{query, start, stop_session};

/// A business error, the portal's way.
fn business_error(name: &str) -> Response {
    Json(json!({ "error": name })).into_response()
}
