//! Routes about the server itself.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::http::app::App;

pub(in crate::http) async fn test() -> Json<Value> {
    Json(json!({ "message": "Hello, world!" }))
}

pub(in crate::http) async fn config(State(app): State<App>) -> Json<Value> {
    let default_model = app.sessions().default_model().await;
    Json(json!({ "repoRoot": app.repository_root(), "defaultModel": default_model }))
}

/// A unique reader token; any text would work.
pub(in crate::http) async fn token() -> Json<Value> {
    Json(json!({ "token": uuid::Uuid::new_v4().to_string() }))
}

/// Responds, then stops the server. Every authenticated caller may do this.
pub(in crate::http) async fn stop(State(app): State<App>) -> Response {
    tracing::info!("stopping: requested over HTTP");
    app.stop().cancel();
    let mut response = Json(json!({})).into_response();
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

pub(in crate::http) async fn models(State(app): State<App>) -> Json<Value> {
    let sessions = app.sessions();
    let models = sessions.runtimes().listed_models(&sessions.settings().default_runtime).await;
    let entries: Vec<Value> = models
        .iter()
        .map(|model| json!({ "name": model.name, "id": model.id, "multiplier": model.multiplier }))
        .collect();
    Json(json!({ "models": entries }))
}
