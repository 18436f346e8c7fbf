//! The user's own model providers: a test of one.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;

use crate::agent::agent_environment;
use crate::agent::copilot::check_provider;
use crate::http::app::App;
use crate::http::body::{NoBody, PathPart};
use crate::http::error::{ApiError, ApiResult};
use crate::http::openapi::{Operation, Tag, post};
use crate::model::Check;

/// `POST /api/providers/{name}/test`: asks a configured provider for its models.
pub(in crate::http) async fn test_provider(
    State(app): State<App>,
    PathPart(name): PathPart<String>,
    NoBody: NoBody,
) -> ApiResult<Json<Check>> {
    let loaded = app.config().loaded();
    let Some(entry) = loaded.config.providers.get(&name) else {
        let names: Vec<&str> = loaded.config.providers.keys().map(String::as_str).collect();
        let known = if names.is_empty() { "none is configured".to_owned() } else { names.join(", ") };
        let message = format!("Provider {name:?} not found; known providers: {known}.");
        return Err(ApiError::new(StatusCode::NOT_FOUND, "ProviderNotFound", message));
    };
    let environment = agent_environment(std::env::vars(), &loaded.config.agents.environment);
    let variable = &entry.api_key_variable;
    if !variable.is_empty() && !environment.contains_key(variable) {
        let message = format!("the environment variable {variable} is not set for the server");
        let hint = "set it and restart the server, or enter the key itself";
        return Ok(Json(Check::warning(name, message, hint)));
    }
    Ok(Json(check_provider(name, entry.for_agents(&environment)).await))
}

pub(super) fn operations() -> Vec<Operation> {
    vec![
        post("/api/providers/{name}/test", test_provider)
            .named("testProvider", Tag::Settings, "Test a model provider")
            .details("Asks a configured provider for its models.")
            .path_part("name", "The name of a configured provider.")
            .error(404, "ProviderNotFound"),
    ]
}
