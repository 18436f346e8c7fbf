//! Creating, listing, changing, reopening and deleting sessions.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::{Extension, Json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::details::{PermissionChoice, SessionDetails, SessionEntry, details, permission_policy};
use super::{session, session_id};
use crate::http::app::App;
use crate::http::auth::Caller;
use crate::http::body::{JsonBody, NoBody, PathPart, QueryPart, idempotency_key};
use crate::http::error::{ApiError, ApiResult};
use crate::http::openapi::{Accepted, Created, NoContent, Operation, Tag, delete, get, patch, post};
use crate::model::{JobId, Scope, SessionBudget, SessionId, SessionOptions, SessionState};
use crate::session::{CreateError, NewSession, SessionError, SessionUpdate};
use crate::store::SessionFilter;

const DEFAULT_PAGE: usize = 100;
const LARGEST_PAGE: usize = 1_000;

/// A new session. What is missing or empty is chosen from the configuration.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "NewSession")]
pub(in crate::http) struct CreateBody {
    /// The runtime, such as `copilot` or `demo`.
    runtime: Option<String>,
    model: Option<String>,
    /// An absolute path.
    working_directory: Option<String>,
    title: Option<String>,
    /// One of the runtime's reasoning efforts.
    effort: Option<String>,
    /// Needs the scope `approve`.
    #[schemars(with = "Option<PermissionChoice>")]
    permission_mode: Option<Value>,
    system_prompt: Option<String>,
    /// Options of the runtime. Need the scope `admin`.
    #[serde(default)]
    options: Map<String, Value>,
    /// Limits of this session; a limit counts where it is lower than the configured one. Needs the scope `approve`.
    budget: Option<SessionBudget>,
}

pub(in crate::http) async fn create_session(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    JsonBody(body): JsonBody<CreateBody>,
) -> ApiResult<Created<SessionDetails>> {
    if body.permission_mode.is_some() || body.budget.is_some() {
        caller.must_have(Scope::Approve)?;
    }
    // Options name programs and endpoints.
    if !body.options.is_empty() {
        caller.must_have(Scope::Admin)?;
    }
    SessionOptions::check(&body.options)
        .map_err(|problem| ApiError::bad_request("InvalidOptions", format!("Invalid session options: {problem}.")))?;
    let new = NewSession {
        runtime: body.runtime,
        model: body.model,
        working_directory: body.working_directory.unwrap_or_default(),
        title: body.title,
        effort: body.effort,
        permissions: body.permission_mode.as_ref().map(permission_policy).transpose()?,
        system_prompt: body.system_prompt,
        options: body.options,
        budget: body.budget.map(checked_budget).transpose()?.unwrap_or_default(),
        origin: caller.origin(),
        idempotency_key: idempotency_key(&headers)?,
        job: None,
    };
    let session = app.sessions().create(new).await?;
    Ok(Created(details(&app, session.id()).await?))
}

fn checked_budget(budget: SessionBudget) -> ApiResult<SessionBudget> {
    match budget.problem() {
        None => Ok(budget),
        Some(problem) => Err(ApiError::bad_request("InvalidBudget", format!("Invalid budget: {problem}."))),
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct ListQuery {
    /// Only sessions in this state.
    #[schemars(with = "Option<SessionState>")]
    state: Option<String>,
    /// The `next` of the page before.
    #[schemars(with = "Option<SessionId>")]
    after: Option<String>,
    /// Only the sessions of this job.
    job: Option<JobId>,
    /// How many: 100 by default, at most 1,000.
    limit: Option<usize>,
}

/// A page of sessions.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct SessionList {
    /// Newest first.
    sessions: Vec<SessionEntry>,
    /// The `after` of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<SessionId>,
}

pub(in crate::http) async fn list_sessions(
    State(app): State<App>,
    QueryPart(query): QueryPart<ListQuery>,
) -> ApiResult<Json<SessionList>> {
    let state: Option<SessionState> = match query.state.as_deref() {
        None | Some("") => None,
        Some(text) => Some(text.parse().map_err(|message: String| ApiError::bad_request("InvalidState", message))?),
    };
    let after = match query.after.as_deref() {
        None | Some("") => None,
        Some(text) => Some(text.parse().map_err(|_| {
            ApiError::bad_request(
                "InvalidCursor",
                "Invalid cursor: after must be the `next` of an earlier page, such as session-12.",
            )
        })?),
    };
    let limit = query.limit.unwrap_or(DEFAULT_PAGE).clamp(1, LARGEST_PAGE);
    let mut found =
        app.sessions().store().sessions(SessionFilter { state, job: query.job, after, limit: limit + 1 }).await?;
    let more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| more).map(|last| last.id);
    Ok(Json(SessionList { sessions: found.into_iter().map(SessionEntry::from).collect(), next }))
}

pub(in crate::http) async fn session_details(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
) -> ApiResult<Json<SessionDetails>> {
    // Loading comes first: it ends a turn that an earlier run left open.
    let session = session(&app, &id).await?;
    Ok(Json(details(&app, session.id()).await?))
}

/// Changes of a session; what is missing stays as it is.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "SessionChange")]
pub(in crate::http) struct UpdateBody {
    title: Option<String>,
    model: Option<String>,
    effort: Option<String>,
    /// Needs the scope `approve`.
    #[schemars(with = "Option<PermissionChoice>")]
    permission_mode: Option<Value>,
    /// Replaces all of the session's own limits. Needs the scope `approve`.
    budget: Option<SessionBudget>,
}

pub(in crate::http) async fn update_session(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    PathPart(id): PathPart<String>,
    JsonBody(body): JsonBody<UpdateBody>,
) -> ApiResult<Json<SessionDetails>> {
    if body.permission_mode.is_some() || body.budget.is_some() {
        caller.must_have(Scope::Approve)?;
    }
    let session = session(&app, &id).await?;
    if let Some(model) = &body.model {
        let summary = app.sessions().store().session(session.id()).await?.ok_or_else(ApiError::session_not_found)?;
        let (runtime, options) = (summary.profile.runtime, summary.profile.options);
        app.sessions().runtimes().choose(&runtime, &format!("{runtime}/{model}"), &options).await?;
    }
    let update = SessionUpdate {
        title: body.title,
        model: body.model,
        effort: body.effort,
        permissions: body.permission_mode.as_ref().map(permission_policy).transpose()?,
        budget: body.budget.map(checked_budget).transpose()?,
    };
    session.update(update).await?;
    Ok(Json(details(&app, session.id()).await?))
}

pub(in crate::http) async fn delete_session(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
    NoBody: NoBody,
) -> ApiResult<NoContent> {
    app.sessions().delete(session_id(&id)?).await?;
    Ok(NoContent)
}

/// Retries a session that failed, needs a login or is recovering.
pub(in crate::http) async fn retry(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
    NoBody: NoBody,
) -> ApiResult<Accepted<SessionDetails>> {
    let session = session(&app, &id).await?;
    session.try_again().await?;
    Ok(Accepted(details(&app, session.id()).await?))
}

pub(in crate::http) async fn reopen(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
    NoBody: NoBody,
) -> ApiResult<Json<SessionDetails>> {
    let session = session(&app, &id).await?;
    session.reopen().await?;
    Ok(Json(details(&app, session.id()).await?))
}

pub(super) fn operations() -> Vec<Operation> {
    vec![
        post("/api/copilot/session", create_session)
            .named("createSession", Tag::Sessions, "Create a session")
            .details(
                "A permission mode or a budget needs the scope `approve` too, and options need `admin`. A repeated call with \
                 the same `Idempotency-Key` returns the session of the first call, even after a crash.",
            )
            .idempotent()
            .error(404, "SessionNotFound")
            .error(400, "InvalidOptions")
            .error(400, "InvalidBudget")
            .error(400, "InvalidPermissionMode")
            .fails_with::<CreateError>(),
        get("/api/copilot/session", list_sessions)
            .named("listSessions", Tag::Sessions, "List sessions")
            .error(400, "InvalidState")
            .error(400, "InvalidCursor"),
        get("/api/copilot/session/{id}", session_details)
            .named("showSession", Tag::Sessions, "Show a session")
            .details("Everything about a session except its log.")
            .fails_with::<SessionError>(),
        patch("/api/copilot/session/{id}", update_session)
            .named("changeSession", Tag::Sessions, "Change a session")
            .details("A permission mode or a budget needs the scope `approve` too.")
            .error(400, "InvalidBudget")
            .error(400, "InvalidPermissionMode")
            .error(400, "ModelIdNotFound")
            .fails_with::<SessionError>(),
        delete("/api/copilot/session/{id}", delete_session)
            .named("deleteSession", Tag::Sessions, "Delete a session")
            .details("A running session is stopped first.")
            .fails_with::<SessionError>(),
        post("/api/copilot/session/{id}/reopen", reopen)
            .named("reopenSession", Tag::Sessions, "Reopen a closed session")
            .fails_with::<SessionError>(),
        post("/api/copilot/session/{id}/retry", retry)
            .named("retrySession", Tag::Sessions, "Retry a session")
            .details(
                "Retries a session that failed, needs a login or is recovering, and sends queued prompts that wait because \
                 the turn before them was interrupted.",
            )
            .fails_with::<SessionError>(),
    ]
}
