//! The portal's routes, exactly as existing clients expect them: GET and POST alike, plain-text bodies, errors as 200
//! with `{"error":"Name"}`.

mod job;
mod live;
mod server;
mod session;

use axum::Json;
use axum::response::{IntoResponse, Response};
use serde_json::json;

pub(super) use job::{
    install_entry, job_live, job_live_with_token, job_status, jobs, running_jobs, start_job, start_task, stop_job,
    stop_task, task_live, task_live_with_token, tasks,
};
pub(super) use live::{live, live_with_token};
pub(super) use server::{config, models, stop, test, token};
pub(super) use session::{query, start, stop_session};

/// An error in the portal's format.
fn portal_error(name: &str) -> Response {
    Json(json!({ "error": name })).into_response()
}
