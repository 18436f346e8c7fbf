//! The dialect of Anthropic: messages.

mod error;
mod messages;
mod messages_answer;
mod messages_blocks;
mod messages_request;
mod messages_tools;
mod usage;

pub(super) use error::ERRORS;

use axum::extract::{Request, State};
use axum::response::Response;

use super::app::App;
use super::dialect;
use messages::Messages;

/// `POST /v1/messages`.
pub(super) async fn messages(State(app): State<App>, request: Request) -> Response {
    dialect::answer::<Messages>(&app, request).await
}

/// `POST /v1/messages/count_tokens`.
pub(super) async fn count_tokens(State(app): State<App>, request: Request) -> Response {
    dialect::estimate_tokens::<Messages>(&app, request).await
}
