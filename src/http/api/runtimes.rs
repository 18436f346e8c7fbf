//! The runtimes: what each can do, what is missing, and who is logged in.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agent::{Capabilities, LoginProgress, LoginRequest, Readiness, Runtime, Runtimes};
use crate::http::app::App;
use crate::http::body::{JsonBody, NoBody, PathPart};
use crate::http::error::{ApiError, ApiResult, sentence};
use crate::http::openapi::{Accepted, NoContent, Operation, Tag, delete, get, post};

/// The runtimes.
#[derive(Serialize, JsonSchema)]
pub struct RuntimeList {
    runtimes: Vec<RuntimeEntry>,
}

/// A way to run an agent.
#[derive(Serialize, JsonSchema)]
struct RuntimeEntry {
    name: String,
    /// New sessions use it unless they name another one.
    default: bool,
    #[serde(flatten)]
    readiness: Readiness,
    capabilities: Capabilities,
}

pub(in crate::http) async fn runtimes(State(app): State<App>) -> Json<RuntimeList> {
    Json(runtime_list(app.sessions().runtimes(), &app.sessions().settings().default_runtime).await)
}

/// The runtimes in the API's format; the command line uses this too, without a server.
pub async fn runtime_list(runtimes: &Runtimes, configured: &str) -> RuntimeList {
    let default = runtimes.default_runtime(configured).await.ok();
    let described = runtimes.described().await;
    let entries = described.into_iter().map(|(runtime, readiness)| RuntimeEntry {
        name: runtime.name().to_owned(),
        default: default.as_ref().is_some_and(|default| default.name() == runtime.name()),
        capabilities: runtime.capabilities().clone(),
        readiness,
    });
    RuntimeList { runtimes: entries.collect() }
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

/// The options of a login.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "AgentLogin")]
pub(in crate::http) struct LoginBody {
    /// A GitHub host other than github.com.
    host: Option<String>,
    /// Store the token in a file on machines without a key store.
    #[serde(default)]
    plain_text: bool,
}

/// Starts a login; responds as soon as there is a code to enter or the login has failed.
pub(in crate::http) async fn log_in(
    State(app): State<App>,
    PathPart(name): PathPart<String>,
    JsonBody(LoginBody { host, plain_text }): JsonBody<LoginBody>,
) -> ApiResult<Accepted<LoginProgress>> {
    let runtime = named(&app, &name)?;
    let login = runtime.login().ok_or_else(|| no_login(&name))?;
    Ok(Accepted(login.begin(LoginRequest { host, plain_text }).await))
}

pub(in crate::http) async fn login_progress(
    State(app): State<App>,
    PathPart(name): PathPart<String>,
) -> ApiResult<Json<LoginProgress>> {
    let runtime = named(&app, &name)?;
    let progress = runtime.login().ok_or_else(|| no_login(&name))?.progress();
    Ok(Json(progress))
}

pub(in crate::http) async fn cancel_login(
    State(app): State<App>,
    PathPart(name): PathPart<String>,
    NoBody: NoBody,
) -> ApiResult<NoContent> {
    let runtime = named(&app, &name)?;
    runtime.login().ok_or_else(|| no_login(&name))?.cancel().await;
    Ok(NoContent)
}

pub(super) fn operations() -> Vec<Operation> {
    let login = |operation: Operation| {
        operation
            .path_part("name", "The name of a runtime.")
            .error(404, "RuntimeNotFound")
            .error(409, "LoginNotSupported")
    };
    vec![
        get("/api/runtimes", runtimes)
            .named("listRuntimes", Tag::Agents, "List runtimes")
            .details("Which agents can be used, what each can do, what is missing, and who is logged in."),
        login(post("/api/runtimes/{name}/login", log_in))
            .named("logInToAgent", Tag::Agents, "Log in to an agent")
            .details("Returns as soon as there is a code to enter, or the login failed."),
        login(get("/api/runtimes/{name}/login", login_progress)).named(
            "showAgentLogin",
            Tag::Agents,
            "Show the progress of a login",
        ),
        login(delete("/api/runtimes/{name}/login", cancel_login)).named(
            "cancelAgentLogin",
            Tag::Agents,
            "Cancel a login",
        ),
    ]
}
