//! Every route.

use axum::Router;
use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, delete, get, on, patch, post, put};

use super::app::App;
use super::dialect::refusal;
use super::error::ApiError;
use super::openapi::{self, Operation};
use super::route_needs::is_models_path;
use super::{anthropic, api, guard, metrics, openai, pages, portal};
use crate::capture::{CaptureError, ErrorKind};

/// The portal's routes take GET and POST alike.
fn either<H, T>(handler: H) -> MethodRouter<App>
where
    H: axum::handler::Handler<T, App>,
    T: 'static,
{
    on(MethodFilter::GET.or(MethodFilter::POST), handler)
}

/// Like [`either`], for routes with side effects, which a HEAD request must not have.
fn action<H, T>(handler: H) -> MethodRouter<App>
where
    H: axum::handler::Handler<T, App>,
    T: 'static,
{
    either(handler).on(MethodFilter::HEAD, wrong_method_for_action).fallback(wrong_method_for_action)
}

pub(super) fn router(app: App) -> Router {
    portal_routes()
        .merge(own_routes())
        .merge(model_routes())
        // Pages.
        .route("/login", get(pages::login_page).post(pages::log_in))
        .fallback(fallback)
        .method_not_allowed_fallback(wrong_method_response)
        .route_layer(middleware::from_fn_with_state(app.clone(), metrics::count))
        .layer(middleware::from_fn_with_state(app.clone(), guard::guard))
        .with_state(app)
}

fn portal_routes() -> Router<App> {
    Router::new()
        .route("/api/test", either(portal::test))
        .route("/api/config", either(portal::config))
        .route("/api/token", either(portal::token))
        .route("/api/stop", action(portal::stop))
        .route("/api/copilot/models", either(portal::models))
        .route("/api/copilot/session/start/{*model}", action(portal::start))
        .route("/api/copilot/session/{id}/stop", action(portal::stop_session))
        .route("/api/copilot/session/stop/{id}", action(portal::stop_session))
        .route("/api/copilot/session/{id}/query", action(portal::query))
        .route("/api/copilot/session/query/{id}", action(portal::query))
        .route("/api/copilot/session/{id}/live", action(portal::live))
        .route("/api/copilot/session/live/{id}", action(portal::live))
        .route("/api/copilot/session/{id}/live/{token}", action(portal::live_with_token))
        .route("/api/copilot/task", either(portal::tasks))
        .route("/api/copilot/task/start/{task}/session/{id}", action(portal::start_task))
        .route("/api/copilot/task/{id}/stop", action(portal::stop_task))
        .route("/api/copilot/task/{id}/live", action(portal::task_live))
        .route("/api/copilot/task/{id}/live/{token}", action(portal::task_live_with_token))
        .route("/api/copilot/job", either(portal::jobs))
        .route("/api/copilot/job/running", either(portal::running_jobs))
        .route("/api/copilot/job/start/{job}", action(portal::start_job))
        .route("/api/copilot/job/{id}/status", either(portal::job_status))
        .route("/api/copilot/job/{id}/stop", action(portal::stop_job))
        .route("/api/copilot/job/{id}/live", action(portal::job_live))
        .route("/api/copilot/job/{id}/live/{token}", action(portal::job_live_with_token))
        .route("/api/copilot/test/installJobsEntry", action(portal::install_entry))
}

fn own_routes() -> Router<App> {
    Router::new()
        .route("/api/copilot/session", post(api::create_session).get(api::list_sessions))
        .route(
            "/api/copilot/session/{id}",
            get(api::session_details).merge(patch(api::update_session).delete(api::delete_session)),
        )
        .route("/api/copilot/session/{id}/prompt", post(api::prompt))
        .route("/api/copilot/session/{id}/prompt/{prompt}", patch(api::change_prompt).merge(delete(api::cancel_prompt)))
        .route("/api/copilot/session/{id}/queue", put(api::order_queue))
        .route("/api/copilot/session/{id}/files", get(api::files))
        .route("/api/copilot/session/{id}/interrupt", post(api::interrupt))
        .route("/api/copilot/session/{id}/reopen", post(api::reopen))
        .route("/api/copilot/session/{id}/ask-again", post(api::ask_again))
        .route("/api/copilot/session/{id}/retry", post(api::retry))
        .route("/api/copilot/session/{id}/seen", post(api::mark_seen))
        .route("/api/copilot/session/{id}/events", get(api::session_events))
        .route("/api/copilot/session/{id}/log", get(api::log))
        .route("/api/copilot/session/{id}/export", get(api::export))
        .route("/api/copilot/session/{id}/blob/{hash}", get(api::blob))
        .route("/api/copilot/session/{id}/block/{file}", get(api::block))
        .route("/api/copilot/session/{id}/blocks", get(api::blocks))
        .route("/api/copilot/session/{id}/outline", get(api::outline))
        .route("/api/copilot/session/{id}/fork", post(api::fork))
        .route("/api/copilot/session/{id}/changes", get(api::changes))
        .route("/api/copilot/session/{id}/changes/file", get(api::changed_file))
        .route("/api/copilot/session/{id}/changes/patch", get(api::changes_patch))
        .route("/api/copilot/session/{id}/changes/revert", post(api::revert_change))
        .route("/api/copilot/session/{id}/changes/undo", post(api::undo_revert))
        .route("/api/copilot/session/{id}/permission/{request}", post(api::answer_permission))
        .route("/api/copilot/session/{id}/answer/{request}", post(api::answer_question))
        .route("/api/copilot/search", get(api::search))
        .route("/api/jobs", get(api::list_jobs).post(api::start_job))
        .route("/api/jobs/entry", get(api::entry))
        .route("/api/jobs/schema.json", get(api::entry_schema))
        .route("/api/jobs/trust", post(api::trust_entry))
        .route("/api/jobs/{id}", get(api::job_details))
        .route("/api/jobs/{id}/log", get(api::job_log))
        .route("/api/jobs/{id}/events", get(api::job_events))
        .route("/api/jobs/{id}/gate/{file}", get(api::gate_prompt))
        .route("/api/jobs/{id}/stop", post(api::stop_job))
        .route("/api/jobs/{id}/retry", post(api::retry_job))
        .route("/api/jobs/{id}/approve", post(api::approve_job))
        .route("/api/jobs/{id}/reject", post(api::reject_job))
        .route("/api/events", get(api::inbox))
        .route("/api/prompts", get(api::prompt_templates))
        .route("/api/prompts/{name}", put(api::save_prompt_template).merge(delete(api::remove_prompt_template)))
        .route("/api/folders", get(api::folders))
        .route("/api/folder-rules", get(api::folder_rules))
        .route("/api/folder-rules/{id}", delete(api::remove_folder_rule))
        .route("/api/runtimes", get(api::runtimes))
        .route(
            "/api/runtimes/{name}/login",
            get(api::login_progress).merge(post(api::log_in).delete(api::cancel_login)),
        )
        .route(
            "/api/runtimes/{name}/install",
            get(api::install_progress).merge(post(api::install).delete(api::cancel_install)),
        )
        .route("/api/models", get(api::models))
        .route("/api/agent-sessions", get(api::agent_sessions))
        .route("/api/agent-sessions/{runtime}/{id}/adopt", post(api::adopt))
        .route("/api/doctor", get(api::doctor))
        .route("/api/conformance", get(api::conformance))
        .route("/api/usage", get(api::usage))
        .route("/api/settings", get(api::settings).merge(patch(api::change_settings)))
        .route("/api/captures", get(api::captures))
        .route("/api/notifications", get(api::notifications))
        .route("/api/notifications/test", post(api::test_notification))
        .route("/api/push", get(api::push_overview).post(api::add_browser))
        .route("/api/push/{id}", delete(api::remove_browser))
        .route("/api/providers/{name}/test", post(api::test_provider))
        .route("/api/health", get(api::health))
        .route("/api/login-code", post(api::login_code))
        .route("/api/ticket", post(api::ticket))
        .route("/api/tokens", get(api::list_tokens).post(api::create_token))
        .route("/api/tokens/{id}", delete(api::revoke_token))
        .route("/api/openapi.json", get(openapi::openapi_document))
        .route("/api/docs", get(pages::api_docs))
        .route("/metrics", get(metrics::metrics))
        .route_layer(middleware::from_fn(refuse_unknown_query))
}

/// The routes of the model API, in the dialects of OpenAI and Anthropic. Clients add query parameters of their own.
fn model_routes() -> Router<App> {
    Router::new()
        .route("/v1/chat/completions", post(openai::chat_completions).fallback(wrong_model_method))
        .route("/v1/responses", post(openai::responses).fallback(wrong_model_method))
        .route("/v1/messages", post(anthropic::messages).fallback(wrong_model_method))
        .route("/v1/messages/count_tokens", post(anthropic::count_tokens).fallback(wrong_model_method))
        .route("/v1/models", get(openai::list_models).fallback(wrong_model_method))
        .route("/v1/models/{*id}", get(openai::model).fallback(wrong_model_method))
}

/// The operation of every route.
pub(super) fn operations() -> Vec<Operation> {
    [
        portal::operations(),
        api::operations(),
        openai::operations(),
        anthropic::operations(),
        openapi::operations(),
        metrics::operations(),
        pages::operations(),
    ]
    .concat()
}

/// Flightdeck's own routes whose GET takes query parameters. Each accepts its own and refuses all others.
const WITH_QUERY: &[&str] = &[
    "/api/copilot/session",
    "/api/copilot/session/{id}/events",
    "/api/copilot/session/{id}/log",
    "/api/copilot/session/{id}/export",
    "/api/copilot/search",
    "/api/copilot/session/{id}/block/{file}",
    "/api/copilot/session/{id}/blocks",
    "/api/copilot/session/{id}/changes",
    "/api/copilot/session/{id}/changes/file",
    "/api/copilot/session/{id}/changes/patch",
    "/api/copilot/session/{id}/files",
    "/api/jobs",
    "/api/jobs/entry",
    "/api/jobs/{id}/log",
    "/api/jobs/{id}/events",
    "/api/folders",
    "/api/models",
    "/api/agent-sessions",
    "/api/doctor",
    "/api/usage",
    "/api/captures",
    "/api/notifications",
];

/// An unknown parameter is probably misspelt, so it is an error.
async fn refuse_unknown_query(path: MatchedPath, request: Request, next: Next) -> Response {
    let has_query = request.uri().query().is_some_and(|query| !query.is_empty());
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    if has_query && !(reads && WITH_QUERY.contains(&path.as_str())) {
        let message = "This route takes no query parameters; docs/api.md lists those of each route.";
        return ApiError::bad_request("InvalidQuery", message).into_response();
    }
    next.run(request).await
}

async fn fallback(request: Request) -> Response {
    let path = request.uri().path();
    if path == "/api" || path.starts_with("/api/") {
        return (StatusCode::NOT_FOUND, axum::Json(portal::PortalError::UNKNOWN_ENDPOINT)).into_response();
    }
    if is_models_path(path) {
        let message = "Unknown route; docs/capture.md lists the routes of the model API.";
        return refusal(path, request.headers(), &CaptureError::new(ErrorKind::NotFound, message));
    }
    pages::page(request.method(), path, request.headers())
}

async fn wrong_method_response(uri: Uri, headers: HeaderMap) -> Response {
    let path = uri.path();
    if is_models_path(path) {
        refusal(path, &headers, &CaptureError::from(wrong_method()))
    } else {
        wrong_method().into_response()
    }
}

fn wrong_method() -> ApiError {
    ApiError::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "MethodNotAllowed",
        "Method not allowed for this route; docs/api.md lists the methods of each route.",
    )
}

/// Like [`wrong_method`], in the shape of the dialect. The library adds the `Allow` header.
async fn wrong_model_method(request: Request) -> Response {
    let (method, path) = (request.method(), request.uri().path());
    let message = format!("{method} is not allowed for {path}; docs/capture.md lists the methods of each route.");
    let mut response = refusal(path, request.headers(), &CaptureError::new(ErrorKind::Invalid, message));
    *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
    response
}

/// Sets the `Allow` header, because the library would add HEAD to it.
async fn wrong_method_for_action() -> Response {
    ([(header::ALLOW, "GET, POST")], wrong_method()).into_response()
}
