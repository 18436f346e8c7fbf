//! The dialects of OpenAI: chat completions, responses, and the list of models.

mod chat;
mod chat_answer;
mod chat_request;
mod error;
mod function_calls;
mod models;
mod responses;
mod responses_items;
mod responses_request;
mod responses_stream;
mod tool_choice;
mod tool_definitions;
mod usage;

pub(super) use error::ERRORS;
pub(super) use models::{list_models, model};

use axum::extract::{Request, State};
use axum::response::Response;

use super::app::App;
use super::dialect;
pub(super) use chat::Chat;
use responses::Responses;

/// `POST /v1/chat/completions`.
pub(super) async fn chat_completions(State(app): State<App>, request: Request) -> Response {
    dialect::answer::<Chat>(&app, request).await
}

/// `POST /v1/responses`.
pub(super) async fn responses(State(app): State<App>, request: Request) -> Response {
    dialect::answer::<Responses>(&app, request).await
}
