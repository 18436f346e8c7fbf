//! Jobs and tasks, as the portal's clients know them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use bytes::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::live::{DeliveryBody, LiveQuery, check_token, live_errors, with_token};
use super::{Closed, PortalError, PortalReply, portal_error};
use crate::http::app::App;
use crate::http::auth::Caller;
use crate::http::body::{PathPart, QueryPart, TextBody};
use crate::http::error::{ApiError, ApiResult};
use crate::http::openapi::{Operation, Tag, portal};
use crate::jobs::chart::{ChartNode, chart};
use crate::jobs::entry::{GridRow, Job};
use crate::jobs::{InstallError, JobError, NewJobRequest, Run, RunDelivery, TaskOffer, View};
use crate::model::{JobId, JobStatus, Seq, SessionId, TaskId, Timestamp};
use crate::session::LiveError;
use crate::store::JobSummary;

/// Which folder's entry. Other parameters are ignored, as on all routes of the portal.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct FolderQuery {
    /// An absolute path.
    working_directory: Option<PathBuf>,
}

impl FolderQuery {
    fn folder(&self) -> Option<PathBuf> {
        self.working_directory.clone().filter(|folder| folder.is_absolute())
    }
}

/// The tasks of an entry.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct TaskOffers {
    tasks: Vec<TaskOffer>,
}

pub(in crate::http) async fn tasks(
    State(app): State<App>,
    QueryPart(query): QueryPart<FolderQuery>,
) -> ApiResult<Json<TaskOffers>> {
    let tasks = app.jobs().tasks(query.folder().as_deref()).await.map_err(exception)?;
    Ok(Json(TaskOffers { tasks }))
}

/// The jobs of an entry.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct JobOffers {
    /// The jobs as the page shows them.
    grid: Vec<GridRow>,
    /// By name.
    jobs: BTreeMap<String, Job>,
    /// By the name of the job.
    chart: BTreeMap<String, JobChart>,
}

/// The flow chart of a job.
#[derive(Serialize, JsonSchema)]
struct JobChart {
    nodes: Vec<ChartNode>,
}

pub(in crate::http) async fn jobs(
    State(app): State<App>,
    QueryPart(query): QueryPart<FolderQuery>,
) -> ApiResult<Json<JobOffers>> {
    let checked = app.jobs().entries().in_force(query.folder().as_deref()).await.map_err(exception)?;
    let entry = checked.entry();
    let charts = entry.jobs.iter().map(|(name, job)| (name.clone(), JobChart { nodes: chart(&job.work) }));
    Ok(Json(JobOffers { grid: entry.grid.clone(), jobs: entry.jobs.clone(), chart: charts.collect() }))
}

/// A failure that the portal reports as an exception: 500 with a text.
fn exception(error: JobError) -> ApiError {
    match error {
        JobError::NoEntry => ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "NoEntry", error.to_string()),
        JobError::InvalidEntry(_) => {
            ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "InvalidEntry", error.to_string())
        }
        other => other.into(),
    }
}

/// Jobs that run, or ended less than an hour ago.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct RunningJobs {
    jobs: Vec<RunningJob>,
}

/// A job that runs or ran.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RunningJob {
    job_id: JobId,
    job_name: String,
    start_time: Timestamp,
    status: JobStatus,
}

fn running(job: JobSummary) -> RunningJob {
    RunningJob { job_id: job.id, job_name: job.name, start_time: job.run.started_at, status: job.run.status }
}

pub(in crate::http) async fn running_jobs(State(app): State<App>) -> ApiResult<Json<RunningJobs>> {
    let jobs = app.jobs().running().await?;
    Ok(Json(RunningJobs { jobs: jobs.into_iter().map(running).collect() }))
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

/// A job with the works that started.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct JobProgress {
    #[serde(flatten)]
    job: RunningJob,
    tasks: Vec<WorkProgress>,
}

/// A work that started.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct WorkProgress {
    work_id_in_job: u32,
    /// While it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<TaskId>,
    status: JobStatus,
}

pub(in crate::http) async fn job_status(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
) -> ApiResult<PortalReply<JobProgress>> {
    let Some((id, run)) = find_job(&app, &id).await? else { return Ok(PortalReply::Refused("JobNotFound")) };
    let summary = app.jobs().stored(id).await?.summary;
    let works = run.log().progress().works;
    let tasks = works.iter().map(|(work_id, work)| WorkProgress {
        work_id_in_job: *work_id,
        task_id: Some(work.task).filter(|_| work.status == JobStatus::Running),
        status: work.status,
    });
    Ok(PortalReply::Done(JobProgress { tasks: tasks.collect(), job: running(summary) }))
}

/// A job that was started, or why it could not be.
#[derive(Serialize, JsonSchema)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub(in crate::http) enum JobStart {
    /// It runs.
    Started { job_id: JobId },
    /// For people.
    Failed { job_error: String },
}

pub(in crate::http) async fn start_job(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    PathPart(name): PathPart<String>,
    TextBody(body): TextBody,
) -> ApiResult<PortalReply<JobStart>> {
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
        Ok(job_id) => Ok(PortalReply::Done(JobStart::Started { job_id })),
        // As the portal has it, for a folder that cannot be used too.
        Err(JobError::NoSuchJob { .. } | JobError::WorkingDirectory(_) | JobError::NoWorkingDirectory) => {
            Ok(PortalReply::Refused("JobNotFound"))
        }
        Err(error @ JobError::EntryNotTrusted { .. }) => {
            Ok(PortalReply::Done(JobStart::Failed { job_error: error.to_string() }))
        }
        Err(other) => Err(exception(other)),
    }
}

pub(in crate::http) async fn stop_job(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
) -> ApiResult<PortalReply<Closed>> {
    let Ok(id) = id.parse::<JobId>() else { return Ok(PortalReply::Refused("JobNotFound")) };
    match app.jobs().stop(id).await {
        Ok(_) => Ok(Closed::REPLY),
        Err(JobError::NotFound) => Ok(PortalReply::Refused("JobNotFound")),
        Err(other) => Err(other.into()),
    }
}

/// A task that was started, or why it could not be.
#[derive(Serialize, JsonSchema)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub(in crate::http) enum TaskStart {
    /// It runs.
    Started { task_id: TaskId },
    /// For people.
    Failed { task_error: String },
}

pub(in crate::http) async fn start_task(
    State(app): State<App>,
    PathPart((name, session)): PathPart<(String, String)>,
    TextBody(user_input): TextBody,
) -> ApiResult<PortalReply<TaskStart>> {
    let Ok(session) = session.parse::<SessionId>() else { return Ok(PortalReply::Refused("SessionNotFound")) };
    match app.jobs().start_task(&name, session, &user_input).await {
        Ok(task_id) => Ok(PortalReply::Done(TaskStart::Started { task_id })),
        Err(JobError::SessionNotFound) => Ok(PortalReply::Refused("SessionNotFound")),
        Err(error @ (JobError::NoSuchTask { .. } | JobError::NoJobTools { .. })) => {
            Ok(PortalReply::Done(TaskStart::Failed { task_error: error.to_string() }))
        }
        Err(other) => Err(exception(other)),
    }
}

pub(in crate::http) async fn stop_task(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
) -> ApiResult<PortalReply<Closed>> {
    let Ok(id) = id.parse::<TaskId>() else { return Ok(PortalReply::Refused("TaskNotFound")) };
    match app.jobs().stop_task(id).await {
        Ok(()) => Ok(Closed::REPLY),
        Err(JobError::TaskCannotClose) => Ok(PortalReply::Refused("TaskCannotClose")),
        Err(JobError::TaskNotFound | JobError::NotFound) => Ok(PortalReply::Refused("TaskNotFound")),
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

/// A response of a job.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum JobResponse {
    Callback(JobCallback),
    #[serde(rename_all = "camelCase")]
    Error {
        /// For people.
        job_error: String,
    },
}

/// What happened in a job.
#[derive(JsonSchema)]
#[serde(tag = "callback", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[expect(dead_code, reason = "only its schema is used")]
enum JobCallback {
    WorkStarted { work_id: u32, task_id: TaskId },
    WorkStopped { work_id: u32, succeeded: bool },
    JobSucceeded {},
    JobFailed {},
    JobCanceled {},
}

/// A response of a task.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum TaskResponse {
    Callback(TaskCallback),
    #[serde(rename_all = "camelCase")]
    Error {
        /// For people.
        task_error: String,
    },
}

/// What happened in a task.
#[derive(JsonSchema)]
#[serde(tag = "callback", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[expect(dead_code, clippy::enum_variant_names, reason = "only its schema is used, with the portal's names")]
enum TaskCallback {
    TaskDecision { reason: String },
    TaskSessionStarted { session_id: SessionId, is_driving: bool },
    TaskSessionStopped { session_id: SessionId, succeeded: bool },
    TaskSucceeded {},
    TaskFailed {},
}

/// Several responses.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "BatchOf{T}")]
struct RunBatch<'a, T> {
    responses: &'a [T],
    /// The number of the last event that was read.
    last_seq: Seq,
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
            let batch = RunBatch { responses: &delivery.responses, last_seq: delivery.through };
            let body = serde_json::to_string(&batch).expect("plain values");
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

/// What became of an entry.
#[derive(Serialize, JsonSchema)]
struct Installation {
    /// `OK`, `InvalidatePath`, `InvalidateEntry` or `Rejected`.
    result: &'static str,
    /// Why it was not installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Installs an entry for a test. Only with `--test`.
pub(in crate::http) async fn install_entry(State(app): State<App>, TextBody(path): TextBody) -> ApiResult<Response> {
    if !app.jobs().entries().can_install() {
        return Ok((StatusCode::NOT_FOUND, Json(PortalError::UNKNOWN_ENDPOINT)).into_response());
    }
    let installed = if app.jobs().has_open_sessions().await? {
        Err(InstallError::Rejected)
    } else {
        app.jobs().entries().install(&path).await
    };
    let (result, error) = match installed {
        Ok(()) => ("OK", None),
        Err(InstallError::InvalidPath) => {
            let message = "The body must be the absolute path of a file below the test folder (--test-dir).";
            ("InvalidatePath", Some(message.to_owned()))
        }
        Err(InstallError::InvalidEntry(error)) => ("InvalidateEntry", Some(error)),
        Err(InstallError::Rejected) => {
            let message = "A session is open; close all sessions that were opened since the server started.";
            ("Rejected", Some(message.to_owned()))
        }
    };
    Ok(Json(Installation { result, error }).into_response())
}

pub(super) fn operations() -> Vec<Operation> {
    let of_entry =
        |operation: Operation| operation.error(500, "NoEntry").error(500, "InvalidEntry").fails_with::<JobError>();
    let live_job = live_errors(JOB.not_found, JOB.closed);
    let live_task = live_errors(TASK.not_found, TASK.closed);
    vec![
        of_entry(portal("/api/copilot/task", tasks)).named("portalTasks", Tag::Portal, "List tasks"),
        of_entry(portal("/api/copilot/task/start/{task}/session/{id}", start_task))
            .named("portalStartTask", Tag::Portal, "Run a task in an open session")
            .path_part("task", "The name of a task.")
            .takes_text("The user input.")
            .portal_errors(&["SessionNotFound"]),
        portal("/api/copilot/task/{id}/stop", stop_task)
            .named("portalStopTask", Tag::Portal, "Stop a task")
            .portal_errors(&["TaskNotFound", "TaskCannotClose"])
            .fails_with::<JobError>(),
        portal("/api/copilot/task/{id}/live", task_live)
            .named("portalTaskLive", Tag::Portal, "Read one response of a task")
            .replies_with::<TaskResponse>(200, "application/json")
            .portal_errors(&live_task)
            .fails_with::<LiveError>(),
        with_token(portal("/api/copilot/task/{id}/live/{token}", task_live_with_token))
            .named("portalTaskLiveBatch", Tag::Portal, "Read a batch of responses of a task")
            .replies_with::<RunBatch<'_, TaskResponse>>(200, "application/json")
            .portal_errors(&live_task),
        of_entry(portal("/api/copilot/job", jobs)).named("portalJobs", Tag::Portal, "List jobs that can be started"),
        portal("/api/copilot/job/running", running_jobs)
            .named("portalRunningJobs", Tag::Portal, "List running jobs")
            .details("Jobs that run, or ended less than an hour ago.")
            .fails_with::<JobError>(),
        of_entry(portal("/api/copilot/job/start/{job}", start_job))
            .named("portalStartJob", Tag::Portal, "Start a job")
            .path_part("job", "The name of a job.")
            .takes_text("The working directory in the first line, then the user input.")
            .portal_errors(&["JobNotFound"])
            .error(429, "TooManySessions"),
        portal("/api/copilot/job/{id}/status", job_status)
            .named("portalJobStatus", Tag::Portal, "Show the status of a job")
            .portal_errors(&["JobNotFound"])
            .fails_with::<JobError>(),
        portal("/api/copilot/job/{id}/stop", stop_job)
            .named("portalStopJob", Tag::Portal, "Stop a job")
            .portal_errors(&["JobNotFound"])
            .fails_with::<JobError>(),
        portal("/api/copilot/job/{id}/live", job_live)
            .named("portalJobLive", Tag::Portal, "Read one response of a job")
            .replies_with::<JobResponse>(200, "application/json")
            .portal_errors(&live_job)
            .fails_with::<LiveError>(),
        with_token(portal("/api/copilot/job/{id}/live/{token}", job_live_with_token))
            .named("portalJobLiveBatch", Tag::Portal, "Read a batch of responses of a job")
            .replies_with::<RunBatch<'_, JobResponse>>(200, "application/json")
            .portal_errors(&live_job),
        portal("/api/copilot/test/installJobsEntry", install_entry)
            .named("portalInstallEntry", Tag::Portal, "Install an entry for a test")
            .details("Only with `--test`; otherwise 404.")
            .takes_text("The absolute path of an entry below the test folder.")
            .replies_with::<Installation>(200, "application/json")
            .replies_with::<PortalError>(404, "application/json"),
    ]
}
