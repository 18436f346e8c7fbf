//! The runtimes: what each can do, what is missing, and who is logged in.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::agent::{Capabilities, Channel, LoginProgress, LoginRequest, Readiness, Runtime, Runtimes, SessionOption};
use crate::http::app::App;
use crate::http::body::{JsonBody, NoBody, PathPart};
use crate::http::error::{ApiError, ApiResult, sentence};
use crate::http::openapi::{Accepted, NoContent, Operation, Tag, delete, get, post};
use crate::model::{PermissionMode, RuntimeDefaults};

/// All runtimes.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuntimesReply {
    runtimes: Vec<RuntimeEntry>,
    /// The permission mode of sessions that choose none.
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_mode: Option<PermissionMode>,
}

/// One runtime.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RuntimeEntry {
    name: String,
    /// The agent behind it: runtimes with the same value are ways to the same agent. It is the name of its main runtime.
    agent: String,
    /// The agent's name as people know it.
    title: String,
    /// The same, with the connection if it is not the agent's usual one.
    display_name: String,
    /// How it talks to the agent, if there are several ways.
    #[serde(skip_serializing_if = "Option::is_none")]
    connection: Option<Channel>,
    /// Sessions that choose no runtime get this one.
    default: bool,
    capabilities: Capabilities,
    /// The `options` that its sessions take.
    options: Vec<SessionOption>,
    /// What its sessions get if they choose nothing. `api/models` has their model.
    #[serde(skip_serializing_if = "Option::is_none")]
    defaults: Option<Defaults>,
    #[serde(flatten)]
    readiness: Readiness,
}

/// What sessions of a runtime get, as the configuration has it.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Defaults {
    effort: Option<String>,
    permission_mode: Option<PermissionMode>,
    options: Map<String, Value>,
}

impl From<RuntimeDefaults> for Defaults {
    fn from(defaults: RuntimeDefaults) -> Self {
        let RuntimeDefaults { model: _, effort, permission_mode, options } = defaults;
        Self { effort, permission_mode, options }
    }
}

pub(in crate::http) async fn runtimes(State(app): State<App>) -> Json<RuntimesReply> {
    let sessions = app.sessions();
    let settings = sessions.settings();
    let mut reply = runtimes_reply(sessions.runtimes(), &settings.default_runtime).await;
    for runtime in &mut reply.runtimes {
        runtime.defaults = Some(sessions.defaults_of(&runtime.name).into());
    }
    Json(RuntimesReply { permission_mode: Some(settings.permissions.mode), ..reply })
}

/// The runtimes in the API's format; the command line uses this too, without a server.
pub async fn runtimes_reply(runtimes: &Runtimes, configured: &str) -> RuntimesReply {
    let default = runtimes.default_runtime(configured).await.ok();
    let entry = |(runtime, readiness): (Arc<dyn Runtime>, Readiness)| RuntimeEntry {
        name: runtime.name().to_owned(),
        agent: runtime.family().to_owned(),
        title: runtime.title().to_owned(),
        display_name: runtime.display_name(),
        connection: runtime.channel(),
        default: default.as_ref().is_some_and(|default| default.name() == runtime.name()),
        capabilities: runtime.capabilities().clone(),
        options: runtime.session_options(),
        defaults: None,
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
