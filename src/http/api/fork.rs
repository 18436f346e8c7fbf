//! Forking a session: a new one that continues it from the end of a turn.

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::session_id;
use crate::http::app::App;
use crate::http::auth::Caller;
use crate::http::body::{JsonBody, PathPart, idempotency_key};
use crate::http::error::{ApiError, ApiResult};
use crate::http::openapi::{Created, Operation, Tag, post};
use crate::model::{PromptId, Seq, SessionId};
use crate::session::{ForkAfter, ForkError};

/// The turn that the new session ends with: that of a prompt, or that of an event.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::http) struct ForkBody {
    prompt_id: Option<PromptId>,
    seq: Option<Seq>,
}

/// The new session.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct Forked {
    session_id: SessionId,
}

pub(in crate::http) async fn fork(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    PathPart(id): PathPart<String>,
    headers: HeaderMap,
    JsonBody(body): JsonBody<ForkBody>,
) -> ApiResult<Created<Forked>> {
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
    Ok(Created(Forked { session_id: fork.id() }))
}

pub(super) fn operations() -> Vec<Operation> {
    vec![
        post("/api/copilot/session/{id}/fork", fork)
            .named("forkSession", Tag::Sessions, "Fork a session after a turn")
            .details("A new session that continues this one from the end of a turn. Name the turn by its prompt or by one of its events.")
            .idempotent()
            .fails_with::<ForkError>(),
    ]
}
