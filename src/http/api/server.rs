//! The server itself: its health, login codes and tickets.

use std::time::Duration;

use axum::extract::State;
use axum::http::Uri;
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::http::app::App;
use crate::http::auth::Caller;
use crate::http::body::{JsonBody, NoBody};
use crate::http::error::{ApiError, ApiResult};
use crate::store::StoreHealth;

/// How long a code from `flightdeck open` is valid.
const CODE_LIFE: Duration = Duration::from_mins(5);

/// A bare status for anybody; details for callers that are authenticated.
pub(in crate::http) async fn health(State(app): State<App>, caller: Option<Extension<Caller>>) -> Json<Value> {
    if caller.is_none() {
        return Json(json!({ "status": "ok", "service": "flightdeck" }));
    }
    let store = app.sessions().store();
    // An error means that the writer has stopped, which `health` reports too.
    let _ = store.probe().await;
    let health = store.health().borrow().clone();
    let damage = store.damage();
    let status = match &health {
        StoreHealth::Dead { .. } => "failed",
        StoreHealth::Refusing { .. } => "degraded",
        StoreHealth::Good if damage.is_some() => "degraded",
        StoreHealth::Good => "ok",
    };
    let takes_writes = health == StoreHealth::Good;
    let reason = health.reason().map(str::to_owned).or(damage);
    Json(json!({
        "status": status,
        "service": "flightdeck",
        "version": env!("CARGO_PKG_VERSION"),
        "uptimeSeconds": app.started().elapsed().as_secs(),
        "readers": app.sessions().reader_count(),
        "storage": { "takesWrites": takes_writes, "reason": reason },
        "authentication": !app.auth().is_open(),
    }))
}

/// A one-time code for a login link. The caller is already authenticated.
pub(in crate::http) async fn login_code(State(app): State<App>, NoBody: NoBody) -> Json<Value> {
    Json(json!({ "code": app.auth().new_code(Some(CODE_LIFE)) }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct TicketBody {
    path: String,
}

/// An address for a download: it works once, without a header.
pub(in crate::http) async fn ticket(
    State(app): State<App>,
    JsonBody(TicketBody { path }): JsonBody<TicketBody>,
) -> ApiResult<Json<Value>> {
    // Normalised like the address of a request, because the ticket is compared with that.
    let address = path.parse::<Uri>().ok().filter(|uri| uri.authority().is_none() && uri.path().starts_with("/api/"));
    let Some(address) = address.as_ref().and_then(Uri::path_and_query) else {
        return Err(ApiError::bad_request(
            "InvalidPath",
            "A ticket needs the path of an API route on this server, such as /api/copilot/session/session-1/log.",
        ));
    };
    let ticket = app.auth().new_ticket(address.as_str());
    let separator = if address.query().is_some() { '&' } else { '?' };
    Ok(Json(json!({ "address": format!("{address}{separator}ticket={ticket}") })))
}
