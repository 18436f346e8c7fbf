//! The log in pages, and blobs.

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderName, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Deserialize;

use super::session;
use crate::http::app::App;
use crate::http::body::{PathPart, QueryPart};
use crate::http::error::{ApiError, ApiResult};
use crate::http::openapi::{Operation, Tag, get};
use crate::http::pieces::PiecesBuilder;
use crate::model::{Seq, Timestamp};
use crate::session::{LiveError, SessionError};
use crate::store::EventPage;

const LARGEST_PAGE: usize = 1_000;
/// A page ends early at this size, even with few events.
const PAGE_BYTES: usize = 8 * 1024 * 1024;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct LogQuery {
    /// Only events after this number, forwards.
    after: Option<Seq>,
    /// Only events before this number, backwards.
    before: Option<Seq>,
    /// How many: at most 1,000, which is the default.
    limit: Option<usize>,
}

/// A page of a session's log. It is written byte by byte, so that a large event is not copied.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct LogPage {
    events: Vec<LogEvent>,
    /// Continues in the same direction, if there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<Seq>,
}

/// One event of a session.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct LogEvent {
    seq: Seq,
    time: Timestamp,
    response: crate::model::Response,
}

/// Forwards from `after`, or backwards from `before`; `next` continues in the same direction.
pub(in crate::http) async fn log(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
    QueryPart(query): QueryPart<LogQuery>,
) -> ApiResult<Response> {
    let session = session(&app, &id).await?;
    let after = query.after.unwrap_or(0);
    session.check_cursor(after).await?;
    let limit = query.limit.unwrap_or(LARGEST_PAGE).clamp(1, LARGEST_PAGE);
    let page = EventPage { after, before: query.before, limit, max_bytes: PAGE_BYTES };
    let (events, more) = app.sessions().store().events(session.id(), page).await?;
    let size = events.iter().map(|event| PiecesBuilder::copied(event.body.len()) + 80).sum::<usize>() + 32;
    let mut body = PiecesBuilder::with_capacity(size);
    body.write(b"{\"events\":[");
    for (position, event) in events.iter().enumerate() {
        let comma = if position > 0 { "," } else { "" };
        body.write(format!("{comma}{{\"seq\":{},\"time\":\"{}\",\"response\":", event.seq, event.time).as_bytes());
        body.write_body(&event.body);
        body.write(b"}");
    }
    body.write(b"]");
    let edge = if query.before.is_some() { events.first() } else { events.last() };
    if let (true, Some(edge)) = (more, edge) {
        body.write(b",\"next\":");
        body.write_number(edge.seq);
    }
    body.write(b"}");
    Ok(([(header::CONTENT_TYPE, "application/json")], Body::new(body.finish())).into_response())
}

/// A large output. It comes from the agent, so a browser must not treat it as a page of this server.
pub(in crate::http) async fn blob(
    State(app): State<App>,
    PathPart((id, hash)): PathPart<(String, String)>,
) -> ApiResult<Response> {
    let session = session(&app, &id).await?;
    let blob = app.sessions().store().blob(session.id(), hash).await?.ok_or_else(|| {
        ApiError::new(axum::http::StatusCode::NOT_FOUND, "BlobNotFound", "This session has no such blob.")
    })?;
    let headers = [
        (header::CONTENT_TYPE, blob.mime),
        (header::CONTENT_DISPOSITION, "inline".to_owned()),
        (header::CACHE_CONTROL, "private, max-age=31536000, immutable".to_owned()),
        (
            HeaderName::from_static("content-security-policy"),
            "default-src 'none'; sandbox; frame-ancestors 'none'".to_owned(),
        ),
    ];
    Ok((headers, blob.data).into_response())
}

pub(super) fn operations() -> Vec<Operation> {
    vec![
        get("/api/copilot/session/{id}/log", log)
            .named("readLog", Tag::Reading, "Read the log of a session")
            .details("Forwards from `after`, or backwards from `before`; `next` continues in the same direction.")
            .replies_with::<LogPage>(200, "application/json")
            .fails_with::<SessionError>()
            .fails_with::<LiveError>(),
        get("/api/copilot/session/{id}/blob/{hash}", blob)
            .named("readBlob", Tag::Reading, "Read a large output")
            .path_pattern("hash", "The hash of a blob, as the log names it.", "^[0-9a-f]+$")
            .replies_with_text(200, "*/*")
            .error(404, "BlobNotFound")
            .error(500, "BlobDamaged")
            .fails_with::<SessionError>(),
    ]
}
