//! What pages have shown of a session, so that no device shows it as unread.

use axum::extract::State;
use schemars::JsonSchema;
use serde::Deserialize;

use super::session;
use crate::http::app::App;
use crate::http::body::{JsonBody, PathPart};
use crate::http::error::ApiResult;
use crate::http::openapi::{NoContent, Operation, Tag, post};
use crate::model::Seq;
use crate::session::SessionError;

/// How far a page has shown a session.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::http) struct SeenBody {
    /// The number of the last event that was shown.
    seq: Seq,
}

pub(in crate::http) async fn mark_seen(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
    JsonBody(body): JsonBody<SeenBody>,
) -> ApiResult<NoContent> {
    session(&app, &id).await?.mark_seen(body.seq).await?;
    Ok(NoContent)
}

pub(super) fn operations() -> Vec<Operation> {
    vec![
        post("/api/copilot/session/{id}/seen", mark_seen)
            .named("markSeen", Tag::Sessions, "Mark a session as seen")
            .details("Says how far a page has shown the session, so that no device shows it as unread.")
            .fails_with::<SessionError>(),
    ]
}
