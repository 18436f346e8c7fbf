//! Starting, prompting and stopping sessions.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::json;

use super::portal_error;
use crate::http::app::App;
use crate::http::auth::Caller;
use crate::http::body::{PathPart, QueryPart, TextBody, idempotency_key};
use crate::http::error::{ApiError, ApiResult, working_directory_error};
use crate::model::{PermissionMode, PermissionPolicy, Scope, SessionId};
use crate::session::{CreateError, NewPrompt, NewSession, PromptError, Session, SessionError};

/// Other parameters are ignored, as on all routes of the portal.
#[derive(Deserialize)]
pub(in crate::http) struct StartQuery {
    permissions: Option<String>,
}

pub(in crate::http) async fn start(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    PathPart(model): PathPart<String>,
    QueryPart(StartQuery { permissions }): QueryPart<StartQuery>,
    headers: HeaderMap,
    TextBody(working_directory): TextBody,
) -> ApiResult<Response> {
    let working_directory = working_directory.trim().to_owned();
    if permissions.is_some() {
        caller.must_have(Scope::Approve)?;
    }
    let mode = match permissions {
        Some(text) => Some(
            text.parse::<PermissionMode>()
                .map_err(|error| ApiError::bad_request("InvalidQuery", format!("Invalid permissions: {error}.")))?,
        ),
        None => app.portal_permissions(),
    };
    let new = NewSession {
        model: Some(model),
        working_directory,
        origin: caller.origin(),
        permissions: mode.map(|mode| PermissionPolicy { mode, rules: Vec::new() }),
        idempotency_key: idempotency_key(&headers)?,
        ..NewSession::default()
    };
    match app.sessions().create(new).await {
        Ok(session) => Ok(Json(json!({ "sessionId": session.id() })).into_response()),
        Err(CreateError::Model(_)) => Ok(portal_error("ModelIdNotFound")),
        Err(CreateError::WorkingDirectory(error)) => Ok(portal_error(working_directory_error(&error))),
        Err(other) => Err(other.into()),
    }
}

/// The session with that id, or `None`, also for a malformed id.
pub(super) async fn find(app: &App, id: &str) -> ApiResult<Option<Arc<Session>>> {
    let Ok(id) = id.parse::<SessionId>() else { return Ok(None) };
    match app.sessions().get(id).await {
        Ok(session) => Ok(Some(session)),
        Err(SessionError::NotFound) => Ok(None),
        Err(other) => Err(other.into()),
    }
}

pub(in crate::http) async fn stop_session(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
) -> ApiResult<Response> {
    let Some(session) = find(&app, &id).await? else { return Ok(portal_error("SessionNotFound")) };
    match session.close().await {
        Ok(()) => Ok(Json(json!({ "result": "Closed" })).into_response()),
        Err(SessionError::Closed | SessionError::NotFound) => Ok(portal_error("SessionNotFound")),
        Err(other) => Err(other.into()),
    }
}

pub(in crate::http) async fn query(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
    headers: HeaderMap,
    TextBody(text): TextBody,
) -> ApiResult<Response> {
    let Some(session) = find(&app, &id).await? else { return Ok(portal_error("SessionNotFound")) };
    let prompt = NewPrompt { text, idempotency_key: idempotency_key(&headers)?, ..NewPrompt::default() };
    match session.prompt(prompt).await {
        Ok(_) => Ok(Json(json!({})).into_response()),
        Err(PromptError::Session(SessionError::Closed | SessionError::NotFound)) => Ok(portal_error("SessionNotFound")),
        Err(other) => Err(ApiError::from(other)),
    }
}
