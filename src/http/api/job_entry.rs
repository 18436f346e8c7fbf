//! The entry of a folder: which tasks and jobs there are, and whether somebody trusts it.

use std::path::PathBuf;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::http::app::App;
use crate::http::body::{JsonBody, QueryPart};
use crate::http::error::ApiResult;
use crate::http::openapi::{Empty, Operation, Tag, get, post};
use crate::jobs::entry::SCHEMA;
use crate::jobs::{EntryDescription, JobError};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::http) struct EntryQuery {
    /// The folder whose entry is wanted.
    working_directory: Option<PathBuf>,
}

/// The entry of a folder, or that there is none.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(in crate::http) enum EntryReply {
    /// An entry.
    Entry(Box<EntryDescription>),
    /// No entry is installed, which happens only with `--test`.
    None(NoEntry),
}

/// No entry is installed.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct NoEntry {
    /// `none`.
    source: &'static str,
    problems: [(); 0],
    in_force: bool,
    trusted: bool,
}

/// The entry of a folder. Also answers while no entry is installed, so that a page can ask.
pub(in crate::http) async fn entry(
    State(app): State<App>,
    QueryPart(query): QueryPart<EntryQuery>,
) -> ApiResult<Json<EntryReply>> {
    match app.jobs().entries().describe(query.working_directory.as_deref()).await {
        Ok(description) => Ok(Json(EntryReply::Entry(Box::new(description)))),
        Err(JobError::NoEntry) => {
            Ok(Json(EntryReply::None(NoEntry { source: "none", problems: [], in_force: false, trusted: false })))
        }
        Err(other) => Err(other.into()),
    }
}

/// An entry of a folder to trust.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TrustedEntry")]
pub(in crate::http) struct TrustBody {
    path: PathBuf,
    /// The hash of the file, as `GET /api/jobs/entry` returns it.
    hash: String,
}

pub(in crate::http) async fn trust_entry(
    State(app): State<App>,
    JsonBody(body): JsonBody<TrustBody>,
) -> ApiResult<Json<Empty>> {
    app.jobs().entries().trust(&body.path, &body.hash).await?;
    Ok(Json(Empty {}))
}

/// The JSON Schema of an entry, for editors.
pub(in crate::http) async fn entry_schema() -> Response {
    ([(header::CONTENT_TYPE, "application/schema+json")], SCHEMA).into_response()
}

pub(super) fn operations() -> Vec<Operation> {
    vec![
        get("/api/jobs/entry", entry)
            .named("showEntry", Tag::Jobs, "Show the entry of a folder")
            .details(
                "The definitions of tasks and jobs for a folder. A folder's entry that nobody has trusted is not in effect; \
                 `fallback` is the one that is.",
            )
            .fails_with::<JobError>(),
        get("/api/jobs/schema.json", entry_schema)
            .named("entrySchema", Tag::Jobs, "The JSON Schema of an entry")
            .replies_with::<serde_json::Map<String, Value>>(200, "application/schema+json"),
        post("/api/jobs/trust", trust_entry)
            .named("trustEntry", Tag::Jobs, "Trust the entry of a folder")
            .details("Trusts an entry of a folder as long as the file has this hash.")
            .fails_with::<JobError>(),
    ]
}
