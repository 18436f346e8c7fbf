//! Routes about the server itself.

use std::path::PathBuf;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;

use crate::http::app::App;
use crate::http::openapi::{Empty, Operation, Tag, portal};

/// A greeting.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct Greeting {
    message: &'static str,
}

pub(in crate::http) async fn test() -> Json<Greeting> {
    Json(Greeting { message: "Hello, world!" })
}

/// What a portal page needs to know first.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct PortalConfig {
    /// The nearest folder with `.git` at or above the folder the server was started in, or else that folder.
    repo_root: PathBuf,
    /// The configured model, or null.
    default_model: Option<String>,
}

pub(in crate::http) async fn config(State(app): State<App>) -> Json<PortalConfig> {
    let default_model = app.sessions().default_model().await;
    Json(PortalConfig { repo_root: app.repository_root().clone(), default_model })
}

/// A new reader token.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct ReaderToken {
    token: String,
}

/// A unique reader token; any text would work.
pub(in crate::http) async fn token() -> Json<ReaderToken> {
    Json(ReaderToken { token: uuid::Uuid::new_v4().to_string() })
}

/// Responds, then stops the server. Every authenticated caller may do this.
pub(in crate::http) async fn stop(State(app): State<App>) -> Response {
    tracing::info!("stopping: requested over HTTP");
    app.stop().cancel();
    let mut response = Json(Empty {}).into_response();
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

/// The models that a session can be started with.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct PortalModels {
    models: Vec<PortalModel>,
}

/// A model.
#[derive(Serialize, JsonSchema)]
struct PortalModel {
    name: String,
    id: String,
    /// How much one request counts against the quota.
    multiplier: f64,
}

pub(in crate::http) async fn models(State(app): State<App>) -> Json<PortalModels> {
    let sessions = app.sessions();
    let models = sessions.runtimes().listed_models(&sessions.settings().default_runtime).await;
    let models =
        models.into_iter().map(|model| PortalModel { name: model.name, id: model.id, multiplier: model.multiplier });
    Json(PortalModels { models: models.collect() })
}

pub(super) fn operations() -> Vec<Operation> {
    vec![
        portal("/api/test", test).named("portalTest", Tag::Portal, "Test the connection"),
        portal("/api/config", config).named("portalConfig", Tag::Portal, "Repository root and default model"),
        portal("/api/token", token).named("portalToken", Tag::Portal, "Create a reader token"),
        portal("/api/stop", stop)
            .named("portalStop", Tag::Portal, "Stop the server")
            .replies_with::<Empty>(200, "application/json"),
        portal("/api/copilot/models", models).named("portalModels", Tag::Portal, "List models"),
    ]
}
