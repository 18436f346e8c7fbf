//! What changed in a session's folder since the last commit.

use std::path::PathBuf;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::blocks::rendered;
use super::session_id;
use crate::folder::{ChangeKind, FileDiff, FolderError, file_diff};
use crate::http::app::App;
use crate::http::body::{PathPart, QueryPart};
use crate::http::error::{ApiError, ApiResult, sentence, working_directory_error};
use crate::http::openapi::{Operation, Tag, get};
use crate::render::{file_note, new_file, unified_diff};
use crate::session::{WorkingDirectoryError, resolve_working_directory};

/// What differs from the last commit.
#[derive(Default, Serialize, JsonSchema)]
#[schemars(rename = "Changes")]
pub(in crate::http) struct ChangesReply {
    /// The top folder of the repository; null if there is none.
    repository: Option<String>,
    /// The branch; null if none is checked out.
    branch: Option<String>,
    files: Vec<FileChange>,
    /// There are more files.
    truncated: bool,
    /// Why the changes cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

/// A file that changed.
#[derive(Serialize, JsonSchema)]
struct FileChange {
    /// Relative to the top of the repository.
    path: String,
    status: ChangeKind,
    /// Lines added; null if unknown, as for binary files.
    added: Option<u64>,
    /// Lines removed.
    removed: Option<u64>,
}

/// The files that changed. If they cannot be read, a message says why, and the page shows it in place of the files.
pub(in crate::http) async fn changes(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
) -> ApiResult<Json<ChangesReply>> {
    let nothing = |message: String| Json(ChangesReply { message: Some(message), ..ChangesReply::default() });
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
    let file = |change: &crate::folder::Change| FileChange {
        path: change.shown_path(),
        status: change.kind,
        added: change.added,
        removed: change.removed,
    };
    Ok(Json(ChangesReply {
        repository: Some(list.repository.to_string_lossy().into_owned()),
        branch: list.branch,
        files: list.changes.iter().map(file).collect(),
        truncated: list.truncated,
        message: None,
    }))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct FileQuery {
    /// The path of a file in the list of changes.
    path: String,
}

/// The changes of one file.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct FileDiffReply {
    path: String,
    /// The diff as sanitised HTML.
    html: String,
    /// Only the beginning is shown.
    truncated: bool,
}

/// The diff of one of the files that [`changes`] lists.
pub(in crate::http) async fn changed_file(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
    QueryPart(FileQuery { path }): QueryPart<FileQuery>,
) -> ApiResult<Json<FileDiffReply>> {
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
    Ok(Json(FileDiffReply { path, html: diff.html.into_string(), truncated: diff.truncated }))
}

/// The session's folder with symbolic links resolved, or a message that says why there is none.
async fn folder(app: &App, id: &str) -> ApiResult<Result<PathBuf, String>> {
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

fn shutting_down() -> ApiError {
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "ShuttingDown", "The server is shutting down.")
}

pub(super) fn operations() -> Vec<Operation> {
    vec![
        get("/api/copilot/session/{id}/changes", changes)
            .named("listChanges", Tag::Changes, "List changed files")
            .details(
                "What differs from the last commit in the repository of the session's folder. Nothing is written, and no \
                 program that the repository names is run.",
            )
            .error(404, "SessionNotFound")
            .error(403, "WorkingDirectoryNotAllowed"),
        get("/api/copilot/session/{id}/changes/file", changed_file)
            .named("showChange", Tag::Changes, "Show the diff of a file")
            .error(404, "SessionNotFound")
            .error(403, "WorkingDirectoryNotAllowed")
            .error(500, "RenderingFailed")
            .fails_with::<FolderError>(),
    ]
}
