//! Starting, prompting and stopping sessions.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Closed, PortalReply};
use crate::http::app::App;
use crate::http::auth::Caller;
use crate::http::body::{PathPart, QueryPart, TextBody, idempotency_key};
use crate::http::error::{ApiError, ApiResult, working_directory_error};
use crate::http::openapi::{Empty, Operation, Tag, portal};
use crate::model::{PermissionMode, PermissionPolicy, Scope, SessionId};
use crate::session::{CreateError, NewPrompt, NewSession, PromptError, Session, SessionError};

/// Other parameters are ignored, as on all routes of the portal.
#[derive(Deserialize, JsonSchema)]
pub(in crate::http) struct StartQuery {
    /// The permission mode; `portal.permissions` by default. Needs the scope `approve`.
    #[schemars(with = "Option<PermissionMode>")]
    permissions: Option<String>,
}

/// A session that was started.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct StartedSession {
    session_id: SessionId,
}

pub(in crate::http) async fn start(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    PathPart(model): PathPart<String>,
    QueryPart(StartQuery { permissions }): QueryPart<StartQuery>,
    headers: HeaderMap,
    TextBody(working_directory): TextBody,
) -> ApiResult<PortalReply<StartedSession>> {
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
        Ok(session) => Ok(PortalReply::Done(StartedSession { session_id: session.id() })),
        Err(CreateError::Model(_)) => Ok(PortalReply::Refused("ModelIdNotFound")),
        Err(CreateError::WorkingDirectory(error)) => Ok(PortalReply::Refused(working_directory_error(&error))),
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
) -> ApiResult<PortalReply<Closed>> {
    let Some(session) = find(&app, &id).await? else { return Ok(PortalReply::Refused("SessionNotFound")) };
    match session.close().await {
        Ok(()) => Ok(Closed::REPLY),
        Err(SessionError::Closed | SessionError::NotFound) => Ok(PortalReply::Refused("SessionNotFound")),
        Err(other) => Err(other.into()),
    }
}

pub(in crate::http) async fn query(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
    headers: HeaderMap,
    TextBody(text): TextBody,
) -> ApiResult<PortalReply<Empty>> {
    let Some(session) = find(&app, &id).await? else { return Ok(PortalReply::Refused("SessionNotFound")) };
    let prompt = NewPrompt { text, idempotency_key: idempotency_key(&headers)?, ..NewPrompt::default() };
    match session.prompt(prompt).await {
        Ok(_) => Ok(PortalReply::Done(Empty {})),
        Err(PromptError::Session(SessionError::Closed | SessionError::NotFound)) => {
            Ok(PortalReply::Refused("SessionNotFound"))
        }
        Err(other) => Err(ApiError::from(other)),
    }
}

pub(super) fn operations() -> Vec<Operation> {
    let stop = |path, id| {
        portal(path, stop_session)
            .named(id, Tag::Portal, "Close a session")
            .portal_errors(&["SessionNotFound"])
            .fails_with::<SessionError>()
    };
    let query = |path, id| {
        portal(path, query)
            .named(id, Tag::Portal, "Send a prompt")
            .takes_text("The prompt.")
            .idempotent()
            .portal_errors(&["SessionNotFound"])
            .fails_with::<PromptError>()
    };
    vec![
        portal("/api/copilot/session/start/{*model}", start)
            .named("portalStartSession", Tag::Portal, "Start a session")
            .path_part("model", "The id of a model, which may contain slashes.")
            .takes_text("The working directory, an absolute path, or nothing.")
            .idempotent()
            .portal_errors(&[
                "ModelIdNotFound",
                "WorkingDirectoryNotAbsolutePath",
                "WorkingDirectoryNotExists",
                "WorkingDirectoryNotAllowed",
            ])
            .fails_with::<CreateError>(),
        stop("/api/copilot/session/{id}/stop", "portalStopSession"),
        stop("/api/copilot/session/stop/{id}", "portalStopSessionById"),
        query("/api/copilot/session/{id}/query", "portalQuery"),
        query("/api/copilot/session/query/{id}", "portalQueryById"),
    ]
}
