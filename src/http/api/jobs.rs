//! Flightdeck's own routes about jobs: listing, starting, reading, deciding.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::blocks::{fragment, rendered};
use crate::http::app::App;
use crate::http::auth::Caller;
use crate::http::body::{JsonBody, NoBody, PathPart, QueryPart, idempotency_key};
use crate::http::error::{ApiError, ApiResult};
use crate::http::openapi::{Empty, Operation, Tag, get, post};
use crate::jobs::chart::{ChartNode, chart};
use crate::jobs::entry::{Plan, Work};
use crate::jobs::{
    Answer, ChangedFiles, JobError, NewJobRequest, Preview, PreviewWork, Progress, Record, Run, WaitingView,
    WorkHistory, WorkResult,
};
use crate::model::{AnsweredBy, JobId, JobStatus, Seq, SessionOrigin, Timestamp};
use crate::render::{Block, Budget, Extent, Html, render};
use crate::store::{JobFilter, JobSummary};

const DEFAULT_PAGE: usize = 100;
const LARGEST_PAGE: usize = 1_000;

fn job_id(text: &str) -> ApiResult<JobId> {
    text.parse().map_err(|_| JobError::NotFound.into())
}

pub(super) async fn job(app: &App, id: &str) -> ApiResult<(JobId, Arc<Run>)> {
    let id = job_id(id)?;
    Ok((id, app.jobs().job(id).await?))
}

/// What waits for a person.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the names of the API")]
struct Waiting {
    waiting_id: String,
    /// `gate`, or `interrupted` for a task that was cut off by a restart.
    kind: &'static str,
    /// The number of the work in the job.
    work_id: Option<u32>,
    title: String,
    /// More about it, as Markdown.
    prompt: Option<String>,
    /// What an answer must repeat: it covers everything that is shown.
    digest: String,
    since: Timestamp,
    shown: Shown,
}

/// What a person is shown before they decide.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ShownAtGate")]
struct Shown {
    /// The works before, oldest first.
    works: Vec<WorkResult>,
    /// What changed in the working directory; null outside a repository.
    changes: Option<ChangedFiles>,
}

fn waiting(waiting: &WaitingView) -> Waiting {
    let view = waiting.view.clone();
    Waiting {
        waiting_id: waiting.id.clone(),
        kind: waiting.subject.kind(),
        work_id: waiting.subject.work_id(),
        title: view.title,
        prompt: view.prompt,
        digest: waiting.digest.clone(),
        since: waiting.since,
        shown: Shown { works: view.works, changes: view.changes },
    }
}

/// A job in lists.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "JobEntry")]
struct Listed {
    job_id: JobId,
    job_name: String,
    status: JobStatus,
    working_directory: PathBuf,
    user_input: String,
    start_time: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_time: Option<Timestamp>,
    /// Why it could not be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// What waits for a person.
    waiting: Vec<Waiting>,
    /// Who started it.
    origin: SessionOrigin,
}

fn listed(job: JobSummary, progress: Option<&Progress>) -> Listed {
    Listed {
        job_id: job.id,
        job_name: job.name,
        status: job.run.status,
        working_directory: job.working_directory,
        user_input: job.user_input,
        start_time: job.run.started_at,
        end_time: job.run.ended_at,
        error: job.run.error,
        waiting: progress.into_iter().flat_map(|progress| progress.waiting.values()).map(waiting).collect(),
        origin: job.origin,
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "JobsQuery")]
pub(in crate::http) struct ListQuery {
    /// Only jobs with this status.
    #[schemars(with = "Option<JobStatus>")]
    status: Option<String>,
    /// The `next` of the page before.
    #[schemars(with = "Option<JobId>")]
    before: Option<String>,
    /// How many: 100 by default, at most 1,000.
    limit: Option<usize>,
}

/// A page of jobs.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct JobList {
    /// Newest first.
    jobs: Vec<Listed>,
    /// The `before` of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<JobId>,
}

pub(in crate::http) async fn list_jobs(
    State(app): State<App>,
    QueryPart(query): QueryPart<ListQuery>,
) -> ApiResult<Json<JobList>> {
    let status: Option<JobStatus> = match query.status.as_deref() {
        None | Some("") => None,
        Some(text) => Some(text.parse().map_err(|message: String| ApiError::bad_request("InvalidStatus", message))?),
    };
    let before = match query.before.as_deref() {
        None | Some("") => None,
        Some(text) => Some(text.parse().map_err(|_| {
            let message = "Invalid cursor: before must be the `next` of an earlier page, such as job-12.";
            ApiError::bad_request("InvalidCursor", message)
        })?),
    };
    let limit = query.limit.unwrap_or(DEFAULT_PAGE).clamp(1, LARGEST_PAGE);
    let mut found = app.jobs().list(JobFilter { status, before, limit: limit + 1 }).await?;
    let more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| more).map(|last| last.id);
    let mut jobs = Vec::with_capacity(found.len());
    for job in found {
        let progress = match job.run.status {
            JobStatus::Running => Some(app.jobs().job(job.id).await?.log().progress()),
            JobStatus::Succeeded | JobStatus::Failed | JobStatus::Canceled => None,
        };
        jobs.push(listed(job, progress.as_ref()));
    }
    Ok(Json(JobList { jobs, next }))
}

/// A job to start.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "NewJob")]
pub(in crate::http) struct StartBody {
    job_name: String,
    /// An absolute path.
    working_directory: String,
    #[serde(default)]
    user_input: String,
    /// Models by category that replace the entry's.
    #[serde(default)]
    models: BTreeMap<String, String>,
    /// Start nothing, and return what the job would do.
    #[serde(default)]
    dry_run: bool,
}

/// A job that was started.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct StartedJob {
    job_id: JobId,
}

pub(in crate::http) async fn start_job(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    JsonBody(body): JsonBody<StartBody>,
) -> ApiResult<Response> {
    let request = NewJobRequest {
        name: body.job_name,
        working_directory: body.working_directory,
        user_input: body.user_input,
        models: body.models,
        origin: caller.origin(),
        idempotency_key: idempotency_key(&headers)?,
        takes_any_input: false,
    };
    if body.dry_run {
        let preview = app.jobs().preview(&request).await?;
        return Ok(Json(rendered_preview(&app, preview).await?).into_response());
    }
    let id = app.jobs().start(request).await?;
    Ok((StatusCode::CREATED, Json(StartedJob { job_id: id })).into_response())
}

/// What a job would do.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "JobPreview")]
struct RenderedPreview {
    job_name: String,
    working_directory: String,
    user_input: String,
    /// Whether the job needs input.
    require_user_input: bool,
    chart: Vec<ChartNode>,
    work: Work,
    /// Its tasks and gates, in the order of their numbers.
    works: Vec<RenderedWork>,
    /// What may go wrong.
    warnings: Vec<String>,
}

/// A task or gate of a job.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "JobPreviewWork")]
struct RenderedWork {
    #[serde(flatten)]
    work: PreviewWork,
    /// The prompt of a gate, as sanitised HTML.
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_html: Option<String>,
}

/// A preview with the prompts of its gates also as HTML. All of them share the budget of one fragment.
async fn rendered_preview(app: &App, preview: Preview) -> ApiResult<RenderedPreview> {
    let work = move || {
        let mut budget = Budget::default();
        let works = preview.works.into_iter().map(|work| {
            let prompt = work.prompt.as_ref().filter(|_| work.gate.is_some());
            let prompt_html = prompt.map(|prompt| gate_html(prompt, &mut budget).into_string());
            RenderedWork { work, prompt_html }
        });
        RenderedPreview {
            works: works.collect(),
            job_name: preview.job_name,
            working_directory: preview.working_directory,
            user_input: preview.user_input,
            require_user_input: preview.require_user_input,
            chart: preview.chart,
            work: preview.work,
            warnings: preview.warnings,
        }
    };
    rendered(app, work).await
}

fn gate_html(prompt: &str, budget: &mut Budget) -> Html {
    render(&Block::Prose(prompt), Extent::All, budget)
}

/// Everything about a job except its log.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct JobDetails {
    #[serde(flatten)]
    job: Listed,
    chart: Vec<ChartNode>,
    work: Work,
    require_user_input: bool,
    /// The works that started.
    works: Vec<WorkHistory>,
    /// The number of its last event.
    last_seq: Seq,
}

pub(in crate::http) async fn job_details(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
) -> ApiResult<Json<JobDetails>> {
    let (id, run) = job(&app, &id).await?;
    let progress = run.log().progress();
    let works = app.jobs().history(id).await?;
    let stored = app.jobs().stored(id).await?;
    let plan: Plan = serde_json::from_str(&stored.plan).map_err(|error| JobError::InvalidEntry(error.to_string()))?;
    Ok(Json(JobDetails {
        job: listed(stored.summary, Some(&progress)),
        chart: chart(&plan.job.work),
        require_user_input: plan.requires_user_input(),
        work: plan.job.work,
        works,
        last_seq: run.log().committed(),
    }))
}

/// `GATE.html`: the prompt of a gate that waits or was answered, rendered.
pub(in crate::http) async fn gate_prompt(
    State(app): State<App>,
    PathPart((id, file)): PathPart<(String, String)>,
) -> ApiResult<Response> {
    let works = app.jobs().history(job_id(&id)?).await?;
    let mut gates = works.into_iter().flat_map(|work| work.attempts).filter_map(|attempt| attempt.gate);
    let prompt = file.strip_suffix(".html").and_then(|name| gates.find(|gate| gate.gate_id == name)?.prompt);
    let prompt = prompt.ok_or_else(|| {
        ApiError::new(StatusCode::NOT_FOUND, "GateNotFound", "The job has no gate with this id and a prompt.")
    })?;
    let work = move || {
        let mut budget = Budget::default();
        (gate_html(&prompt, &mut budget), budget.ran_out())
    };
    let (html, ran_out) = rendered(&app, work).await?;
    Ok(fragment(html, ran_out))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "JobLogQuery")]
pub(in crate::http) struct LogQuery {
    /// Only events after this number.
    after: Option<Seq>,
    /// How many: at most 1,000, which is the default.
    limit: Option<usize>,
}

/// A part of a job's log.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct JobLog {
    events: Vec<JobEvent>,
    /// The `after` of the next part, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<Seq>,
}

/// One event of a job.
#[derive(Serialize, JsonSchema)]
struct JobEvent {
    seq: Seq,
    time: Timestamp,
    /// Passed on as it is stored, also what a later version wrote.
    #[schemars(with = "Record")]
    event: Value,
}

pub(in crate::http) async fn job_log(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
    QueryPart(query): QueryPart<LogQuery>,
) -> ApiResult<Json<JobLog>> {
    let (_, run) = job(&app, &id).await?;
    let limit = query.limit.unwrap_or(LARGEST_PAGE).clamp(1, LARGEST_PAGE);
    let (events, more) = run.log().events(query.after.unwrap_or(0), limit).await?;
    let event = |event: &crate::store::StoredEvent| JobEvent {
        seq: event.seq,
        time: event.time,
        event: serde_json::from_slice(&event.body).unwrap_or_default(),
    };
    let next = events.last().filter(|_| more).map(|last| last.seq);
    Ok(Json(JobLog { events: events.iter().map(event).collect(), next }))
}

/// The status of a job.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct JobStatusReply {
    status: JobStatus,
}

pub(in crate::http) async fn stop_job(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
    NoBody: NoBody,
) -> ApiResult<Json<JobStatusReply>> {
    let status = app.jobs().stop(job_id(&id)?).await?;
    Ok(Json(JobStatusReply { status }))
}

pub(in crate::http) async fn retry_job(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
    NoBody: NoBody,
) -> ApiResult<Json<JobStatusReply>> {
    app.jobs().retry(job_id(&id)?).await?;
    Ok(Json(JobStatusReply { status: JobStatus::Running }))
}

/// A decision about what waits.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "GateDecision")]
pub(in crate::http) struct AnswerBody {
    waiting_id: String,
    /// The digest of what was shown.
    digest: String,
    /// What the person says about it.
    note: Option<String>,
}

pub(in crate::http) async fn approve_job(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    PathPart(id): PathPart<String>,
    JsonBody(body): JsonBody<AnswerBody>,
) -> ApiResult<Json<Empty>> {
    answer(&app, caller, &id, body, true).await
}

pub(in crate::http) async fn reject_job(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    PathPart(id): PathPart<String>,
    JsonBody(body): JsonBody<AnswerBody>,
) -> ApiResult<Json<Empty>> {
    answer(&app, caller, &id, body, false).await
}

async fn answer(app: &App, caller: Caller, id: &str, body: AnswerBody, approved: bool) -> ApiResult<Json<Empty>> {
    let by = if caller == Caller::Page { AnsweredBy::Page } else { AnsweredBy::Api };
    let note = body.note.filter(|note| !note.trim().is_empty());
    let answer = Answer { waiting_id: body.waiting_id, digest: body.digest, approved, note, by };
    app.jobs().answer(job_id(id)?, answer).await?;
    Ok(Json(Empty {}))
}

pub(super) fn operations() -> Vec<Operation> {
    vec![
        get("/api/jobs", list_jobs)
            .named("listJobs", Tag::Jobs, "List jobs")
            .error(400, "InvalidStatus")
            .error(400, "InvalidCursor")
            .error(404, "JobNotFound"),
        post("/api/jobs", start_job)
            .named("startJob", Tag::Jobs, "Start a job")
            .details("With `dryRun` nothing starts, and the reply (200) is what the job would do.")
            .idempotent()
            .replies_with::<StartedJob>(201, "application/json")
            .replies_with::<RenderedPreview>(200, "application/json")
            .error(500, "RenderingFailed")
            .error(429, "TooManySessions")
            .fails_with::<JobError>(),
        get("/api/jobs/{id}", job_details).named("showJob", Tag::Jobs, "Show a job").fails_with::<JobError>(),
        get("/api/jobs/{id}/log", job_log)
            .named("readJobLog", Tag::Jobs, "Read a job's log")
            .details("Everything that happened in the job and its tasks.")
            .fails_with::<JobError>(),
        get("/api/jobs/{id}/gate/{file}", gate_prompt)
            .named("showGatePrompt", Tag::Jobs, "Show the prompt of a gate as HTML")
            .path_pattern("file", "The id of a gate and `.html`.", "^.+\\.html$")
            .replies_with_text(200, "text/html")
            .error(404, "GateNotFound")
            .error(500, "RenderingFailed")
            .fails_with::<JobError>(),
        post("/api/jobs/{id}/stop", stop_job)
            .named("stopJob", Tag::Jobs, "Stop a job")
            .details("A job that is over stays what it was.")
            .fails_with::<JobError>(),
        post("/api/jobs/{id}/retry", retry_job)
            .named("retryJob", Tag::Jobs, "Continue a failed or stopped job")
            .fails_with::<JobError>(),
        post("/api/jobs/{id}/approve", approve_job)
            .named("approveJob", Tag::Jobs, "Approve what waits")
            .fails_with::<JobError>(),
        post("/api/jobs/{id}/reject", reject_job)
            .named("rejectJob", Tag::Jobs, "Reject what waits")
            .fails_with::<JobError>(),
    ]
}
