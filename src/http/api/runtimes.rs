//! The runtimes: what each can do, what is missing, and who is logged in.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::agent::{LoginRequest, Runtime, Runtimes};
use crate::http::app::App;
use crate::http::body::{JsonBody, NoBody, PathPart};
use crate::http::error::{ApiError, ApiResult, sentence};

pub(in crate::http) async fn runtimes(State(app): State<App>) -> Json<Value> {
    Json(runtimes_json(app.sessions().runtimes(), &app.sessions().settings().default_runtime).await)
}

/// The runtimes in the API's format; the command line uses this too, without a server.
pub async fn runtimes_json(runtimes: &Runtimes, configured: &str) -> Value {
    let default = runtimes.default_runtime(configured).await.ok();
    let described = runtimes.described().await;
    let entries: Vec<Value> = described
        .iter()
        .map(|(runtime, readiness)| {
            let mut entry = json!(readiness);
            entry["name"] = json!(runtime.name());
            entry["default"] = json!(default.as_ref().is_some_and(|default| default.name() == runtime.name()));
            entry["capabilities"] = json!(runtime.capabilities());
            entry["options"] = json!(runtime.session_options());
            entry
        })
        .collect();
    json!({ "runtimes": entries })
}

fn named(app: &App, name: &str) -> ApiResult<Arc<dyn Runtime>> {
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
