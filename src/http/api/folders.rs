//! Folders to choose from.

use std::path::{Path, PathBuf};

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::folder::list;
use crate::http::app::App;
use crate::http::body::QueryPart;
use crate::http::error::{ApiError, ApiResult, sentence, working_directory_error};
use crate::http::openapi::{Operation, Tag, get};
use crate::session::{WorkingDirectoryError, check_working_directory, resolve_working_directory};

/// How many folders of earlier sessions are suggested.
const MOST_RECENT: usize = 20;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct FoldersQuery {
    /// An absolute path; the repository root or the first of `sessions.roots` by default.
    path: Option<String>,
    /// List hidden folders too.
    hidden: Option<bool>,
}

/// Folders to work in.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct FolderList {
    path: String,
    /// Null if there is none, or if sessions may not work there.
    parent: Option<String>,
    folders: Vec<ListedFolder>,
    /// There are more folders.
    truncated: bool,
    /// The folders that sessions used most recently.
    recent: Vec<String>,
}

/// A folder.
#[derive(Serialize, JsonSchema)]
struct ListedFolder {
    name: String,
    path: String,
    /// Whether it is a git repository.
    repository: bool,
}

/// The folders in a folder, and those that sessions used most recently.
pub(in crate::http) async fn folders(
    State(app): State<App>,
    QueryPart(query): QueryPart<FoldersQuery>,
) -> ApiResult<Json<FolderList>> {
    let path = match &query.path {
        Some(path) => allowed_folder(&app, path).await?,
        None => first_folder(&app).await?,
    };
    let parent = match path.parent() {
        Some(parent) => allowed_folder(&app, &parent.to_string_lossy()).await.ok(),
        None => None,
    };
    let (folder, roots) = (path.clone(), app.sessions().settings().roots.clone());
    let with_hidden = query.hidden.unwrap_or(false);
    let listed = tokio::task::spawn_blocking(move || list(&folder, &roots, with_hidden)).await;
    let listing = listed.map_err(|_| unreadable(&path))??;
    let folders = listing.folders.into_iter().map(|folder| ListedFolder {
        name: folder.name,
        path: shown(&folder.path),
        repository: folder.repository,
    });
    Ok(Json(FolderList {
        path: shown(&path),
        parent: parent.as_deref().map(shown),
        folders: folders.collect(),
        truncated: listing.truncated,
        recent: recent(&app).await?,
    }))
}

/// A path as a JSON string.
fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn unreadable(path: &Path) -> ApiError {
    let message = format!("Could not read the folder {}; try again.", path.display());
    ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "InternalError", message)
}

/// A folder that sessions may work in, with symbolic links resolved, so that its parent is its real parent.
async fn allowed_folder(app: &App, text: &str) -> ApiResult<PathBuf> {
    let refused = |error: &WorkingDirectoryError| {
        let status = match error {
            WorkingDirectoryError::NotAbsolute(_) => StatusCode::BAD_REQUEST,
            WorkingDirectoryError::NotExists(_) => StatusCode::NOT_FOUND,
            WorkingDirectoryError::NotAllowed(_) => StatusCode::FORBIDDEN,
        };
        ApiError::new(status, working_directory_error(error), sentence(error))
    };
    if text.is_empty() {
        return Err(refused(&WorkingDirectoryError::NotAbsolute(text.to_owned())));
    }
    let resolved = resolve_working_directory(text, &app.sessions().settings().roots).await;
    Ok(resolved.map_err(|error| refused(&error))?.unwrap_or_default())
}

/// The folder to start from: the repository that the server was started in, or the first root.
async fn first_folder(app: &App) -> ApiResult<PathBuf> {
    let own = allowed_folder(app, &app.repository_root().to_string_lossy()).await;
    match (own, app.sessions().settings().roots.first()) {
        (Err(_), Some(root)) => allowed_folder(app, &root.to_string_lossy()).await,
        (own, _) => own,
    }
}

async fn recent(app: &App) -> ApiResult<Vec<String>> {
    let mut recent = Vec::new();
    for folder in app.sessions().store().recent_working_directories(MOST_RECENT).await? {
        // A folder that is missing or no longer allowed is not suggested.
        let allowed = check_working_directory(&folder, &app.sessions().settings().roots).await;
        if allowed.is_ok() {
            recent.push(shown(&folder));
        }
    }
    Ok(recent)
}

pub(super) fn operations() -> Vec<Operation> {
    vec![
        get("/api/folders", folders)
            .named("listFolders", Tag::Server, "List folders to work in")
            .error(400, "WorkingDirectoryNotAbsolutePath")
            .error(404, "WorkingDirectoryNotExists")
            .error(403, "WorkingDirectoryNotAllowed")
            .error(403, "WorkingDirectoryNotReadable"),
    ]
}
