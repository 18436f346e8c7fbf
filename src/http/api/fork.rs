//! Forking a session: a new one that continues it from the end of a turn.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};

use super::session_id;
use crate::http::app::App;
use crate::http::auth::Caller;
use crate::http::body::{JsonBody, PathPart, idempotency_key};
use crate::http::error::{ApiError, ApiResult};
use crate::model::{PromptId, Seq, SessionId};
use crate::session::ForkAfter;

/// The turn that the new session ends with: that of a prompt, or that of an event.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::http) struct ForkBody {
    prompt_id: Option<PromptId>,
    seq: Option<Seq>,
}

/// The new session.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Forked {
    session_id: SessionId,
}

pub(in crate::http) async fn fork(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    PathPart(id): PathPart<String>,
    headers: HeaderMap,
    JsonBody(body): JsonBody<ForkBody>,
) -> ApiResult<Response> {
    let after = match (body.prompt_id, body.seq) {
        (Some(prompt), None) => ForkAfter::Prompt(prompt),
        (None, Some(seq)) => ForkAfter::Event(seq),
        _ => {
            return Err(ApiError::bad_request(
                "InvalidBody",
                "Invalid request body: expected either promptId or seq, which name the turn to fork after.",
            ));
        }
    };
    let key = idempotency_key(&headers)?;
    let fork = app.sessions().fork(session_id(&id)?, after, caller.origin(), key).await?;
    Ok((StatusCode::CREATED, Json(Forked { session_id: fork.id() })).into_response())
}
