//! Creating, listing, changing, reopening and deleting sessions.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::details::{details, permission_policy, summary};
use super::{session, session_id};
use crate::http::app::App;
use crate::http::auth::Caller;
use crate::http::body::{JsonBody, NoBody, PathPart, QueryPart, idempotency_key};
use crate::http::error::{ApiError, ApiResult};
use crate::model::{JobId, Scope, SessionBudget, SessionOptions, SessionState};
use crate::session::{NewSession, SessionUpdate};
use crate::store::SessionFilter;

const DEFAULT_PAGE: usize = 100;
const LARGEST_PAGE: usize = 1_000;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::http) struct CreateBody {
    runtime: Option<String>,
    model: Option<String>,
    working_directory: Option<String>,
    title: Option<String>,
    effort: Option<String>,
    permission_mode: Option<Value>,
    system_prompt: Option<String>,
    #[serde(default)]
    options: Map<String, Value>,
    budget: Option<SessionBudget>,
}

pub(in crate::http) async fn create_session(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    JsonBody(body): JsonBody<CreateBody>,
) -> ApiResult<Response> {
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
    let details = details(&app, session.id()).await?;
    Ok((StatusCode::CREATED, Json(details)).into_response())
}

fn checked_budget(budget: SessionBudget) -> ApiResult<SessionBudget> {
    match budget.problem() {
        None => Ok(budget),
        Some(problem) => Err(ApiError::bad_request("InvalidBudget", format!("Invalid budget: {problem}."))),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct ListQuery {
    state: Option<String>,
    after: Option<String>,
    job: Option<JobId>,
    limit: Option<usize>,
}

pub(in crate::http) async fn list_sessions(
    State(app): State<App>,
    QueryPart(query): QueryPart<ListQuery>,
) -> ApiResult<Json<Value>> {
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
    let mut reply = json!({ "sessions": found.iter().map(summary).collect::<Vec<_>>() });
    if let (true, Some(last)) = (more, found.last()) {
        reply["next"] = json!(last.id);
    }
    Ok(Json(reply))
}

pub(in crate::http) async fn session_details(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
) -> ApiResult<Json<Value>> {
    // Loading comes first: it ends a turn that an earlier run left open.
    let session = session(&app, &id).await?;
    Ok(Json(details(&app, session.id()).await?))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::http) struct UpdateBody {
    title: Option<String>,
    model: Option<String>,
    effort: Option<String>,
    permission_mode: Option<Value>,
    budget: Option<SessionBudget>,
}

pub(in crate::http) async fn update_session(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    PathPart(id): PathPart<String>,
    JsonBody(body): JsonBody<UpdateBody>,
) -> ApiResult<Json<Value>> {
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
) -> ApiResult<StatusCode> {
    app.sessions().delete(session_id(&id)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Retries a session that failed, needs a login or is recovering.
pub(in crate::http) async fn retry(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
    NoBody: NoBody,
) -> ApiResult<Response> {
    let session = session(&app, &id).await?;
    session.try_again().await?;
    let details = details(&app, session.id()).await?;
    Ok((StatusCode::ACCEPTED, Json(details)).into_response())
}

pub(in crate::http) async fn reopen(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
    NoBody: NoBody,
) -> ApiResult<Json<Value>> {
    let session = session(&app, &id).await?;
    session.reopen().await?;
    Ok(Json(details(&app, session.id()).await?))
}
