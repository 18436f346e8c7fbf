//! Full-text search over all sessions.

use std::path::{Path, PathBuf};

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::session_id;
use crate::http::app::App;
use crate::http::body::QueryPart;
use crate::http::error::{ApiError, ApiResult, sentence};
use crate::http::openapi::{Operation, Tag, get};
use crate::model::{Day, Seq, SessionId, Timestamp};
use crate::search::{self, Cursor, Hit, LastWord, Search};
use crate::session::now;
use crate::store::{IndexProgress, SearchKind, SessionFacts, SnippetPart};

/// How many hits are returned by default, and at most.
const USUAL_HITS: usize = 20;
const MOST_HITS: usize = 100;

/// The query parameters; an empty one counts as missing.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct SearchQuery {
    /// What to search for.
    q: Option<String>,
    /// Whether the last word may go on, because somebody is typing.
    typing: Option<bool>,
    /// Only this session.
    session: Option<String>,
    /// Only sessions in this folder or below it.
    folder: Option<String>,
    /// Only sessions of this runtime.
    runtime: Option<String>,
    /// Only these kinds, separated by commas.
    kind: Option<String>,
    /// Only from this day or moment on.
    from: Option<String>,
    /// Only up to this day or moment.
    to: Option<String>,
    /// How many hits: 20 by default, at most 100.
    limit: Option<usize>,
    /// Where the page begins: the `next` of the page before.
    after: Option<String>,
}

/// The response.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::http) struct SearchReply {
    /// Sessions whose title or folder matches; only on the first page.
    sessions: Vec<FoundSession>,
    /// Texts, the best first.
    hits: Vec<FoundText>,
    /// The `after` of the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    /// How far the index is, if something is missing in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    indexing: Option<Indexing>,
}

/// A session.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FoundSession {
    session_id: SessionId,
    title: Option<String>,
    runtime: String,
    working_directory: Option<String>,
    updated_at: Timestamp,
}

/// A text in a session.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FoundText {
    session_id: SessionId,
    title: Option<String>,
    runtime: String,
    working_directory: Option<String>,
    seq: Seq,
    block_id: String,
    /// `prompt`, `message`, `reasoning` or `tool`.
    kind: &'static str,
    time: Timestamp,
    snippet: Vec<FoundPart>,
}

/// A piece of a snippet.
#[derive(Debug, Serialize, JsonSchema)]
struct FoundPart {
    text: String,
    #[serde(rename = "match", skip_serializing_if = "std::ops::Not::not")]
    is_match: bool,
}

/// How far the index is, in events.
#[derive(Debug, Serialize, JsonSchema)]
struct Indexing {
    done: u64,
    total: u64,
}

/// `GET /api/copilot/search`.
pub(in crate::http) async fn search(
    State(app): State<App>,
    QueryPart(query): QueryPart<SearchQuery>,
) -> ApiResult<Json<SearchReply>> {
    let wanted = query.search()?;
    let cursor = given(query.after.as_deref()).map(cursor).transpose()?;
    let limit = query.limit.unwrap_or(USUAL_HITS).clamp(1, MOST_HITS);
    let results = search::search(app.sessions().store(), &wanted, cursor, limit, now()).await?;
    Ok(Json(SearchReply {
        sessions: results.sessions.into_iter().map(FoundSession::from).collect(),
        hits: results.hits.into_iter().map(FoundText::from).collect(),
        next: results.next.map(|Cursor { at, offset }| format!("{}-{offset}", at.as_millis())),
        indexing: results.indexing.map(Indexing::from),
    }))
}

impl SearchQuery {
    fn search(&self) -> ApiResult<Search> {
        let last = if self.typing == Some(true) { LastWord::Typing } else { LastWord::Complete };
        let mut terms = search::parse(self.q.as_deref().unwrap_or_default(), last).map_err(|error| {
            ApiError::bad_request("InvalidSearch", format!("Invalid search: {}", lower_sentence(&error)))
        })?;
        terms.kinds = given(self.kind.as_deref()).map(kinds).transpose()?.unwrap_or_default();
        let (from, to) = (moment("from", self.from.as_deref())?, moment("to", self.to.as_deref())?);
        Ok(Search {
            terms,
            session: given(self.session.as_deref()).map(session_id).transpose()?,
            folder: given(self.folder.as_deref()).map(folder).transpose()?,
            runtime: given(self.runtime.as_deref()).map(str::to_owned),
            from: from.map(|(begins, _)| begins),
            to: to.map(|(_, ends)| ends),
        })
    }
}

fn given(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.is_empty())
}

/// A sentence that follows a colon.
fn lower_sentence(error: &dyn std::error::Error) -> String {
    let text = sentence(error);
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

fn invalid(message: String) -> ApiError {
    ApiError::bad_request("InvalidQuery", message)
}

fn kinds(text: &str) -> ApiResult<Vec<SearchKind>> {
    let mut kinds = Vec::new();
    for word in text.split(',') {
        match word.trim() {
            "prompt" => kinds.push(SearchKind::Prompt),
            "message" => kinds.push(SearchKind::Message),
            "reasoning" => kinds.push(SearchKind::Reasoning),
            "tool" => kinds.extend([SearchKind::ToolCall, SearchKind::ToolOutput]),
            other => {
                let message = format!("Unknown kind {other:?}; use prompt, message, reasoning or tool.");
                return Err(invalid(message));
            }
        }
    }
    kinds.sort_unstable();
    kinds.dedup();
    Ok(kinds)
}

fn folder(text: &str) -> ApiResult<PathBuf> {
    let path = Path::new(text);
    if path.is_absolute() {
        return Ok(path.to_owned());
    }
    Err(invalid(format!("The folder {text:?} is not an absolute path.")))
}

/// A day or a moment: its first and its last millisecond.
fn moment(name: &str, text: Option<&str>) -> ApiResult<Option<(Timestamp, Timestamp)>> {
    let Some(text) = given(text) else { return Ok(None) };
    if let Ok(day) = text.parse::<Day>() {
        return Ok(Some((day.begins(), day.ends())));
    }
    match serde_json::from_value::<Timestamp>(text.into()) {
        Ok(moment) => Ok(Some((moment, moment))),
        Err(_) => Err(invalid(format!(
            "Invalid {name} {text:?}; expected a day such as 2026-03-01 or a moment such as 2026-03-01T12:00:00Z."
        ))),
    }
}

fn cursor(text: &str) -> ApiResult<Cursor> {
    let read = || {
        let (at, offset) = text.split_once('-')?;
        Some(Cursor { at: Timestamp::from_millis(at.parse().ok()?), offset: offset.parse().ok()? })
    };
    read().ok_or_else(|| {
        ApiError::bad_request("InvalidCursor", format!("Invalid after {text:?}; use the next of the page before."))
    })
}

fn shown(folder: Option<&PathBuf>) -> Option<String> {
    folder.map(|folder| folder.to_string_lossy().into_owned())
}

impl From<SessionFacts> for FoundSession {
    fn from(session: SessionFacts) -> Self {
        Self {
            session_id: session.id,
            working_directory: shown(session.working_directory.as_ref()),
            title: session.title,
            runtime: session.runtime,
            updated_at: session.updated_at,
        }
    }
}

impl From<Hit> for FoundText {
    fn from(hit: Hit) -> Self {
        Self {
            session_id: hit.session.id,
            working_directory: shown(hit.session.working_directory.as_ref()),
            title: hit.session.title,
            runtime: hit.session.runtime,
            seq: hit.seq,
            block_id: hit.block_id,
            kind: match hit.kind {
                SearchKind::Prompt => "prompt",
                SearchKind::Message => "message",
                SearchKind::Reasoning => "reasoning",
                SearchKind::ToolCall | SearchKind::ToolOutput => "tool",
            },
            time: hit.time,
            snippet: hit.snippet.into_iter().map(FoundPart::from).collect(),
        }
    }
}

impl From<SnippetPart> for FoundPart {
    fn from(part: SnippetPart) -> Self {
        Self { text: part.text, is_match: part.is_match }
    }
}

impl From<IndexProgress> for Indexing {
    fn from(progress: IndexProgress) -> Self {
        Self { done: progress.done, total: progress.total }
    }
}

pub(super) fn operations() -> Vec<Operation> {
    vec![
        get("/api/copilot/search", search)
            .named("search", Tag::Search, "Search all sessions")
            .details(
                "Searches prompts, messages, reasoning, and the names, arguments and outputs of tools. All words must occur; \
                 `\"two words\"` is a phrase, `conf*` a beginning, `-word` an exclusion. Better matches come first.",
            )
            .error(400, "InvalidSearch")
            .error(400, "InvalidCursor")
            .error(404, "SessionNotFound"),
    ]
}
