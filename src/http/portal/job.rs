//! Jobs and tasks, as the portal's clients know them.

use std::path::PathBuf;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::live::{DeliveryBody, LiveQuery, check_token};
use super::portal_error;
use crate::http::app::App;
use crate::http::auth::Caller;
use crate::http::body::{PathPart, QueryPart, TextBody};
use crate::http::error::{ApiError, ApiResult};
use crate::jobs::chart::chart;
use crate::jobs::{InstallError, JobError, NewJobRequest, Run, RunDelivery, View};
use crate::model::{JobId, JobStatus, SessionId, TaskId};
use crate::session::LiveError;
use crate::store::JobSummary;

/// Which folder's entry. Other parameters are ignored, as on all routes of the portal.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct FolderQuery {
    working_directory: Option<PathBuf>,
}

impl FolderQuery {
    fn folder(&self) -> Option<PathBuf> {
        self.working_directory.clone().filter(|folder| folder.is_absolute())
    }
}

pub(in crate::http) async fn tasks(
    State(app): State<App>,
    QueryPart(query): QueryPart<FolderQuery>,
) -> ApiResult<Json<Value>> {
    let tasks = app.jobs().tasks(query.folder().as_deref()).await.map_err(exception)?;
    Ok(Json(json!({ "tasks": tasks })))
}

pub(in crate::http) async fn jobs(
    State(app): State<App>,
    QueryPart(query): QueryPart<FolderQuery>,
) -> ApiResult<Json<Value>> {
    let checked = app.jobs().entries().in_force(query.folder().as_deref()).await.map_err(exception)?;
    let entry = checked.entry();
    let charts: Map<String, Value> =
        entry.jobs.iter().map(|(name, job)| (name.clone(), json!({ "nodes": chart(&job.work) }))).collect();
    Ok(Json(json!({ "grid": entry.grid, "jobs": entry.jobs, "chart": charts })))
}

/// A failure that the portal reports as an exception: 500 with a text.
fn exception(error: JobError) -> ApiError {
    match error {
        JobError::NoEntry | JobError::InvalidEntry(_) => {
            ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "NoEntry", error.to_string())
        }
        other => other.into(),
    }
}

fn running(job: &JobSummary) -> Value {
    json!({
        "jobId": job.id, "jobName": job.name, "startTime": job.run.started_at, "status": job.run.status,
    })
}

pub(in crate::http) async fn running_jobs(State(app): State<App>) -> ApiResult<Json<Value>> {
    let jobs = app.jobs().running().await?;
    Ok(Json(json!({ "jobs": jobs.iter().map(running).collect::<Vec<_>>() })))
}

/// The job with that id, or `None`, also for a malformed id.
async fn find_job(app: &App, id: &str) -> ApiResult<Option<(JobId, Arc<Run>)>> {
    let Ok(id) = id.parse::<JobId>() else { return Ok(None) };
    match app.jobs().job(id).await {
        Ok(run) => Ok(Some((id, run))),
        Err(JobError::NotFound) => Ok(None),
        Err(other) => Err(other.into()),
    }
}

async fn find_task(app: &App, id: &str) -> ApiResult<Option<(Arc<Run>, View)>> {
    let Ok(id) = id.parse::<TaskId>() else { return Ok(None) };
    match app.jobs().task(id).await {
        Ok(found) => Ok(Some(found)),
        Err(JobError::TaskNotFound | JobError::NotFound) => Ok(None),
        Err(other) => Err(other.into()),
    }
}

pub(in crate::http) async fn job_status(State(app): State<App>, PathPart(id): PathPart<String>) -> ApiResult<Response> {
    let Some((id, run)) = find_job(&app, &id).await? else { return Ok(portal_error("JobNotFound")) };
    let summary = app.jobs().stored(id).await?.summary;
    let tasks: Vec<Value> = run
        .log()
        .progress()
        .works
        .iter()
        .map(|(work_id, work)| {
            let mut task = json!({ "workIdInJob": work_id, "status": work.status });
            if work.status == JobStatus::Running {
                task["taskId"] = json!(work.task);
            }
            task
        })
        .collect();
    let mut status = running(&summary);
    status["tasks"] = json!(tasks);
    Ok(Json(status).into_response())
}

pub(in crate::http) async fn start_job(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    PathPart(name): PathPart<String>,
    TextBody(body): TextBody,
) -> ApiResult<Response> {
    let (folder, user_input) = body.split_once('\n').unwrap_or((&body, ""));
    let request = NewJobRequest {
        name,
        working_directory: folder.trim().to_owned(),
        user_input: user_input.to_owned(),
        origin: caller.origin(),
        takes_any_input: true,
        ..NewJobRequest::default()
    };
    match app.jobs().start(request).await {
        Ok(id) => Ok(Json(json!({ "jobId": id })).into_response()),
        // As the portal has it, for a folder that cannot be used too.
        Err(JobError::NoSuchJob { .. } | JobError::WorkingDirectory(_) | JobError::NoWorkingDirectory) => {
            Ok(portal_error("JobNotFound"))
        }
        Err(error @ JobError::EntryNotTrusted { .. }) => {
            Ok(Json(json!({ "jobError": error.to_string() })).into_response())
        }
        Err(other) => Err(exception(other)),
    }
}

pub(in crate::http) async fn stop_job(State(app): State<App>, PathPart(id): PathPart<String>) -> ApiResult<Response> {
    let Ok(id) = id.parse::<JobId>() else { return Ok(portal_error("JobNotFound")) };
    match app.jobs().stop(id).await {
        Ok(_) => Ok(Json(json!({ "result": "Closed" })).into_response()),
        Err(JobError::NotFound) => Ok(portal_error("JobNotFound")),
        Err(other) => Err(other.into()),
    }
}

pub(in crate::http) async fn start_task(
    State(app): State<App>,
    PathPart((name, session)): PathPart<(String, String)>,
    TextBody(user_input): TextBody,
) -> ApiResult<Response> {
    let Ok(session) = session.parse::<SessionId>() else { return Ok(portal_error("SessionNotFound")) };
    match app.jobs().start_task(&name, session, &user_input).await {
        Ok(id) => Ok(Json(json!({ "taskId": id })).into_response()),
        Err(JobError::SessionNotFound) => Ok(portal_error("SessionNotFound")),
        Err(error @ (JobError::NoSuchTask { .. } | JobError::NoJobTools { .. })) => {
            Ok(Json(json!({ "taskError": error.to_string() })).into_response())
        }
        Err(other) => Err(exception(other)),
    }
}

pub(in crate::http) async fn stop_task(State(app): State<App>, PathPart(id): PathPart<String>) -> ApiResult<Response> {
    let Ok(id) = id.parse::<TaskId>() else { return Ok(portal_error("TaskNotFound")) };
    match app.jobs().stop_task(id).await {
        Ok(()) => Ok(Json(json!({ "result": "Closed" })).into_response()),
        Err(JobError::TaskCannotClose) => Ok(portal_error("TaskCannotClose")),
        Err(JobError::TaskNotFound | JobError::NotFound) => Ok(portal_error("TaskNotFound")),
        Err(other) => Err(other.into()),
    }
}

/// The names of the portal's errors for a kind of run.
#[derive(Clone, Copy)]
struct Names {
    not_found: &'static str,
    closed: &'static str,
}

const JOB: Names = Names { not_found: "JobNotFound", closed: "JobsClosed" };
const TASK: Names = Names { not_found: "TaskNotFound", closed: "TaskClosed" };

pub(in crate::http) async fn job_live(State(app): State<App>, PathPart(id): PathPart<String>) -> ApiResult<Response> {
    let Some((_, run)) = find_job(&app, &id).await? else { return Ok(portal_error(JOB.not_found)) };
    one(run.live_one(View::Job).await, JOB)
}

pub(in crate::http) async fn task_live(State(app): State<App>, PathPart(id): PathPart<String>) -> ApiResult<Response> {
    let Some((run, view)) = find_task(&app, &id).await? else { return Ok(portal_error(TASK.not_found)) };
    one(run.live_one(view).await, TASK)
}

pub(in crate::http) async fn job_live_with_token(
    State(app): State<App>,
    PathPart((id, token)): PathPart<(String, String)>,
    QueryPart(LiveQuery { after, .. }): QueryPart<LiveQuery>,
) -> ApiResult<Response> {
    check_token(&token)?;
    let Some((_, run)) = find_job(&app, &id).await? else { return Ok(portal_error(JOB.not_found)) };
    batch(run.live_batch(View::Job, &token, after).await, JOB)
}

pub(in crate::http) async fn task_live_with_token(
    State(app): State<App>,
    PathPart((id, token)): PathPart<(String, String)>,
    QueryPart(LiveQuery { after, .. }): QueryPart<LiveQuery>,
) -> ApiResult<Response> {
    check_token(&token)?;
    let Some((run, view)) = find_task(&app, &id).await? else { return Ok(portal_error(TASK.not_found)) };
    batch(run.live_batch(view, &token, after).await, TASK)
}

fn one(delivery: Result<RunDelivery, LiveError>, names: Names) -> ApiResult<Response> {
    match delivery {
        Ok(delivery) => {
            let body = delivery.responses.first().map(Value::to_string).unwrap_or_default();
            Ok(deliver(body, delivery))
        }
        Err(error) => refuse(error, names),
    }
}

fn batch(delivery: Result<RunDelivery, LiveError>, names: Names) -> ApiResult<Response> {
    match delivery {
        Ok(delivery) => {
            let body = json!({ "responses": delivery.responses, "lastSeq": delivery.through }).to_string();
            Ok(deliver(body, delivery))
        }
        Err(error) => refuse(error, names),
    }
}

fn refuse(error: LiveError, names: Names) -> ApiResult<Response> {
    match error {
        LiveError::NotFound => Ok(portal_error(names.not_found)),
        LiveError::Closed => Ok(portal_error(names.closed)),
        LiveError::Timeout => Ok(portal_error("HttpRequestTimeout")),
        LiveError::ParallelCall => Ok(portal_error("ParallelCallNotSupported")),
        other => Err(other.into()),
    }
}

fn deliver(body: String, delivery: RunDelivery) -> Response {
    let body = Body::new(DeliveryBody::new(Bytes::from(body).into(), move || delivery.delivered()));
    (StatusCode::OK, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}

/// Installs an entry for a test. Only with `--test`.
pub(in crate::http) async fn install_entry(State(app): State<App>, TextBody(path): TextBody) -> ApiResult<Response> {
    if !app.jobs().entries().can_install() {
        let body = Json(json!({ "error": "Unknown API endpoint" }));
        return Ok((StatusCode::NOT_FOUND, body).into_response());
    }
    let installed = if app.jobs().has_open_sessions().await? {
        Err(InstallError::Rejected)
    } else {
        app.jobs().entries().install(&path).await
    };
    Ok(Json(match installed {
        Ok(()) => json!({ "result": "OK" }),
        Err(InstallError::InvalidPath) => json!({
            "result": "InvalidatePath",
            "error": "The body must be the absolute path of a file below the test folder (--test-dir).",
        }),
        Err(InstallError::InvalidEntry(error)) => json!({ "result": "InvalidateEntry", "error": error }),
        Err(InstallError::Rejected) => json!({
            "result": "Rejected",
            "error": "A session is open; close all sessions that were opened since the server started.",
        }),
    })
    .into_response())
}
