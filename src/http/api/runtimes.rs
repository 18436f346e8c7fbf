//! The runtimes: what each can do, what is missing, and who is logged in.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

use crate::agent::{Capabilities, Channel, LoginRequest, Readiness, Runtime, Runtimes, SessionOption};
use crate::http::app::App;
use crate::http::body::{JsonBody, NoBody, PathPart};
use crate::http::error::{ApiError, ApiResult, sentence};
use crate::model::PermissionMode;

/// All runtimes.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RuntimesReply {
    runtimes: Vec<RuntimeEntry>,
    /// The permission mode of sessions that choose none.
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_mode: Option<PermissionMode>,
}

/// One runtime.
#[derive(Serialize)]
struct RuntimeEntry {
    name: String,
    /// The agent behind it: runtimes with the same value are ways to the same agent. It is the name of its main runtime.
    agent: String,
    /// The agent's name as people know it.
    title: String,
    /// How it talks to the agent, if there are several ways.
    #[serde(skip_serializing_if = "Option::is_none")]
    connection: Option<Channel>,
    /// Sessions that choose no runtime get this one.
    default: bool,
    capabilities: Capabilities,
    /// The `options` that its sessions take.
    options: Vec<SessionOption>,
    #[serde(flatten)]
    readiness: Readiness,
}

pub(in crate::http) async fn runtimes(State(app): State<App>) -> Json<RuntimesReply> {
    let settings = app.sessions().settings();
    let reply = runtimes_reply(app.sessions().runtimes(), &settings.default_runtime).await;
    Json(RuntimesReply { permission_mode: Some(settings.permissions.mode), ..reply })
}

/// The runtimes in the API's format; the command line uses this too, without a server.
pub async fn runtimes_reply(runtimes: &Runtimes, configured: &str) -> RuntimesReply {
    let default = runtimes.default_runtime(configured).await.ok();
    let entry = |(runtime, readiness): (Arc<dyn Runtime>, Readiness)| RuntimeEntry {
        name: runtime.name().to_owned(),
        agent: runtime.family().to_owned(),
        title: runtime.title().to_owned(),
        connection: runtime.channel(),
        default: default.as_ref().is_some_and(|default| default.name() == runtime.name()),
        capabilities: runtime.capabilities().clone(),
        options: runtime.session_options(),
        readiness,
    };
    RuntimesReply { runtimes: runtimes.described().await.into_iter().map(entry).collect(), permission_mode: None }
}

pub(super) fn named(app: &App, name: &str) -> ApiResult<Arc<dyn Runtime>> {
    app.sessions()
        .runtimes()
        .named(name)
        .map_err(|error| ApiError::new(StatusCode::NOT_FOUND, "RuntimeNotFound", sentence(&error)))
}

fn no_login(name: &str) -> ApiError {
    let message = format!("The runtime {name} does not support logging in through Flightdeck.");
    ApiError::new(StatusCode::CONFLICT, "LoginNotSupported", message)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::http) struct LoginBody {
    host: Option<String>,
    #[serde(default)]
    plain_text: bool,
}

/// Starts a login; responds as soon as there is a code to enter or the login has failed.
pub(in crate::http) async fn log_in(
    State(app): State<App>,
    PathPart(name): PathPart<String>,
    JsonBody(LoginBody { host, plain_text }): JsonBody<LoginBody>,
) -> ApiResult<Response> {
    let runtime = named(&app, &name)?;
    let login = runtime.login().ok_or_else(|| no_login(&name))?;
    let progress = login.begin(LoginRequest { host, plain_text }).await;
    Ok((StatusCode::ACCEPTED, Json(progress)).into_response())
}

pub(in crate::http) async fn login_progress(
    State(app): State<App>,
    PathPart(name): PathPart<String>,
) -> ApiResult<Response> {
    let runtime = named(&app, &name)?;
    let progress = runtime.login().ok_or_else(|| no_login(&name))?.progress();
    Ok(Json(progress).into_response())
}

pub(in crate::http) async fn cancel_login(
    State(app): State<App>,
    PathPart(name): PathPart<String>,
    NoBody: NoBody,
) -> ApiResult<StatusCode> {
    let runtime = named(&app, &name)?;
    runtime.login().ok_or_else(|| no_login(&name))?.cancel().await;
    Ok(StatusCode::NO_CONTENT)
}
