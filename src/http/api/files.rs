//! The files of a session's folder that a prompt can mention.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::changes::{shutting_down, target};
use crate::folder::FileIndex;
use crate::http::app::App;
use crate::http::body::{PathPart, QueryPart};
use crate::http::error::{ApiError, ApiResult, sentence};
use crate::http::openapi::{Operation, Tag, get};

/// How many files are returned unless the caller says otherwise, and at most.
const USUAL: usize = 20;
const MOST: usize = 100;
const LONGEST_QUERY: usize = 256;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct FilesQuery {
    #[serde(default)]
    q: String,
    limit: Option<usize>,
}

/// Files that match, best first.
#[derive(Default, Serialize, JsonSchema)]
pub(in crate::http) struct FileMatches {
    /// Their paths, relative to the session's folder.
    files: Vec<String>,
    /// Whether the folder has more files than were searched.
    truncated: bool,
    /// Why there are none, if the folder cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

/// Finds files by a part of their path.
pub(in crate::http) async fn files(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
    QueryPart(FilesQuery { q, limit }): QueryPart<FilesQuery>,
) -> ApiResult<Json<FileMatches>> {
    if q.len() > LONGEST_QUERY {
        let message = format!("q has {} bytes, and the limit is {LONGEST_QUERY}; shorten it.", q.len());
        return Err(ApiError::bad_request("InvalidQuery", message));
    }
    let limit = limit.unwrap_or(USUAL).clamp(1, MOST);
    let nothing = |message: String| Json(FileMatches { message: Some(message), ..FileMatches::default() });
    let folder = match target(&app, &id).await? {
        Ok(target) => target.folder,
        Err(message) => return Ok(nothing(message)),
    };
    let index: Arc<FileIndex> = if let Some(index) = app.file_indexes().get(&folder) {
        index
    } else {
        let _place = app.reading_changes().acquire().await.map_err(|_| shutting_down())?;
        // Another request may have read it meanwhile.
        match app.file_indexes().get(&folder) {
            Some(index) => index,
            None => match FileIndex::of(&folder).await {
                Ok(index) => app.file_indexes().put(folder, index),
                Err(error) => return Ok(nothing(sentence(&error))),
            },
        }
    };
    let truncated = index.is_truncated();
    // Many thousand paths are compared.
    let files = tokio::task::spawn_blocking(move || index.find(&q, limit)).await.map_err(|_| shutting_down())?;
    Ok(Json(FileMatches { files, truncated, message: None }))
}

pub(super) fn operations() -> Vec<Operation> {
    vec![
        get("/api/copilot/session/{id}/files", files)
            .named("findFiles", Tag::Prompts, "Find files that a prompt can mention")
            .details(
                "Files of the session's folder whose path contains these characters in this order, best matches first.",
            )
            .error(404, "SessionNotFound")
            .error(403, "WorkingDirectoryNotAllowed"),
    ]
}
