//! The portal's routes, exactly as existing clients expect them: GET and POST alike, plain-text bodies, errors as 200
//! with `{"error":"Name"}`.

mod job;
mod live;
mod server;
mod session;

use axum::Json;
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;

use super::openapi::{Operation, Reply};

pub(super) use job::{
    install_entry, job_live, job_live_with_token, job_status, jobs, running_jobs, start_job, start_task, stop_job,
    stop_task, task_live, task_live_with_token, tasks,
};
pub(super) use live::{live, live_with_token};
pub(super) use server::{config, models, stop, test, token};
pub(super) use session::{query, start, stop_session};

/// An error of the portal.
#[derive(Serialize, JsonSchema)]
pub(super) struct PortalError {
    /// For programs.
    error: &'static str,
}

impl PortalError {
    /// No route has this path.
    pub const UNKNOWN_ENDPOINT: Self = Self { error: "Unknown API endpoint" };

    /// An error with this name.
    pub fn new(error: &'static str) -> Self {
        Self { error }
    }
}

/// An error in the portal's format.
fn portal_error(name: &'static str) -> Response {
    Json(PortalError::new(name)).into_response()
}

/// A reply of the portal: what was asked for, or an error with status 200.
pub(super) enum PortalReply<T> {
    Done(T),
    Refused(&'static str),
}

impl<T: Serialize> IntoResponse for PortalReply<T> {
    fn into_response(self) -> Response {
        match self {
            Self::Done(value) => Json(value).into_response(),
            Self::Refused(name) => portal_error(name),
        }
    }
}

impl<T: JsonSchema> Reply for PortalReply<T> {
    fn describe(operation: &mut Operation) {
        Json::<T>::describe(operation);
    }
}

/// Something was closed.
#[derive(Serialize, JsonSchema)]
pub(super) struct Closed {
    /// `Closed`.
    result: &'static str,
}

impl Closed {
    const REPLY: PortalReply<Self> = PortalReply::Done(Self { result: "Closed" });
}

pub(super) fn operations() -> Vec<Operation> {
    [server::operations(), session::operations(), live::operations(), job::operations()].concat()
}
