//! The log of captured calls, and what waits.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::http::app::App;
use crate::http::body::QueryPart;
use crate::http::error::{ApiError, ApiResult};
use crate::store::{CaptureUsage, StoredCaptureCall};

/// How many calls are shown by default, and at most.
const USUAL_CALLS: usize = 100;
const MOST_CALLS: usize = 1_000;

/// The query parameters.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct CapturesQuery {
    /// Only calls before this number.
    before: Option<u64>,
    /// How many.
    limit: Option<usize>,
    /// `token` for the sums of each token instead of calls.
    by: Option<String>,
}

/// `GET /api/captures`: calls, newest first.
pub(in crate::http) async fn captures(
    State(app): State<App>,
    QueryPart(query): QueryPart<CapturesQuery>,
) -> ApiResult<Json<Value>> {
    match query.by.as_deref() {
        None | Some("") => {}
        Some("token") => return by_token(&app).await,
        Some(other) => {
            let message = format!("Unknown value {other:?} for by; use token, or leave it out.");
            return Err(ApiError::bad_request("InvalidQuery", message));
        }
    }
    let limit = query.limit.unwrap_or(USUAL_CALLS).clamp(1, MOST_CALLS);
    let calls = app.sessions().store().capture_calls(query.before, limit).await?;
    // A full page may have more behind it.
    let next = calls.last().filter(|_| calls.len() == limit).map(|call| call.id);
    let calls: Vec<Value> = calls.iter().map(shown).collect();
    Ok(Json(json!({ "calls": calls, "next": next, "now": app.captures().figures() })))
}

/// What each token used, as far as the log goes back.
async fn by_token(app: &App) -> ApiResult<Json<Value>> {
    let sums = app.sessions().store().capture_usage().await?;
    let shown = |sum: &CaptureUsage| json!({ "token": sum.token_id, "calls": sum.calls, "usage": sum.usage });
    Ok(Json(json!({ "tokens": sums.iter().map(shown).collect::<Vec<_>>() })))
}

fn shown(stored: &StoredCaptureCall) -> Value {
    let call = &stored.call;
    json!({
        "id": stored.id,
        "at": call.at,
        "token": call.token_id,
        "dialect": call.dialect,
        "model": call.model,
        "capture": call.mode,
        "tools": call.tools,
        "outcome": call.outcome,
        "error": call.error,
        "usage": call.usage,
        "durationMs": call.duration_ms,
    })
}
