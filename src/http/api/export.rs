//! A session as a document.

use std::io;

use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::Deserialize;

use super::details::details;
use super::session;
use crate::export::{Export, ExportFormat, SessionHead};
use crate::http::app::App;
use crate::http::body::{PathPart, QueryPart};
use crate::http::error::{ApiError, ApiResult};
use crate::session::now;

/// The query parameters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct ExportQuery {
    /// `md`, `md.zip` or `json`.
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
    let details = details(&app, session.id()).await?;
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
