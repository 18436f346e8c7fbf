//! `/metrics`: figures for Prometheus.

use std::sync::atomic::AtomicU64;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::app::{App, AppParts};
use super::error::ApiResult;
use super::openapi::{Operation, Tag, get};
use super::usage_metrics::UsageSeries;
use crate::agent::AgentProcess;
use crate::model::SessionState;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    method: &'static str,
    /// The route's pattern, never the path: ids would create an unlimited number of series.
    route: String,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CaptureLabels {
    state: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StateLabels {
    state: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ProcessLabels {
    runtime: String,
    pid: u32,
}

/// All metrics of the server.
pub(super) struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    sessions: Family<StateLabels, Gauge>,
    readers: Gauge,
    queued_prompts: Gauge,
    waiting_requests: Gauge,
    unknown_events: Gauge,
    search_backlog: Gauge,
    processes_held: Gauge,
    processes_awaited: Gauge,
    captures: Family<CaptureLabels, Gauge>,
    usage: UsageSeries,
}

impl Metrics {
    pub fn new(parts: &AppParts) -> Self {
        let store = parts.sessions.store().statistics();
        let sessions_figures = parts.sessions.statistics();
        let job_figures = parts.jobs.statistics();
        let mut registry = Registry::with_prefix("flightdeck");
        let requests = Family::<RequestLabels, Counter>::default();
        let sessions = Family::<StateLabels, Gauge>::default();
        let (readers, queued_prompts, unknown_events) = (Gauge::default(), Gauge::default(), Gauge::default());
        registry.register("http_requests", "Requests by matched route", requests.clone());
        registry.register("sessions", "Sessions by state", sessions.clone());
        registry.register("readers", "Readers attached right now", readers.clone());
        registry.register("queued_prompts", "Prompts waiting for a turn to end", queued_prompts.clone());
        registry.register("unknown_agent_events", "Agent events of unknown kinds", unknown_events.clone());
        let search_backlog = Gauge::default();
        registry.register("search_backlog", "Events that the search index does not have yet", search_backlog.clone());
        let captures = Family::<CaptureLabels, Gauge>::default();
        registry.register("captures", "Requests and sessions of the model API by what they do now", captures.clone());
        let (processes_held, processes_awaited) = (Gauge::default(), Gauge::default());
        registry.register("agent_slots_held", "Agent processes counted against the limit", processes_held.clone());
        registry.register("agent_slots_awaited", "Sessions waiting for an agent process", processes_awaited.clone());
        registry.register("events", "Events committed since the start", store.events.clone());
        registry.register("commit_seconds", "Time per commit", store.commit_seconds.clone());
        registry.register("commit_failures", "Transactions that the disk refused", store.failures.clone());
        registry.register("synced_commits", "Commits that waited for the disk", store.synced_commits.clone());
        registry.register("write_queue_length", "Writes waiting for the writer thread", store.queue.clone());
        let waiting_requests = Gauge::default();
        registry.register("waiting_requests", "Requests that wait for a person", waiting_requests.clone());
        registry.register("turns", "Turns that ended, by outcome", sessions_figures.turns.clone());
        registry.register("turn_seconds", "Time per turn", sessions_figures.turn_seconds.clone());
        registry.register("jobs", "Jobs that ended, by outcome", job_figures.jobs.clone());
        registry.register("job_works", "Works of jobs that ended, by outcome", job_figures.works.clone());
        let attempts = parts.notifier.statistics().attempts.clone();
        registry.register("notifications", "Notifications sent to targets, by outcome", attempts);
        Self {
            registry,
            requests,
            sessions,
            readers,
            queued_prompts,
            waiting_requests,
            unknown_events,
            search_backlog,
            processes_held,
            processes_awaited,
            captures,
            usage: UsageSeries::default(),
        }
    }
}

/// Counts a request by the route it matched, and logs it.
pub(super) async fn count(State(app): State<App>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    let method = known_method(request.method());
    let began = Instant::now();
    let response = next.run(request).await;
    let status = response.status().as_u16();
    // The pattern, not the path: a path may name a token of a reader.
    tracing::debug!(method, route, status, duration_ms = began.elapsed().as_millis(), "request");
    let labels = RequestLabels { method, route, status };
    app.metrics().requests.get_or_create(&labels).inc();
    response
}

/// Callers can invent methods, so unknown ones share one series.
fn known_method(method: &Method) -> &'static str {
    let known = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    known.into_iter().find(|known| *known == method.as_str()).unwrap_or("other")
}

/// All metrics in the text format.
pub(super) async fn metrics(State(app): State<App>) -> ApiResult<Response> {
    let metrics = app.metrics();
    let store = app.sessions().store();
    let counts = store.session_counts().await?;
    for state in SessionState::ALL {
        let count = counts.iter().find(|(counted, _)| *counted == state).map_or(0, |(_, count)| *count);
        let labels = StateLabels { state: state.as_str() };
        metrics.sessions.get_or_create(&labels).set(i64::try_from(count).unwrap_or(i64::MAX));
    }
    metrics.readers.set(i64::try_from(app.sessions().reader_count()).unwrap_or(i64::MAX));
    metrics.queued_prompts.set(i64::try_from(store.queued_prompt_count().await?).unwrap_or(i64::MAX));
    metrics.waiting_requests.set(i64::try_from(store.open_request_count().await?).unwrap_or(i64::MAX));
    metrics.unknown_events.set(i64::try_from(app.sessions().unknown_event_count()).unwrap_or(i64::MAX));
    let missing = store.index_backlog().progress().map_or(0, |progress| progress.total - progress.done);
    metrics.search_backlog.set(i64::try_from(missing).unwrap_or(i64::MAX));
    let (held, awaited) = app.sessions().process_figures();
    metrics.processes_held.set(i64::try_from(held).unwrap_or(i64::MAX));
    metrics.processes_awaited.set(i64::try_from(awaited).unwrap_or(i64::MAX));
    let now = app.captures().figures();
    for (state, figure) in [
        ("answering", now.answering),
        ("queued", now.queued),
        ("waiting", now.waiting),
        ("on-disk", now.on_disk),
        ("unheard", now.unheard),
    ] {
        metrics.captures.get_or_create(&CaptureLabels { state }).set(i64::try_from(figure).unwrap_or(i64::MAX));
    }
    let processes = app.sessions().runtimes().processes().await;
    let usage = store.usage_of_all_time().await?;
    let mut text = String::new();
    encode_registry(&mut text, &metrics.registry)
        .and_then(|()| encode_registry(&mut text, &process_registry(&processes)))
        .and_then(|()| encode_registry(&mut text, &metrics.usage.registry(&usage)))
        .and_then(|()| encode_eof(&mut text))
        .expect("a string takes everything");
    let content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, content_type)], text).into_response())
}

/// Built for each request, so that a process that has ended leaves no series behind.
fn process_registry(processes: &[AgentProcess]) -> Registry {
    let mut registry = Registry::with_prefix("flightdeck_agent_process");
    let resident = Family::<ProcessLabels, Gauge>::default();
    let cpu = Family::<ProcessLabels, Counter<f64, AtomicU64>>::default();
    let children = Family::<ProcessLabels, Gauge>::default();
    let sessions = Family::<ProcessLabels, Gauge>::default();
    for process in processes {
        let labels = ProcessLabels { runtime: process.runtime.clone(), pid: process.pid };
        let set = |family: &Family<ProcessLabels, Gauge>, value: usize| {
            family.get_or_create(&labels).set(i64::try_from(value).unwrap_or(i64::MAX));
        };
        resident.get_or_create(&labels).set(i64::try_from(process.resident_bytes).unwrap_or(i64::MAX));
        cpu.get_or_create(&labels).inc_by(process.cpu_seconds);
        set(&children, process.children);
        set(&sessions, process.sessions);
    }
    registry.register("resident_bytes", "Resident memory of an agent process and its children", resident);
    registry.register("cpu_seconds", "CPU time of an agent process and its children", cpu);
    registry.register("children", "Running child processes of an agent process", children);
    registry.register("sessions", "Sessions served by an agent process", sessions);
    registry
}

pub(super) fn operations() -> Vec<Operation> {
    vec![
        get("/metrics", metrics)
            .named("metrics", Tag::Server, "All figures as OpenMetrics text")
            .replies_with_text(200, "application/openmetrics-text"),
    ]
}
