//! Prompts and interrupts.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde::Deserialize;
use serde_json::{Value, json};

use super::session;
use crate::http::app::App;
use crate::http::body::{JsonBody, NoBody, PathPart, idempotency_key};
use crate::http::error::{ApiError, ApiResult};
use crate::model::{Attachment, PromptId};
use crate::session::{NewPrompt, PromptMode};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct PromptBody {
    text: String,
    #[serde(default)]
    attachments: Vec<Attachment>,
    #[serde(default)]
    mode: Mode,
    #[serde(default)]
    wait: bool,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Mode {
    #[default]
    Queue,
    Steer,
}

pub(in crate::http) async fn prompt(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
    headers: HeaderMap,
    JsonBody(body): JsonBody<PromptBody>,
) -> ApiResult<Json<Value>> {
    if let Some(attachment) =
        body.attachments.iter().find(|attachment| BASE64_STANDARD.decode(&attachment.data).is_err())
    {
        return Err(ApiError::bad_request(
            "InvalidAttachment",
            format!("Invalid attachment {:?}: its data is not valid base64.", attachment.name),
        ));
    }
    let session = session(&app, &id).await?;
    let prompt = NewPrompt {
        text: body.text,
        attachments: body.attachments,
        mode: match body.mode {
            Mode::Queue => PromptMode::Queue,
            Mode::Steer => PromptMode::Steer,
        },
        idempotency_key: idempotency_key(&headers)?,
        ..NewPrompt::default()
    };
    let accepted = session.prompt(prompt).await?;
    if !body.wait {
        return Ok(Json(json!({ "promptId": accepted.prompt })));
    }
    let outcome = session.outcome(accepted.prompt).await?;
    Ok(Json(json!(outcome)))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::http) struct AskAgainBody {
    prompt_id: PromptId,
    #[serde(default)]
    wait: bool,
}

pub(in crate::http) async fn ask_again(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
    headers: HeaderMap,
    JsonBody(body): JsonBody<AskAgainBody>,
) -> ApiResult<Json<Value>> {
    let session = session(&app, &id).await?;
    let accepted = session.ask_again(body.prompt_id, idempotency_key(&headers)?).await?;
    if !body.wait {
        return Ok(Json(json!({ "promptId": accepted.prompt })));
    }
    let outcome = session.outcome(accepted.prompt).await?;
    Ok(Json(json!(outcome)))
}

pub(in crate::http) async fn interrupt(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
    NoBody: NoBody,
) -> ApiResult<Response> {
    let interrupted = session(&app, &id).await?.interrupt().await?;
    Ok((StatusCode::ACCEPTED, Json(json!({ "interrupted": interrupted }))).into_response())
}
