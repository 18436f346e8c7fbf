//! The server itself: its health, login codes and tickets.

use std::time::Duration;

use axum::extract::State;
use axum::http::Uri;
use axum::{Extension, Json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::app::App;
use crate::http::auth::Caller;
use crate::http::body::{JsonBody, NoBody};
use crate::http::error::{ApiError, ApiResult};
use crate::http::openapi::{Operation, Tag, get, post};
use crate::store::StoreHealth;

/// How long a code from `flightdeck open` is valid.
const CODE_LIFE: Duration = Duration::from_mins(5);
/// The name by which other programs recognise the server.
const SERVICE: &str = "flightdeck";

/// How the server is.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct Health {
    /// `ok`; `degraded` if the store refuses writes or found damage; `failed` if the server is about to exit.
    status: &'static str,
    /// `flightdeck`.
    service: &'static str,
    #[serde(flatten)]
    details: Option<HealthDetails>,
}

/// What only authenticated callers see.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct HealthDetails {
    version: &'static str,
    uptime_seconds: u64,
    /// How many readers are connected.
    readers: usize,
    storage: StorageHealth,
    /// Whether callers need a token or a login.
    authentication: bool,
}

/// How the store is.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct StorageHealth {
    takes_writes: bool,
    /// Why not, or what is damaged.
    reason: Option<String>,
}

/// A bare status for anybody; details for callers that are authenticated.
pub(in crate::http) async fn health(State(app): State<App>, caller: Option<Extension<Caller>>) -> Json<Health> {
    if caller.is_none() {
        return Json(Health { status: "ok", service: SERVICE, details: None });
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
    let details = HealthDetails {
        version: env!("CARGO_PKG_VERSION"),
        uptime_seconds: app.started().elapsed().as_secs(),
        readers: app.sessions().reader_count(),
        storage: StorageHealth { takes_writes, reason },
        authentication: !app.auth().is_open(),
    };
    Json(Health { status, service: SERVICE, details: Some(details) })
}

/// A code for a login link.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct LoginCode {
    code: String,
}

/// A one-time code for a login link. The caller is already authenticated.
pub(in crate::http) async fn login_code(State(app): State<App>, NoBody: NoBody) -> Json<LoginCode> {
    Json(LoginCode { code: app.auth().new_code(Some(CODE_LIFE)) })
}

/// What to download.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TicketRequest")]
pub(in crate::http) struct TicketBody {
    /// A path below `/api/`, with its query.
    path: String,
}

/// An address that works once.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct Ticket {
    /// The path with a ticket in its query.
    address: String,
}

/// An address for a download: it works once, without a header.
pub(in crate::http) async fn ticket(
    State(app): State<App>,
    JsonBody(TicketBody { path }): JsonBody<TicketBody>,
) -> ApiResult<Json<Ticket>> {
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
    Ok(Json(Ticket { address: format!("{address}{separator}ticket={ticket}") }))
}

pub(super) fn operations() -> Vec<Operation> {
    vec![
        get("/api/health", health)
            .named("health", Tag::Server, "How the server is")
            .details("A bare status for anybody; more with the scope `view` or a login."),
        post("/api/login-code", login_code)
            .named("createLoginCode", Tag::Access, "Create a login code")
            .details("For a link `/login?code=…`, valid once within five minutes."),
        post("/api/ticket", ticket)
            .named("createTicket", Tag::Access, "Create a ticket for a download")
            .details(
                "A GET of the returned address needs no header and works once, within 60 seconds. Use it for downloads, because \
                 a link in a page cannot send a header.",
            )
            .error(400, "InvalidPath"),
    ]
}
