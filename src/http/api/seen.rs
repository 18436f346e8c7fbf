//! What pages have shown of a session, so that it is unread on no device.

use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;

use super::session;
use crate::http::app::App;
use crate::http::body::{JsonBody, PathPart};
use crate::http::error::ApiResult;
use crate::model::Seq;

/// How far a page has shown a session.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::http) struct SeenBody {
    /// The number of the last event that was shown.
    seq: Seq,
}

pub(in crate::http) async fn mark_seen(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
    JsonBody(body): JsonBody<SeenBody>,
) -> ApiResult<StatusCode> {
    session(&app, &id).await?.mark_seen(body.seq).await?;
    Ok(StatusCode::NO_CONTENT)
}
