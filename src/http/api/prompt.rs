//! Prompts and interrupts.

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::session;
use crate::http::app::App;
use crate::http::body::{JsonBody, NoBody, PathPart, idempotency_key};
use crate::http::error::{ApiError, ApiResult};
use crate::http::openapi::{Accepted, Operation, Tag, post};
use crate::model::{Attachment, PromptId, PromptOutcome};
use crate::session::{NewPrompt, PromptError, PromptMode, Session, SessionError};

/// A prompt.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Prompt")]
pub(in crate::http) struct PromptBody {
    text: String,
    #[serde(default)]
    attachments: Vec<Attachment>,
    #[serde(default)]
    mode: Mode,
    /// The reply comes when the turn has ended.
    #[serde(default)]
    wait: bool,
}

/// Where a prompt goes.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "PromptMode")]
enum Mode {
    /// Behind the prompts that wait.
    #[default]
    Queue,
    /// Into the running turn.
    Steer,
}

/// A prompt that was accepted, or with `wait` its outcome.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(in crate::http) enum PromptReply {
    /// The prompt was accepted.
    Accepted(AcceptedPrompt),
    /// Its turn has ended.
    Outcome(Box<PromptOutcome>),
}

/// A prompt that was accepted.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct AcceptedPrompt {
    prompt_id: PromptId,
}

/// The reply to an accepted prompt; with `wait` after the end of its turn.
async fn reply(session: &Session, prompt_id: PromptId, wait: bool) -> ApiResult<Json<PromptReply>> {
    Ok(Json(if wait {
        PromptReply::Outcome(Box::new(session.outcome(prompt_id).await?))
    } else {
        PromptReply::Accepted(AcceptedPrompt { prompt_id })
    }))
}

pub(in crate::http) async fn prompt(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
    headers: HeaderMap,
    JsonBody(body): JsonBody<PromptBody>,
) -> ApiResult<Json<PromptReply>> {
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
    reply(&session, accepted.prompt, body.wait).await
}

/// A prompt to send again.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "AskAgain")]
pub(in crate::http) struct AskAgainBody {
    prompt_id: PromptId,
    /// The reply comes when the turn has ended.
    #[serde(default)]
    wait: bool,
}

pub(in crate::http) async fn ask_again(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
    headers: HeaderMap,
    JsonBody(body): JsonBody<AskAgainBody>,
) -> ApiResult<Json<PromptReply>> {
    let session = session(&app, &id).await?;
    let accepted = session.ask_again(body.prompt_id, idempotency_key(&headers)?).await?;
    reply(&session, accepted.prompt, body.wait).await
}

/// Whether there was a turn to interrupt.
#[derive(Serialize, JsonSchema)]
pub(in crate::http) struct Interruption {
    interrupted: bool,
}

pub(in crate::http) async fn interrupt(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
    NoBody: NoBody,
) -> ApiResult<Accepted<Interruption>> {
    let interrupted = session(&app, &id).await?.interrupt().await?;
    Ok(Accepted(Interruption { interrupted }))
}

pub(super) fn operations() -> Vec<Operation> {
    vec![
        post("/api/copilot/session/{id}/prompt", prompt)
            .named("sendPrompt", Tag::Prompts, "Send a prompt")
            .details(
                "Returns as soon as the prompt is stored. With `wait` the reply comes when the turn has ended. 409 \
                 `BudgetSpent` when a limit that refuses prompts is used up; nothing was written then.",
            )
            .idempotent()
            .error(400, "InvalidAttachment")
            .fails_with::<PromptError>(),
        post("/api/copilot/session/{id}/ask-again", ask_again)
            .named("askAgain", Tag::Prompts, "Send a prompt again")
            .details(
                "Sends a prompt whose turn was interrupted, failed or dropped again, with its attachments, before prompts \
                 that are queued.",
            )
            .idempotent()
            .fails_with::<PromptError>(),
        post("/api/copilot/session/{id}/interrupt", interrupt)
            .named("interruptTurn", Tag::Prompts, "Interrupt the running turn")
            .details("Ends the turn and keeps the session.")
            .fails_with::<SessionError>(),
    ]
}
