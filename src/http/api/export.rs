//! A session as a document.

use std::io;

use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::details::details;
use super::session;
use crate::export::{Export, ExportFormat, SessionHead};
use crate::http::app::App;
use crate::http::body::{PathPart, QueryPart};
use crate::http::error::{ApiError, ApiResult};
use crate::http::openapi::{Operation, Tag, get};
use crate::session::{SessionError, now};

/// The query parameters.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct ExportQuery {
    /// `md` (the default), `md.zip` or `json`.
    #[schemars(extend("enum" = ["", "md", "md.zip", "json"]))]
    format: Option<String>,
}

/// `GET /api/copilot/session/{id}/export`. The document is sent while the log is read. If that fails, the connection ends
/// before the document does, so that no half of one is taken for the whole.
pub(in crate::http) async fn export(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
    QueryPart(query): QueryPart<ExportQuery>,
) -> ApiResult<Response> {
    let name = query.format.as_deref().filter(|name| !name.is_empty()).unwrap_or("md");
    let format: ExportFormat = name.parse().map_err(|()| {
        ApiError::bad_request("InvalidQuery", format!("Unknown format {name:?}; use md, md.zip or json."))
    })?;
    // Loading comes first: it ends a turn that an earlier run left open.
    let session = session(&app, &id).await?;
    let store = app.sessions().store();
    let summary = store.session(session.id()).await?.ok_or_else(ApiError::session_not_found)?;
    let head = SessionHead {
        id: summary.id,
        title: summary.profile.title,
        runtime: summary.profile.runtime,
        model: summary.profile.model,
        working_directory: summary.profile.working_directory,
        created_at: summary.created_at,
        exported_at: now(),
    };
    let details = json!(details(&app, session.id()).await?);
    let export = Export::new(store.clone(), head, details, summary.last_seq, format);
    let pieces = stream::try_unfold(export, |mut export| async move {
        match export.next_piece().await {
            Ok(piece) => Ok(piece.map(|piece| (piece, export))),
            Err(error) => {
                tracing::warn!(error = %crate::http::error::sentence(&error), "an export ended early");
                Err(io::Error::other(error))
            }
        }
    });
    let disposition = format!("attachment; filename=\"{}.{}\"", session.id(), format.extension());
    let headers = [(header::CONTENT_TYPE, format.mime().to_owned()), (header::CONTENT_DISPOSITION, disposition)];
    Ok((headers, Body::from_stream(pieces)).into_response())
}

pub(super) fn operations() -> Vec<Operation> {
    vec![
        get("/api/copilot/session/{id}/export", export)
            .named("exportSession", Tag::Reading, "Export a session")
            .details(
                "The session as Markdown, as a ZIP archive with its images and outputs, or as complete JSON. The document is \
                 sent while the log is read; if that fails, the connection is closed before the document is complete.",
            )
            .replies_with_text(200, "text/markdown")
            .replies_with_text(200, "application/zip")
            .replies_with::<serde_json::Map<String, serde_json::Value>>(200, "application/json")
            .fails_with::<SessionError>(),
    ]
}
