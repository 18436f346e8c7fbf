//! Reverting changes in a session's folder, and undoing that.

use axum::Json;
use axum::extract::State;

use super::changes::target;
use super::changes_shapes::{RevertBody, RevertRequest, UndoRequest};
use super::session_id;
use crate::folder::FolderError;
use crate::http::app::App;
use crate::http::body::{JsonBody, PathPart};
use crate::http::error::{ApiError, ApiResult};
use crate::http::openapi::{Operation, Tag, post};
use crate::review::ReviewError;

/// Reverts a file or a hunk, if it is as it was shown.
pub(in crate::http) async fn revert_change(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
    JsonBody(request): JsonBody<RevertRequest>,
) -> ApiResult<Json<RevertBody>> {
    let RevertRequest { scope, turn, path, hunk, state } = request;
    let scope = scope.scope(turn)?;
    let target = target(&app, &id).await?.map_err(|_| FolderError::NotChanged(path.clone()))?;
    let kept = app.reviews().revert(target, scope, path, hunk, state).await?;
    Ok(Json(kept.into()))
}

/// Puts back what a revert replaced.
pub(in crate::http) async fn undo_revert(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
    JsonBody(UndoRequest { revert }): JsonBody<UndoRequest>,
) -> ApiResult<Json<RevertBody>> {
    let session = session_id(&id)?;
    app.sessions().store().session(session).await?.ok_or_else(ApiError::session_not_found)?;
    Ok(Json(app.reviews().undo(session, revert).await?.into()))
}

pub(super) fn operations() -> Vec<Operation> {
    vec![
        post("/api/copilot/session/{id}/changes/revert", revert_change)
            .named("revertChange", Tag::Changes, "Revert a file or a hunk")
            .details("Only if the file is as it was shown. The replaced content is kept and can be restored.")
            .error(404, "SessionNotFound")
            .error(403, "WorkingDirectoryNotAllowed")
            .error(400, "InvalidScope")
            .fails_with::<ReviewError>(),
        post("/api/copilot/session/{id}/changes/undo", undo_revert)
            .named("undoRevert", Tag::Changes, "Undo a revert")
            .error(404, "SessionNotFound")
            .fails_with::<ReviewError>(),
    ]
}
