//! What changed in a session's folder: since the last commit, in the session or in a turn.

use std::path::PathBuf;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;

use super::blocks::rendered;
use super::changes_shapes::{
    ChangedFileBody, ChangesBody, ChangesQuery, FileDiffBody, FileQuery, LeftOut, PatchBody, RevertBody,
    SharingSession, TurnBody,
};
use super::session_id;
use crate::folder::{FileDiff, FolderError, file_diff};
use crate::http::app::App;
use crate::http::body::{PathPart, QueryPart};
use crate::http::error::{ApiError, ApiResult, sentence, working_directory_error};
use crate::http::openapi::{Operation, Tag, get};
use crate::model::{SessionId, Timestamp};
use crate::render::{file_note, new_file, unified_diff};
use crate::review::{ReviewError, ReviewScope, Target};
use crate::session::{WorkingDirectoryError, resolve_working_directory};
use crate::store::SessionFilter;

/// How many of the newest sessions are looked at for others in the same folder.
const SESSIONS_LOOKED_AT: usize = 200;

/// The files that changed. If they cannot be read, a message says why, and the page shows it in place of the files.
pub(in crate::http) async fn changes(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
    QueryPart(ChangesQuery { scope: name, turn }): QueryPart<ChangesQuery>,
) -> ApiResult<Json<ChangesBody>> {
    let scope = name.scope(turn.clone())?;
    let session = session_id(&id)?;
    let nothing = ChangesBody { scope: name, turn, ..ChangesBody::default() };
    let target = match target(&app, &id).await? {
        Ok(target) => target,
        Err(message) => return Ok(Json(ChangesBody { message: Some(message), ..nothing })),
    };
    let review = {
        let _place = app.reading_changes().acquire().await.map_err(|_| shutting_down())?;
        app.reviews().changes(&target, &scope).await
    };
    // Read after the comparison, which waits for snapshots that are being taken.
    let turns = app.reviews().turns(session).await.into_iter().map(TurnBody::from).collect();
    let reverted = app.reviews().kept(session).await.into_iter().map(RevertBody::from).collect();
    let known = ChangesBody { turns, reverted, ..nothing };
    Ok(Json(match review {
        Ok(review) => ChangesBody {
            repository: Some(review.comparison.repository.to_string_lossy().into_owned()),
            branch: review.comparison.branch.clone(),
            files: {
                let files = review.comparison.files.iter();
                files.map(|file| ChangedFileBody::of(&file.change, Some(file.state()))).collect()
            },
            truncated: review.comparison.truncated,
            since: review.since,
            until: review.until,
            view: Some(review.view),
            shared_with: match review.since {
                Some(since) => sharing_sessions(&app, &target, since, review.until).await?,
                None => Vec::new(),
            },
            ..known
        },
        Err(ReviewError::Folder(error)) if is_too_much(&error) && scope == ReviewScope::Commit => {
            without_snapshot(&app, &target, known, sentence(&error)).await?
        }
        Err(ReviewError::NoTurn(turn)) => return Err(ReviewError::NoTurn(turn).into()),
        Err(error) => ChangesBody { message: Some(sentence(&error)), ..known },
    }))
}

/// Too much for a snapshot, or no room for one. What changed since the last commit can be shown without.
fn is_too_much(error: &FolderError) -> bool {
    matches!(error, FolderError::TooMuch(_) | FolderError::Unwritable { .. })
}

async fn without_snapshot(app: &App, target: &Target, known: ChangesBody, reason: String) -> ApiResult<ChangesBody> {
    let list = {
        let _place = app.reading_changes().acquire().await.map_err(|_| shutting_down())?;
        crate::folder::changes(&target.folder, &app.sessions().settings().roots).await
    };
    Ok(match list {
        Ok(list) => ChangesBody {
            repository: Some(list.repository.to_string_lossy().into_owned()),
            branch: list.branch,
            files: list.changes.iter().map(|change| ChangedFileBody::of(change, None)).collect(),
            truncated: list.truncated,
            message: Some(reason),
            ..known
        },
        Err(error) => ChangesBody { message: Some(sentence(&error)), ..known },
    })
}

/// Other sessions in the same folder that were in a turn meanwhile.
async fn sharing_sessions(
    app: &App,
    target: &Target,
    since: Timestamp,
    until: Option<Timestamp>,
) -> ApiResult<Vec<SharingSession>> {
    let filter = SessionFilter { state: None, job: None, after: None, limit: SESSIONS_LOOKED_AT };
    let store = app.sessions().store();
    let own = store.session(target.session).await?.and_then(|summary| summary.profile.working_directory);
    let mut sharing = Vec::new();
    for other in store.sessions(filter).await? {
        let is_there = other.id != target.session && other.profile.working_directory == own;
        if is_there && other.updated_at >= since && app.reviews().was_in_a_turn(other.id, since, until).await {
            sharing.push(SharingSession { session_id: other.id, title: other.profile.title });
        }
    }
    Ok(sharing)
}

/// The diff of one of the files that [`changes`] lists.
pub(in crate::http) async fn changed_file(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
    QueryPart(query): QueryPart<FileQuery<String>>,
) -> ApiResult<Json<FileDiffBody>> {
    let FileQuery { scope, turn, view, path } = query;
    let scope = scope.scope(turn)?;
    let target = target(&app, &id).await?.map_err(|_| FolderError::NotChanged(path.clone()))?;
    let _place = app.reading_changes().acquire().await.map_err(|_| shutting_down())?;
    let review = app.reviews().file(&target, &scope, view.as_deref(), &path).await;
    let (diff, state, hunks, reason) = match review {
        Ok(review) => {
            let can_be = review.reason_against_revert.is_none();
            let is_text = matches!(review.diff, FileDiff::Unified { .. });
            let ends = [&review.file.before, &review.file.after];
            let hunks = can_be && is_text && ends.iter().all(|end| !end.is_missing() && !end.is_link());
            let reason = review.reason_against_revert;
            (review.diff, can_be.then(|| review.file.state()), hunks, reason)
        }
        Err(ReviewError::Folder(error)) if is_too_much(&error) && scope == ReviewScope::Commit => {
            let diff = file_diff(&target.folder, &app.sessions().settings().roots, &path).await?;
            (diff, None, false, Some(sentence(&error)))
        }
        Err(error) => return Err(error.into()),
    };
    let name = path.clone();
    let work = move || match diff {
        FileDiff::Unified { text, complete } => unified_diff(&name, &text, complete),
        FileDiff::New { text, complete } => new_file(&name, &text, complete),
        FileDiff::Unshown(note) => file_note(&name, &note),
    };
    let diff = rendered(&app, work).await?;
    let html = diff.html.into_string();
    Ok(Json(FileDiffBody { path, html, truncated: diff.truncated, state, hunks, not_revertible: reason }))
}

/// One of the files that [`changes`] lists, or all, as a patch.
pub(in crate::http) async fn changes_patch(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
    QueryPart(query): QueryPart<FileQuery<Option<String>>>,
) -> ApiResult<Json<PatchBody>> {
    let FileQuery { scope, turn, view, path } = query;
    let scope = scope.scope(turn)?;
    let not_changed = |_| FolderError::NotChanged(path.clone().unwrap_or_default());
    let target = target(&app, &id).await?.map_err(not_changed)?;
    let _place = app.reading_changes().acquire().await.map_err(|_| shutting_down())?;
    let patch = app.reviews().patch(&target, &scope, view.as_deref(), path.as_deref()).await?;
    let left_out = |(path, reason): (String, &str)| LeftOut { path, reason: reason.to_owned() };
    Ok(Json(PatchBody { patch: patch.text, left_out: patch.left_out.into_iter().map(left_out).collect() }))
}

/// The session and its folder, or a message that says why it has none.
pub(super) async fn target(app: &App, id: &str) -> ApiResult<Result<Target, String>> {
    let session = session_id(id)?;
    Ok(folder(app, session).await?.map(|folder| Target { session, folder }))
}

async fn folder(app: &App, session: SessionId) -> ApiResult<Result<PathBuf, String>> {
    let summary = app.sessions().store().session(session).await?;
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

pub(super) fn operations() -> Vec<Operation> {
    let review = |operation: Operation| {
        operation
            .error(404, "SessionNotFound")
            .error(403, "WorkingDirectoryNotAllowed")
            .error(400, "InvalidScope")
            .fails_with::<ReviewError>()
    };
    vec![
        review(get("/api/copilot/session/{id}/changes", changes))
            .named("listChanges", Tag::Changes, "List changed files")
            .details(
                "What differs since the last commit, in the session or in a turn, in the repository of the session's folder. \
                 Nothing is written there, and no program that the repository names is run.",
            ),
        review(get("/api/copilot/session/{id}/changes/file", changed_file))
            .named("showChange", Tag::Changes, "Show the diff of a file")
            .error(500, "RenderingFailed"),
        review(get("/api/copilot/session/{id}/changes/patch", changes_patch)).named(
            "showPatch",
            Tag::Changes,
            "Show the changes as a patch",
        ),
    ]
}
