//! What changed in a session's folder since the last commit.

use std::path::PathBuf;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use super::blocks::rendered;
use super::session_id;
use crate::folder::{FileDiff, FolderError, file_diff};
use crate::http::app::App;
use crate::http::body::{PathPart, QueryPart};
use crate::http::error::{ApiError, ApiResult, sentence, working_directory_error};
use crate::render::{file_note, new_file, unified_diff};
use crate::session::{WorkingDirectoryError, resolve_working_directory};

/// The files that changed. If they cannot be read, a message says why, and the page shows it in place of the files.
pub(in crate::http) async fn changes(State(app): State<App>, PathPart(id): PathPart<String>) -> ApiResult<Json<Value>> {
    let nothing = |message: String| {
        Json(json!({ "repository": null, "branch": null, "files": [], "truncated": false, "message": message }))
    };
    let folder = match folder(&app, &id).await? {
        Ok(folder) => folder,
        Err(message) => return Ok(nothing(message)),
    };
    let list = {
        let _place = app.reading_changes().acquire().await.map_err(|_| shutting_down())?;
        crate::folder::changes(&folder, &app.sessions().settings().roots).await
    };
    let list = match list {
        Ok(list) => list,
        Err(error) => return Ok(nothing(sentence(&error))),
    };
    let files: Vec<Value> = list
        .changes
        .iter()
        .map(|change| {
            json!({
                "path": change.shown_path(),
                "status": change.kind,
                "added": change.added,
                "removed": change.removed,
            })
        })
        .collect();
    Ok(Json(json!({
        "repository": list.repository.to_string_lossy(),
        "branch": list.branch,
        "files": files,
        "truncated": list.truncated,
    })))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct FileQuery {
    path: String,
}

/// The diff of one of the files that [`changes`] lists.
pub(in crate::http) async fn changed_file(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
    QueryPart(FileQuery { path }): QueryPart<FileQuery>,
) -> ApiResult<Json<Value>> {
    let folder = folder(&app, &id).await?.map_err(|_| FolderError::NotChanged(path.clone()))?;
    let diff = {
        let _place = app.reading_changes().acquire().await.map_err(|_| shutting_down())?;
        file_diff(&folder, &app.sessions().settings().roots, &path).await?
    };
    let name = path.clone();
    let work = move || match diff {
        FileDiff::Unified { text, complete } => unified_diff(&name, &text, complete),
        FileDiff::New { text, complete } => new_file(&name, &text, complete),
        FileDiff::Unshown(note) => file_note(&name, &note),
    };
    let diff = rendered(&app, work).await?;
    Ok(Json(json!({ "path": path, "html": diff.html.as_str(), "truncated": diff.truncated })))
}

/// The session's folder with symbolic links resolved, or a message that says why there is none.
pub(super) async fn folder(app: &App, id: &str) -> ApiResult<Result<PathBuf, String>> {
    let summary = app.sessions().store().session(session_id(id)?).await?;
    let summary = summary.ok_or_else(ApiError::session_not_found)?;
    let Some(folder) = summary.profile.working_directory else {
        return Ok(Err("This session has no working directory.".to_owned()));
    };
    // The roots may have changed since the session was created.
    match resolve_working_directory(&folder, &app.sessions().settings().roots).await {
        Err(error @ WorkingDirectoryError::NotAllowed(_)) => {
            Err(ApiError::new(StatusCode::FORBIDDEN, working_directory_error(&error), sentence(&error)))
        }
        Err(error) => Ok(Err(sentence(&error))),
        Ok(resolved) => Ok(Ok(resolved.unwrap_or(folder))),
    }
}

pub(super) fn shutting_down() -> ApiError {
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "ShuttingDown", "The server is shutting down.")
}
