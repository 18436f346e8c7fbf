//! The OpenAPI document: every route, with its parameters, bodies, replies, errors and scope.
//!
//! What must always hold here:
//!
//! - Each route has one operation, which stands beside its handler. A test compares the operations with the route table.
//! - The types of bodies, queries and replies are read from the handler's own signature (`signature`), so the document
//!   cannot promise another type than the handler returns. Only replies that are written byte by byte are named by hand.
//! - Scopes come from the route table, and nowhere else.

mod document;
mod errors;
mod operation;
mod reply;
mod schemas;
mod signature;
mod tag;

use std::sync::LazyLock;

use axum::http::header;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde_json::Value;

pub(super) use operation::{Operation, delete, get, patch, portal, post, put};
pub(super) use reply::{Accepted, Created, Empty, NoContent};
pub(super) use signature::Reply;
pub(super) use tag::Tag;

/// The document as it is sent.
static DOCUMENT: LazyLock<Bytes> = LazyLock::new(|| Bytes::from(openapi().to_string()));

/// The document.
pub fn openapi() -> Value {
    document::document(super::router::operations())
}

/// `GET /api/openapi.json`.
pub(super) async fn openapi_document() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], DOCUMENT.clone()).into_response()
}

/// The operations of this module's own routes.
pub(super) fn operations() -> Vec<Operation> {
    vec![
        get("/api/openapi.json", openapi_document)
            .named("openApiDocument", Tag::Server, "This document")
            .details("The OpenAPI 3.1 description of every route.")
            .replies_with::<serde_json::Map<String, Value>>(200, "application/json"),
        get("/api/docs", super::pages::api_docs)
            .named("apiDocs", Tag::Server, "The API as a page")
            .details("Shows this document in a browser. Loads nothing from elsewhere.")
            .replies_with_text(200, "text/html"),
    ]
}
