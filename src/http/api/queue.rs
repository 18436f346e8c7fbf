//! Prompts that wait: listed, changed, cancelled and reordered.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::session;
use crate::http::app::App;
use crate::http::body::{JsonBody, NoBody, PathPart};
use crate::http::error::{ApiError, ApiResult};
use crate::http::openapi::{NoContent, Operation, Tag, delete, patch, put};
use crate::model::{PromptId, SessionId};
use crate::session::{PromptError, QueueChange};
use crate::store;

/// A prompt that waits for its turn.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct QueuedPrompt {
    prompt_id: PromptId,
    text: String,
    attachments: Vec<QueuedAttachment>,
    /// Whether it can be changed, moved and cancelled. One that carries the answers to requests cannot.
    changeable: bool,
}

/// A file that was sent along with a queued prompt.
#[derive(Serialize, JsonSchema)]
struct QueuedAttachment {
    name: String,
    mime: String,
    /// In bytes.
    size: u64,
}

impl From<&store::QueuedPrompt> for QueuedPrompt {
    fn from(prompt: &store::QueuedPrompt) -> Self {
        let attachments = prompt.attachments.iter().map(|attachment| QueuedAttachment {
            name: attachment.name.clone(),
            mime: attachment.mime.clone(),
            size: decoded_size(&attachment.data),
        });
        Self {
            prompt_id: prompt.id,
            text: prompt.text.clone(),
            attachments: attachments.collect(),
            changeable: !prompt.is_continuation,
        }
    }
}

/// How many bytes a text in base64 stands for. It was decoded when it was accepted, so it has its padding.
fn decoded_size(base64: &str) -> u64 {
    let padding = base64.bytes().rev().take_while(|byte| *byte == b'=').count();
    (base64.len() / 4 * 3).saturating_sub(padding) as u64
}

/// All prompts that wait, in the order in which they are sent.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct Queue {
    queued_prompts: Vec<QueuedPrompt>,
}

/// A new text of a queued prompt.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct PromptChange {
    text: String,
    /// The text that this one replaces. If the queued text is another one, nothing is changed.
    before: Option<String>,
}

/// An order of the queue.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::http) struct QueueOrder {
    prompt_ids: Vec<PromptId>,
}

/// Changes the text of a queued prompt.
pub(in crate::http) async fn change_prompt(
    State(app): State<App>,
    PathPart((id, prompt)): PathPart<(String, String)>,
    JsonBody(PromptChange { text, before }): JsonBody<PromptChange>,
) -> ApiResult<Json<Queue>> {
    let session = session(&app, &id).await?;
    session.change_queue(QueueChange::Text { prompt: prompt_id(&prompt)?, text, before }).await?;
    queue(&app, session.id()).await
}

/// Cancels a queued prompt. To cancel it twice is harmless.
pub(in crate::http) async fn cancel_prompt(
    State(app): State<App>,
    PathPart((id, prompt)): PathPart<(String, String)>,
    NoBody: NoBody,
) -> ApiResult<NoContent> {
    let session = session(&app, &id).await?;
    session.change_queue(QueueChange::Cancel { prompt: prompt_id(&prompt)? }).await?;
    Ok(NoContent)
}

/// Puts the queued prompts in another order.
pub(in crate::http) async fn order_queue(
    State(app): State<App>,
    PathPart(id): PathPart<String>,
    JsonBody(QueueOrder { prompt_ids }): JsonBody<QueueOrder>,
) -> ApiResult<Json<Queue>> {
    let session = session(&app, &id).await?;
    session.change_queue(QueueChange::Order(prompt_ids)).await?;
    queue(&app, session.id()).await
}

async fn queue(app: &App, id: SessionId) -> ApiResult<Json<Queue>> {
    let stored = app.sessions().store().load_session(id).await?.ok_or_else(ApiError::session_not_found)?;
    Ok(Json(Queue { queued_prompts: stored.queued.iter().map(QueuedPrompt::from).collect() }))
}

/// The id of a prompt in a path; a malformed one names a prompt that does not exist.
fn prompt_id(text: &str) -> ApiResult<PromptId> {
    text.parse().map_err(|_| {
        let message = format!("There is no prompt {text:?} in this session.");
        ApiError::new(StatusCode::NOT_FOUND, "PromptNotFound", message)
    })
}

pub(super) fn operations() -> Vec<Operation> {
    vec![
        patch("/api/copilot/session/{id}/prompt/{prompt}", change_prompt)
            .named("changeQueuedPrompt", Tag::Prompts, "Change a queued prompt")
            .path_part("prompt", "The id of a prompt.")
            .fails_with::<PromptError>(),
        delete("/api/copilot/session/{id}/prompt/{prompt}", cancel_prompt)
            .named("cancelQueuedPrompt", Tag::Prompts, "Cancel a queued prompt")
            .path_part("prompt", "The id of a prompt.")
            .fails_with::<PromptError>(),
        put("/api/copilot/session/{id}/queue", order_queue)
            .named("orderQueue", Tag::Prompts, "Reorder the queued prompts")
            .fails_with::<PromptError>(),
    ]
}

#[cfg(test)]
mod tests {
    use base64::prelude::{BASE64_STANDARD, Engine as _};

    use super::*;

    #[test]
    fn the_size_of_an_attachment_is_that_of_its_content() {
        for size in 0..9 {
            assert_eq!(decoded_size(&BASE64_STANDARD.encode(vec![7_u8; size])), size as u64);
        }
    }
}
