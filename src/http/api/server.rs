//! About the server: is it alive, how does a browser log in.

use std::time::Duration;

use axum::extract::State;
use axum::{Extension, Json};
use serde_json::{Value, json};

use crate::http::app::App;
use crate::http::auth::Caller;
use crate::store::StoreHealth;

/// How long a code from `flightdeck open` is good.
const CODE_LIFE: Duration = Duration::from_mins(5);

/// Alive or not, for anybody; more for those who are logged in.
pub(in crate::http) async fn health(State(app): State<App>, caller: Option<Extension<Caller>>) -> Json<Value> {
    if caller.is_none() {
        return Json(json!({ "status": "ok", "service": "flightdeck" }));
    }
    let store = app.sessions().store();
    // An error means that the writer is gone, which the health says too.
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

/// A one-time code for a login link; whoever asks is logged in already.
pub(in crate::http) async fn login_code(State(app): State<App>) -> Json<Value> {
    Json(json!({ "code": app.auth().new_code(Some(CODE_LIFE)) }))
}
