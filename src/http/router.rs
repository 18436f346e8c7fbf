//! Every route, in one look.

use axum::Router;
use axum::http::StatusCode;
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, get, on, patch, post};

use super::app::App;
use super::error::ApiError;
use super::{api, guard, metrics, pages, portal};

/// The portal's routes take GET and POST alike.
fn either<H, T>(handler: H) -> MethodRouter<App>
where
    H: axum::handler::Handler<T, App>,
    T: 'static,
{
    // Without this a HEAD would run the GET, and asking about `stop` would stop the server.
    on(MethodFilter::GET.or(MethodFilter::POST), handler).on(MethodFilter::HEAD, wrong_method)
}

pub(super) fn router(app: App) -> Router {
    Router::new()
        // The portal.
        .route("/api/test", either(portal::test))
        .route("/api/config", either(portal::config))
        .route("/api/token", either(portal::token))
        .route("/api/stop", either(portal::stop))
        .route("/api/copilot/models", either(portal::models))
        .route("/api/copilot/session/start/{*model}", either(portal::start))
        .route("/api/copilot/session/{id}/stop", either(portal::stop_session))
        .route("/api/copilot/session/stop/{id}", either(portal::stop_session))
        .route("/api/copilot/session/{id}/query", either(portal::query))
        .route("/api/copilot/session/query/{id}", either(portal::query))
        .route("/api/copilot/session/{id}/live", either(portal::live))
        .route("/api/copilot/session/live/{id}", either(portal::live))
        .route("/api/copilot/session/{id}/live/{token}", either(portal::live_with_token))
        // Our own.
        .route("/api/copilot/session", post(api::create_session).get(api::list_sessions))
        .route(
            "/api/copilot/session/{id}",
            get(api::session_details).merge(patch(api::update_session).delete(api::delete_session)),
        )
        .route("/api/copilot/session/{id}/prompt", post(api::prompt))
        .route("/api/copilot/session/{id}/interrupt", post(api::interrupt))
        .route("/api/copilot/session/{id}/reopen", post(api::reopen))
        .route("/api/copilot/session/{id}/retry", post(api::retry))
        .route("/api/copilot/session/{id}/events", get(api::session_events))
        .route("/api/copilot/session/{id}/log", get(api::log))
        .route("/api/copilot/session/{id}/blob/{hash}", get(api::blob))
        .route("/api/copilot/session/{id}/block/{file}", get(api::block))
        .route("/api/copilot/session/{id}/changes", get(api::changes))
        .route("/api/copilot/session/{id}/changes/file", get(api::changed_file))
        .route("/api/copilot/session/{id}/permission/{request}", post(api::answer_permission))
        .route("/api/copilot/session/{id}/answer/{request}", post(api::answer_question))
        .route("/api/events", get(api::inbox))
        .route("/api/folders", get(api::folders))
        .route("/api/runtimes", get(api::runtimes))
        .route(
            "/api/runtimes/{name}/login",
            get(api::login_progress).merge(post(api::log_in).delete(api::cancel_login)),
        )
        .route("/api/models", get(api::models))
        .route("/api/agent-sessions", get(api::agent_sessions))
        .route("/api/agent-sessions/{runtime}/{id}/adopt", post(api::adopt))
        .route("/api/doctor", get(api::doctor))
        .route("/api/usage", get(api::usage))
        .route("/api/health", get(api::health))
        .route("/api/login-code", post(api::login_code))
        .route("/api/ticket", post(api::ticket))
        .route("/metrics", get(metrics::metrics))
        // Pages.
        .route("/login", get(pages::login_page).post(pages::log_in))
        .fallback(fallback)
        .method_not_allowed_fallback(wrong_method)
        .route_layer(middleware::from_fn_with_state(app.clone(), metrics::count))
        .layer(middleware::from_fn_with_state(app.clone(), guard::guard))
        .with_state(app)
}

async fn fallback(request: axum::extract::Request) -> Response {
    let path = request.uri().path();
    if path == "/api" || path.starts_with("/api/") {
        let body = axum::Json(serde_json::json!({ "error": "Unknown API endpoint" }));
        return (StatusCode::NOT_FOUND, body).into_response();
    }
    pages::page(request.method(), path, request.headers())
}

async fn wrong_method() -> ApiError {
    ApiError::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "MethodNotAllowed",
        "This route exists, but not for that method; docs/api.md lists routes with their methods.",
    )
}
