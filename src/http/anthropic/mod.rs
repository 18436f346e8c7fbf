//! The dialect of Anthropic: messages.

mod error;
mod messages;
mod messages_answer;
mod messages_blocks;
mod messages_request;
mod messages_tools;
mod usage;

pub(super) use error::{ERRORS, MessagesError};

use axum::extract::{Request, State};
use axum::response::Response;

use super::app::App;
use super::dialect::{self, Dialect};
use super::openapi::{Operation, Tag, post};
use messages::Messages;

/// `POST /v1/messages`.
pub(super) async fn messages(State(app): State<App>, request: Request) -> Response {
    dialect::answer::<Messages>(&app, request).await
}

/// `POST /v1/messages/count_tokens`.
pub(super) async fn count_tokens(State(app): State<App>, request: Request) -> Response {
    dialect::estimate_tokens::<Messages>(&app, request).await
}

pub(super) fn operations() -> Vec<Operation> {
    vec![
        post("/v1/messages", messages)
            .named("messages", Tag::Models, "Anthropic messages")
            .details("With `stream` the reply is server-sent events.")
            .takes::<messages_request::MessagesRequest>()
            .replies_with::<<Messages as Dialect>::Answer>(200, "application/json")
            .streams::<messages_answer::MessageEvent>()
            .in_dialect(),
        post("/v1/messages/count_tokens", count_tokens)
            .named("countTokens", Tag::Models, "Estimate the tokens of a request")
            .takes::<messages_request::MessagesRequest>()
            .replies_with::<dialect::TokenEstimate>(200, "application/json")
            .in_dialect(),
    ]
}
