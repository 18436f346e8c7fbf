//! The user's prompt templates.

use std::path::PathBuf;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::{PromptTemplate, PromptTemplates, TemplateError};
use crate::http::app::App;
use crate::http::body::{JsonBody, NoBody, PathPart};
use crate::http::error::{ApiError, ApiResult, sentence};
use crate::http::openapi::{NoContent, Operation, Tag, delete, get, put};

/// All templates.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct TemplateList {
    /// The folder that they are in.
    folder: String,
    /// Sorted by name.
    prompts: Vec<Template>,
    /// Files that could not be used, and why.
    problems: Vec<String>,
}

/// A prompt template.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct Template {
    name: String,
    /// Empty if there is none.
    description: String,
    /// What is sent, with its placeholders.
    text: String,
    /// Whether something takes the place of a placeholder in it.
    takes_input: bool,
}

impl From<PromptTemplate> for Template {
    fn from(template: PromptTemplate) -> Self {
        let takes_input = template.takes_input();
        let PromptTemplate { name, description, text } = template;
        Self { name, description, text, takes_input }
    }
}

/// A template as it is to be.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct TemplateBody {
    text: String,
    #[serde(default)]
    description: String,
}

pub(in crate::http) async fn prompt_templates(State(app): State<App>) -> ApiResult<Json<TemplateList>> {
    let templates = templates(&app)?;
    let folder = templates.folder().display().to_string();
    let list = run(move || templates.list()).await?;
    let prompts = list.templates.into_iter().map(Template::from).collect();
    Ok(Json(TemplateList { folder, prompts, problems: list.problems }))
}

pub(in crate::http) async fn save_prompt_template(
    State(app): State<App>,
    PathPart(name): PathPart<String>,
    JsonBody(TemplateBody { text, description }): JsonBody<TemplateBody>,
) -> ApiResult<Json<Template>> {
    let templates = templates(&app)?;
    let template = PromptTemplate { name, description, text };
    Ok(Json(run(move || templates.save(template)).await?.into()))
}

pub(in crate::http) async fn remove_prompt_template(
    State(app): State<App>,
    PathPart(name): PathPart<String>,
    NoBody: NoBody,
) -> ApiResult<NoContent> {
    let templates = templates(&app)?;
    run(move || templates.remove(&name)).await?;
    Ok(NoContent)
}

fn templates(app: &App) -> ApiResult<PromptTemplates> {
    let user_file: PathBuf = app.config().loaded().user_file.clone();
    PromptTemplates::beside(&user_file).ok_or_else(|| {
        let message = "This server was started without a configuration folder, so it has no prompt templates.";
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "TemplateFile", message)
    })
}

/// Files are read and written.
async fn run<T: Send + 'static>(work: impl FnOnce() -> Result<T, TemplateError> + Send + 'static) -> ApiResult<T> {
    let done = tokio::task::spawn_blocking(work).await;
    let done =
        done.map_err(|error| ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "InternalError", sentence(&error)))?;
    done.map_err(|error| {
        let (status, name) = match error {
            TemplateError::Name(_) => (StatusCode::BAD_REQUEST, "InvalidName"),
            TemplateError::Content(_) => (StatusCode::BAD_REQUEST, "InvalidTemplate"),
            TemplateError::NotFound(_) => (StatusCode::NOT_FOUND, "TemplateNotFound"),
            TemplateError::TooMany => (StatusCode::TOO_MANY_REQUESTS, "TooManyTemplates"),
            TemplateError::File { .. } => (StatusCode::INTERNAL_SERVER_ERROR, "TemplateFile"),
        };
        ApiError::new(status, name, sentence(&error))
    })
}

pub(super) fn operations() -> Vec<Operation> {
    let named = |operation: Operation| {
        operation
            .path_part("name", "The name of a template: lower-case letters, digits, `-` and `_`.")
            .error(400, "InvalidName")
            .error(500, "TemplateFile")
    };
    vec![
        get("/api/prompts", prompt_templates)
            .named("listPromptTemplates", Tag::Prompts, "List prompt templates")
            .error(500, "TemplateFile"),
        named(put("/api/prompts/{name}", save_prompt_template))
            .named("savePromptTemplate", Tag::Prompts, "Save a prompt template")
            .error(400, "InvalidTemplate")
            .error(429, "TooManyTemplates"),
        named(delete("/api/prompts/{name}", remove_prompt_template))
            .named("removePromptTemplate", Tag::Prompts, "Remove a prompt template")
            .error(404, "TemplateNotFound"),
    ]
}
