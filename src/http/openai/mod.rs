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

pub(super) use error::{ERRORS, OpenAiError};
pub(super) use models::{list_models, model};

use axum::extract::{Request, State};
use axum::response::Response;

use super::app::App;
use super::dialect::{self, Dialect};
use super::openapi::{Operation, Tag, get, post};
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

pub(super) fn operations() -> Vec<Operation> {
    vec![
        post("/v1/chat/completions", chat_completions)
            .named("chatCompletions", Tag::Models, "OpenAI chat completions")
            .details("With `stream` the reply is server-sent events.")
            .takes::<chat_request::ChatRequest>()
            .replies_with::<<Chat as Dialect>::Answer>(200, "application/json")
            .streams::<chat_answer::ChatChunk>()
            .in_dialect(),
        post("/v1/responses", responses)
            .named("responses", Tag::Models, "OpenAI responses")
            .details("Stateless: nothing is stored, so every request has the whole conversation.")
            .takes::<responses_request::ResponsesRequest>()
            .replies_with::<<Responses as Dialect>::Answer>(200, "application/json")
            .streams::<responses_stream::ResponseEvent>()
            .in_dialect(),
        get("/v1/models", list_models).named("listModelObjects", Tag::Models, "List models").in_dialect(),
        get("/v1/models/{*id}", model)
            .named("showModelObject", Tag::Models, "Show a model")
            .path_part("id", "The id of a model, which may contain slashes.")
            .replies_with::<models::ModelObject>(200, "application/json")
            .in_dialect(),
    ]
}
