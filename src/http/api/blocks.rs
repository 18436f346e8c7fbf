//! Events of a log, rendered as HTML.

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response as HttpResponse};
use schemars::JsonSchema;
use serde::Deserialize;

use super::session;
use crate::http::app::App;
use crate::http::body::{PathPart, QueryPart};
use crate::http::error::{ApiError, ApiResult};
use crate::http::openapi::{Operation, Tag, get};
use crate::model::{Callback, Response, Seq, SessionId, ToolError, ToolResult};
use crate::render::{Block, Budget, Extent, Html, ToolBlock, ToolImage, ToolOutput, render};
use crate::session::SessionError;
use crate::store::Store;

/// Events never change, but a later version of the server may render them better.
const CACHE: &str = "private, max-age=86400, immutable";
/// The fragment is for Flightdeck's own pages. Opened by itself, it can do nothing.
const POLICY: &str = "default-src 'none'; img-src 'self'; sandbox; frame-ancestors 'none'";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct BlockQuery {
    /// `1` for nearly everything; long outputs are cut to 400 lines otherwise.
    #[schemars(extend("enum" = ["0", "1", "false", "true"]))]
    all: Option<String>,
}

/// `N.html`: the event with number N, rendered.
pub(in crate::http) async fn block(
    State(app): State<App>,
    PathPart((id, file)): PathPart<(String, String)>,
    QueryPart(query): QueryPart<BlockQuery>,
) -> ApiResult<HttpResponse> {
    let session = session(&app, &id).await?;
    let extent = extent(query.all.as_deref())?;
    let number = file.strip_suffix(".html").filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
    let seq: Seq = number.and_then(|number| number.parse().ok()).ok_or_else(not_found)?;
    let store = app.sessions().store();
    let event = store.event(session.id(), seq).await?.ok_or_else(not_found)?;
    let text = std::str::from_utf8(&event.body).map_err(|_| not_found())?;
    let found = found(store, session.id(), seq, text).await?.ok_or_else(not_found)?;
    let work = move || {
        let mut budget = Budget::default();
        (found.html(extent, &mut budget), budget.ran_out())
    };
    let (html, ran_out) = rendered(&app, work).await?;
    Ok(fragment(html, ran_out))
}

/// The response with something rendered. What ran out of time may be rendered better the next time.
pub(super) fn fragment(html: Html, ran_out: bool) -> HttpResponse {
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CACHE_CONTROL, if ran_out { "no-store" } else { CACHE }),
        (header::CONTENT_SECURITY_POLICY, POLICY),
    ];
    (headers, html.into_string()).into_response()
}

fn not_found() -> ApiError {
    ApiError::new(
        StatusCode::NOT_FOUND,
        "BlockNotFound",
        "No event with this number can be shown; GET …/log has the numbers of the ends of messages, reasoning and tool \
         calls, of prompts, permissions and questions.",
    )
}

fn extent(all: Option<&str>) -> ApiResult<Extent> {
    match all {
        None | Some("0" | "false") => Ok(Extent::Beginning),
        Some("1" | "true") => Ok(Extent::All),
        Some(_) => Err(ApiError::bad_request("InvalidQuery", "Invalid query: all must be 1 or left out.")),
    }
}

/// Renders on a blocking thread, so that only other renderings have to wait.
pub(super) async fn rendered<T: Send + 'static>(app: &App, work: impl FnOnce() -> T + Send + 'static) -> ApiResult<T> {
    let failed = || {
        ApiError::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "RenderingFailed",
            "Could not render this as HTML; GET …/log returns the raw text.",
        )
    };
    let place = app.rendering().clone().acquire_owned().await.map_err(|_| failed())?;
    let task = tokio::task::spawn_blocking(move || {
        // Held until the work is done, even if the caller has disconnected.
        let _place = place;
        work()
    });
    task.await.map_err(|_| failed())
}

/// Everything that rendering needs.
pub(super) enum Found {
    Prose(String),
    Prompt(String),
    Question { question: String, detail: Option<String> },
    Permission { kind: String, detail: String, working_directory: Option<String> },
    Tool(Box<FoundTool>),
}

#[derive(Default)]
pub(super) struct FoundTool {
    name: String,
    arguments: String,
    output: Option<FoundOutput>,
    images: Vec<ToolImage>,
    error: Option<ToolError>,
    working_directory: Option<String>,
}

struct FoundOutput {
    content: String,
    content_address: Option<String>,
    detailed: Option<String>,
    detailed_address: Option<String>,
}

impl Found {
    pub fn html(&self, extent: Extent, budget: &mut Budget) -> Html {
        let block = match self {
            Self::Prose(text) => Block::Prose(text),
            Self::Prompt(text) => Block::Prompt(text),
            Self::Question { question, detail } => Block::Question { question, detail: detail.as_deref() },
            Self::Permission { kind, detail, working_directory } => {
                Block::Permission { kind, detail, working_directory: working_directory.as_deref() }
            }
            Self::Tool(tool) => Block::Tool(ToolBlock {
                name: &tool.name,
                arguments: &tool.arguments,
                output: tool.output.as_ref().map(|output| ToolOutput {
                    content: &output.content,
                    content_address: output.content_address.as_deref(),
                    detailed: output.detailed.as_deref(),
                    detailed_address: output.detailed_address.as_deref(),
                }),
                images: &tool.images,
                error: tool.error.as_ref(),
                working_directory: tool.working_directory.as_deref(),
            }),
        };
        render(&block, extent, budget)
    }
}

/// The block that the event ends, with everything that belongs to it.
pub(super) async fn found(store: &Store, session: SessionId, seq: Seq, json: &str) -> ApiResult<Option<Found>> {
    let Some(Response::Callback(callback)) = Response::from_json(json) else { return Ok(None) };
    Ok(match callback {
        Callback::EndMessage { complete_content, .. } | Callback::EndReasoning { complete_content, .. } => {
            Some(Found::Prose(complete_content))
        }
        Callback::UserPrompt { text, .. }
        | Callback::PromptChanged { text, .. }
        | Callback::GeneratedUserPrompt { prompt: text, .. } => Some(Found::Prompt(text)),
        Callback::QuestionAsked { question, detail, .. } => Some(Found::Question { question, detail }),
        Callback::PermissionRequested { kind, detail, .. } => {
            let working_directory = working_directory(store, session).await?;
            Some(Found::Permission { kind, detail, working_directory })
        }
        Callback::EndToolExecution { result, error, .. } => {
            let start = store.block_start(session, seq).await?;
            let start = start.as_ref().and_then(|event| Response::from_json(std::str::from_utf8(&event.body).ok()?));
            let (name, arguments) = match start {
                Some(Response::Callback(Callback::StartToolExecution { tool_name, tool_arguments, .. })) => {
                    (tool_name, tool_arguments)
                }
                _ => ("tool".to_owned(), String::new()),
            };
            let images = result.as_ref().map(|result| images(session, &result.images)).unwrap_or_default();
            let output = match result {
                Some(result) => Some(whole_output(store, session, result).await?),
                None => None,
            };
            let working_directory = working_directory(store, session).await?;
            Some(Found::Tool(Box::new(FoundTool { name, arguments, output, images, error, working_directory })))
        }
        _ => None,
    })
}

async fn working_directory(store: &Store, session: SessionId) -> ApiResult<Option<String>> {
    let summary = store.session(session).await?;
    let folder = summary.and_then(|summary| summary.profile.working_directory);
    Ok(folder.map(|folder| folder.to_string_lossy().into_owned()))
}

/// The event contains the beginning of a large output; its blob contains all of it.
async fn whole_output(store: &Store, session: SessionId, result: ToolResult) -> ApiResult<FoundOutput> {
    let content_address = result.content_blob.as_deref().map(|hash| blob_address(session, hash));
    let detailed_address = result.detailed_content_blob.as_deref().map(|hash| blob_address(session, hash));
    let content = whole_text(store, session, result.content_blob, result.content).await?;
    let detailed = match result.detailed_content {
        Some(beginning) => Some(whole_text(store, session, result.detailed_content_blob, beginning).await?),
        None => None,
    };
    Ok(FoundOutput { content, content_address, detailed, detailed_address })
}

async fn whole_text(store: &Store, session: SessionId, blob: Option<String>, beginning: String) -> ApiResult<String> {
    let Some(hash) = blob else { return Ok(beginning) };
    match store.blob(session, hash).await {
        Ok(Some(blob)) => Ok(String::from_utf8_lossy(&blob.data).into_owned()),
        // The file is missing or unreadable; show the beginning instead of nothing.
        Ok(None) => Ok(beginning),
        Err(error) => {
            tracing::warn!(%session, error = %error, "a large output could not be read");
            Ok(beginning)
        }
    }
}

fn blob_address(session: SessionId, hash: &str) -> String {
    format!("/api/copilot/session/{session}/blob/{hash}")
}

/// Images that a tool returned, if they are blobs of this session.
fn images(session: SessionId, listed: &[crate::model::ToolImage]) -> Vec<ToolImage> {
    let is_hash = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    listed
        .iter()
        .filter(|image| image.mime.starts_with("image/") && is_hash(&image.blob))
        .map(|image| ToolImage { address: blob_address(session, &image.blob) })
        .collect()
}

pub(super) fn operations() -> Vec<Operation> {
    vec![
        get("/api/copilot/session/{id}/block/{file}", block)
            .named("showBlock", Tag::Reading, "Show an event as HTML")
            .details(
                "The end of a message, of reasoning or of a tool call, a prompt, a permission request or a question. Sanitised, \
                 with classes and no styles.",
            )
            .path_pattern("file", "The number of an event and `.html`, such as `12.html`.", "^[0-9]+\\.html$")
            .replies_with_text(200, "text/html")
            .error(404, "BlockNotFound")
            .error(404, "BlobNotFound")
            .error(500, "RenderingFailed")
            .fails_with::<SessionError>(),
    ]
}
