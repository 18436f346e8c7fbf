//! The log of captured calls, and what waits.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::capture::CaptureFigures;
use crate::http::app::App;
use crate::http::body::QueryPart;
use crate::http::error::{ApiError, ApiResult};
use crate::http::openapi::{Operation, Tag, get};
use crate::model::{Timestamp, Usage};
use crate::store::{CaptureCallId, StoredCaptureCall};

/// How many calls are shown by default, and at most.
const USUAL_CALLS: usize = 100;
const MOST_CALLS: usize = 1_000;

/// The query parameters.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct CapturesQuery {
    /// Only calls before this number.
    before: Option<u64>,
    /// How many: 100 by default, at most 1,000.
    limit: Option<usize>,
    /// `token` for the sums of each token instead of calls.
    #[schemars(extend("enum" = ["", "token"]))]
    by: Option<String>,
}

/// Calls of the model API, or the sums of each token.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(in crate::http) enum CaptureReply {
    /// Calls.
    Calls(CaptureCalls),
    /// With `by=token`.
    Tokens(CaptureTokens),
}

/// Calls of the model API, without their contents.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct CaptureCalls {
    /// Newest first.
    calls: Vec<ShownCall>,
    /// The `before` of the next page, or null.
    next: Option<CaptureCallId>,
    now: CaptureFigures,
}

/// What each token used.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct CaptureTokens {
    tokens: Vec<TokenSum>,
}

/// What the calls of one token used, as far as the log goes back.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CaptureTokenSum")]
struct TokenSum {
    /// `admin`, or the id of a token with scopes.
    token: String,
    calls: u64,
    usage: Usage,
}

/// A call of the model API.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CaptureCall")]
struct ShownCall {
    id: CaptureCallId,
    at: Timestamp,
    /// `admin`, or the id of a token with scopes.
    token: String,
    dialect: String,
    model: String,
    /// `hold` or `destroy`.
    capture: String,
    /// How many tools the caller declared.
    tools: u32,
    outcome: String,
    error: Option<String>,
    usage: Usage,
    duration_ms: u64,
}

/// `GET /api/captures`: calls, newest first.
pub(in crate::http) async fn captures(
    State(app): State<App>,
    QueryPart(query): QueryPart<CapturesQuery>,
) -> ApiResult<Json<CaptureReply>> {
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
    let calls = calls.into_iter().map(shown).collect();
    Ok(Json(CaptureReply::Calls(CaptureCalls { calls, next, now: app.captures().figures() })))
}

/// What each token used, as far as the log goes back.
async fn by_token(app: &App) -> ApiResult<Json<CaptureReply>> {
    let sums = app.sessions().store().capture_usage().await?;
    let tokens = sums.into_iter().map(|sum| TokenSum { token: sum.token_id, calls: sum.calls, usage: sum.usage });
    Ok(Json(CaptureReply::Tokens(CaptureTokens { tokens: tokens.collect() })))
}

fn shown(StoredCaptureCall { id, call }: StoredCaptureCall) -> ShownCall {
    ShownCall {
        id,
        at: call.at,
        token: call.token_id,
        dialect: call.dialect,
        model: call.model,
        capture: call.mode,
        tools: call.tools,
        outcome: call.outcome,
        error: call.error,
        usage: call.usage,
        duration_ms: call.duration_ms,
    }
}

pub(super) fn operations() -> Vec<Operation> {
    vec![
        get("/api/captures", captures)
            .named("listCaptures", Tag::Usage, "List calls of the model API")
            .details("Without their contents. With `by=token`, the sums of each token as far as the log goes back."),
    ]
}
