//! Flightdeck's own routes about jobs: listing, starting, following, deciding.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::blocks::{fragment, rendered};
use crate::http::app::App;
use crate::http::auth::Caller;
use crate::http::body::{JsonBody, NoBody, PathPart, QueryPart, idempotency_key};
use crate::http::error::{ApiError, ApiResult};
use crate::http::pieces::Pieces;
use crate::http::sse::{self, Chunks};
use crate::jobs::chart::chart;
use crate::jobs::entry::{Plan, SCHEMA};
use crate::jobs::{Answer, JobError, NewJobRequest, Preview, Progress, Run, WaitingView};
use crate::model::{AnsweredBy, JobId, JobStatus, Seq};
use crate::render::{Block, Budget, Extent, Html, render};
use crate::session::PresenceGuard;
use crate::store::{JobFilter, JobSummary};

const DEFAULT_PAGE: usize = 100;
const LARGEST_PAGE: usize = 1_000;
/// Records of one part of a stream.
const CHUNK_RECORDS: usize = 500;

fn job_id(text: &str) -> ApiResult<JobId> {
    text.parse().map_err(|_| JobError::NotFound.into())
}

async fn job(app: &App, id: &str) -> ApiResult<(JobId, Arc<Run>)> {
    let id = job_id(id)?;
    Ok((id, app.jobs().job(id).await?))
}

fn waiting(waiting: &WaitingView) -> Value {
    json!({
        "waitingId": waiting.id,
        "kind": waiting.subject.kind(),
        "workId": waiting.subject.work_id(),
        "title": waiting.view.title,
        "prompt": waiting.view.prompt,
        "digest": waiting.digest,
        "since": waiting.since,
        "shown": { "works": waiting.view.works, "changes": waiting.view.changes },
    })
}

fn summary(job: &JobSummary, progress: Option<&Progress>) -> Value {
    let waits: Vec<Value> = progress.into_iter().flat_map(|progress| progress.waiting.values()).map(waiting).collect();
    let mut summary = json!({
        "jobId": job.id,
        "jobName": job.name,
        "status": job.run.status,
        "workingDirectory": job.working_directory,
        "userInput": job.user_input,
        "startTime": job.run.started_at,
        "waiting": waits,
        "origin": job.origin,
    });
    if let Some(ended) = job.run.ended_at {
        summary["endTime"] = json!(ended);
    }
    if let Some(error) = &job.run.error {
        summary["error"] = json!(error);
    }
    summary
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct ListQuery {
    status: Option<String>,
    before: Option<String>,
    limit: Option<usize>,
}

pub(in crate::http) async fn list_jobs(
    State(app): State<App>,
    QueryPart(query): QueryPart<ListQuery>,
) -> ApiResult<Json<Value>> {
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
    let mut jobs = Vec::with_capacity(found.len());
    for listed in &found {
        let progress = match listed.run.status {
            JobStatus::Running => Some(app.jobs().job(listed.id).await?.log().progress()),
            JobStatus::Succeeded | JobStatus::Failed | JobStatus::Canceled => None,
        };
        jobs.push(summary(listed, progress.as_ref()));
    }
    let mut reply = json!({ "jobs": jobs });
    if let (true, Some(last)) = (more, found.last()) {
        reply["next"] = json!(last.id);
    }
    Ok(Json(reply))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::http) struct StartBody {
    job_name: String,
    working_directory: String,
    #[serde(default)]
    user_input: String,
    #[serde(default)]
    models: BTreeMap<String, String>,
    #[serde(default)]
    dry_run: bool,
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
    Ok((StatusCode::CREATED, Json(json!({ "jobId": id }))).into_response())
}

/// A preview with the prompts of its gates also as HTML. All of them share the budget of one fragment.
async fn rendered_preview(app: &App, preview: Preview) -> ApiResult<Value> {
    let work = move || {
        let mut budget = Budget::default();
        let mut reply = json!(preview);
        for (index, work) in preview.works.iter().enumerate() {
            if let (Some(_), Some(prompt)) = (&work.gate, &work.prompt) {
                reply["works"][index]["promptHtml"] = json!(gate_html(prompt, &mut budget).into_string());
            }
        }
        reply
    };
    rendered(app, work).await
}

fn gate_html(prompt: &str, budget: &mut Budget) -> Html {
    render(&Block::Prose(prompt), Extent::All, budget)
}

pub(in crate::http) async fn job_details(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
) -> ApiResult<Json<Value>> {
    let (id, run) = job(&app, &id).await?;
    let progress = run.log().progress();
    let works = app.jobs().history(id).await?;
    let stored = app.jobs().stored(id).await?;
    let plan: Plan = serde_json::from_str(&stored.plan).map_err(|error| JobError::InvalidEntry(error.to_string()))?;
    let mut details = summary(&stored.summary, Some(&progress));
    details["chart"] = json!(chart(&plan.job.work));
    details["work"] = json!(plan.job.work);
    details["requireUserInput"] = json!(plan.requires_user_input());
    details["works"] = json!(works);
    details["lastSeq"] = json!(run.log().committed());
    Ok(Json(details))
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct LogQuery {
    after: Option<Seq>,
    limit: Option<usize>,
}

pub(in crate::http) async fn job_log(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
    QueryPart(query): QueryPart<LogQuery>,
) -> ApiResult<Json<Value>> {
    let (_, run) = job(&app, &id).await?;
    let limit = query.limit.unwrap_or(LARGEST_PAGE).clamp(1, LARGEST_PAGE);
    let (events, more) = run.log().events(query.after.unwrap_or(0), limit).await?;
    let event = |event: &crate::store::StoredEvent| {
        let record: Value = serde_json::from_slice(&event.body).unwrap_or_default();
        json!({ "seq": event.seq, "time": event.time, "event": record })
    };
    let mut reply = json!({ "events": events.iter().map(event).collect::<Vec<_>>() });
    if let (true, Some(last)) = (more, events.last()) {
        reply["next"] = json!(last.seq);
    }
    Ok(Json(reply))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct StreamQuery {
    after: Option<Seq>,
}

/// A job's records as a stream, resumable by number across restarts.
pub(in crate::http) async fn job_events(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    PathPart(id): PathPart<String>,
    headers: HeaderMap,
    QueryPart(query): QueryPart<StreamQuery>,
) -> ApiResult<Response> {
    let (job_id, run) = job(&app, &id).await?;
    let resumed = sse::resume_point(&headers, query.after)?;
    let after = resumed.unwrap_or(0);
    let last = run.log().committed();
    if after > last {
        return Err(crate::session::LiveError::CursorAhead { after, last }.into());
    }
    if resumed.is_some() && run.log().ended_at().is_some() && after >= last {
        // Everything was read and nothing will follow: 204 makes a browser stop reconnecting.
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let committed = run.log().watch();
    // The page holds this stream only while it is in view.
    let looks = (caller == Caller::Page).then(|| app.sessions().presence().enter(job_id));
    Ok(sse::stream(JobStream { run, committed, after, ended: false, _looks: looks }))
}

struct JobStream {
    run: Arc<Run>,
    committed: watch::Receiver<Seq>,
    after: Seq,
    ended: bool,
    _looks: Option<PresenceGuard>,
}

impl Chunks for JobStream {
    async fn next(&mut self) -> Option<Pieces> {
        while !self.ended {
            if self.run.stopping().is_cancelled() {
                return None;
            }
            self.committed.borrow_and_update();
            let is_over = self.run.log().ended_at().is_some();
            match self.run.log().events(self.after, CHUNK_RECORDS).await {
                Ok((events, _)) => {
                    if let Some(last) = events.last() {
                        self.after = last.seq;
                        return Some(sse::frames(&events));
                    }
                }
                Err(error) => {
                    // The reader reconnects with its last number and misses nothing.
                    tracing::error!(run = %self.run.log().stream(), %error, "a stream of a job ended with an error");
                    return None;
                }
            }
            if is_over {
                self.ended = true;
                return Some(sse::closed_frame(self.after));
            }
            tokio::select! {
                changed = self.committed.changed() => changed.ok()?,
                () = self.run.stopping().cancelled() => return None,
                () = tokio::time::sleep(sse::KEEP_ALIVE) => return Some(sse::keep_alive()),
            }
        }
        None
    }
}

pub(in crate::http) async fn stop_job(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
    NoBody: NoBody,
) -> ApiResult<Json<Value>> {
    let status = app.jobs().stop(job_id(&id)?).await?;
    Ok(Json(json!({ "status": status })))
}

pub(in crate::http) async fn retry_job(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
    NoBody: NoBody,
) -> ApiResult<Json<Value>> {
    app.jobs().retry(job_id(&id)?).await?;
    Ok(Json(json!({ "status": JobStatus::Running })))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::http) struct AnswerBody {
    waiting_id: String,
    digest: String,
    note: Option<String>,
}

pub(in crate::http) async fn approve_job(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    PathPart(id): PathPart<String>,
    JsonBody(body): JsonBody<AnswerBody>,
) -> ApiResult<Json<Value>> {
    answer(&app, caller, &id, body, true).await
}

pub(in crate::http) async fn reject_job(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    PathPart(id): PathPart<String>,
    JsonBody(body): JsonBody<AnswerBody>,
) -> ApiResult<Json<Value>> {
    answer(&app, caller, &id, body, false).await
}

async fn answer(app: &App, caller: Caller, id: &str, body: AnswerBody, approved: bool) -> ApiResult<Json<Value>> {
    let by = if caller == Caller::Page { AnsweredBy::Page } else { AnsweredBy::Api };
    let note = body.note.filter(|note| !note.trim().is_empty());
    let answer = Answer { waiting_id: body.waiting_id, digest: body.digest, approved, note, by };
    app.jobs().answer(job_id(id)?, answer).await?;
    Ok(Json(json!({})))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::http) struct EntryQuery {
    working_directory: Option<PathBuf>,
}

/// The entry of a folder. Also answers while no entry is installed, so that a page can ask.
pub(in crate::http) async fn entry(
    State(app): State<App>,
    QueryPart(query): QueryPart<EntryQuery>,
) -> ApiResult<Json<Value>> {
    match app.jobs().entries().describe(query.working_directory.as_deref()).await {
        Ok(description) => Ok(Json(json!(description))),
        Err(JobError::NoEntry) => {
            Ok(Json(json!({ "source": "none", "problems": [], "inForce": false, "trusted": false })))
        }
        Err(other) => Err(other.into()),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct TrustBody {
    path: PathBuf,
    hash: String,
}

pub(in crate::http) async fn trust_entry(
    State(app): State<App>,
    JsonBody(body): JsonBody<TrustBody>,
) -> ApiResult<Json<Value>> {
    app.jobs().entries().trust(&body.path, &body.hash).await?;
    Ok(Json(json!({})))
}

/// The JSON Schema of an entry, for editors.
pub(in crate::http) async fn entry_schema() -> Response {
    ([(header::CONTENT_TYPE, "application/schema+json")], SCHEMA).into_response()
}
