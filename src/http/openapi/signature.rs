//! What the signature of a handler says about its route: which body and which query it reads, and what it returns.

use std::future::Future;

use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::response::Response;
use axum::{Extension, Json};
use schemars::JsonSchema;

use super::operation::{Content, Operation, RequestContent};
use super::reply::{Accepted, Created, NoContent};
use super::schemas::Schemas;
use crate::http::app::App;
use crate::http::auth::Caller;
use crate::http::body::{JsonBody, NoBody, PathPart, QueryPart, TextBody};
use crate::http::error::ApiResult;

/// One argument of a handler.
pub(in crate::http) trait Argument {
    fn describe(_operation: &mut Operation) {}
}

impl Argument for State<App> {}
impl Argument for Extension<Caller> {}
impl Argument for Option<Extension<Caller>> {}
impl Argument for HeaderMap {}
impl Argument for Request {}

impl<T> Argument for PathPart<T> {
    fn describe(operation: &mut Operation) {
        operation.errors.push((400, "InvalidPath"));
    }
}

/// A handler that reports a wrong path itself.
impl<T, E> Argument for Result<PathPart<T>, E> {}

impl<T: JsonSchema> Argument for QueryPart<T> {
    fn describe(operation: &mut Operation) {
        operation.query = Some(Schemas::query::<T>);
        operation.errors.push((400, "InvalidQuery"));
    }
}

/// The errors of every body.
const BODY: [(u16, &str); 3] = [(400, "InvalidBody"), (408, "BodyTimeout"), (413, "BodyTooLarge")];

impl<T: JsonSchema> Argument for JsonBody<T> {
    fn describe(operation: &mut Operation) {
        operation.body = Some(RequestContent::Json(Schemas::request::<T>));
        operation.errors.extend(BODY);
        operation.errors.extend([(400, "InvalidJson"), (415, "UnsupportedMediaType")]);
    }
}

impl Argument for TextBody {
    fn describe(operation: &mut Operation) {
        operation.body = Some(RequestContent::Text(""));
        operation.errors.extend(BODY);
        operation.errors.push((400, "InvalidUtf8"));
    }
}

impl Argument for NoBody {
    fn describe(operation: &mut Operation) {
        operation.errors.extend(BODY);
    }
}

/// What a handler returns.
pub(in crate::http) trait Reply {
    fn describe(operation: &mut Operation);
}

/// The operation names such replies itself.
impl Reply for Response {
    fn describe(_operation: &mut Operation) {}
}

impl<T: Reply> Reply for ApiResult<T> {
    fn describe(operation: &mut Operation) {
        T::describe(operation);
    }
}

fn json<T: JsonSchema>() -> Content {
    Content::Typed("application/json", Schemas::reply::<T>)
}

impl<T: JsonSchema> Reply for Json<T> {
    fn describe(operation: &mut Operation) {
        operation.replies.push((200, json::<T>()));
    }
}

impl<T: JsonSchema> Reply for Created<T> {
    fn describe(operation: &mut Operation) {
        operation.replies.push((201, json::<T>()));
    }
}

impl<T: JsonSchema> Reply for Accepted<T> {
    fn describe(operation: &mut Operation) {
        operation.replies.push((202, json::<T>()));
    }
}

impl Reply for NoContent {
    fn describe(operation: &mut Operation) {
        operation.replies.push((204, Content::Nothing));
    }
}

/// A handler. `Arguments` is the tuple of its arguments.
pub(in crate::http) trait Signature<Arguments> {
    /// Adds what the signature says.
    fn describe(&self, operation: &mut Operation);
}

macro_rules! signature {
    ($($argument:ident),*) => {
        impl<H, F, R, $($argument),*> Signature<($($argument,)*)> for H
        where
            H: Fn($($argument),*) -> F,
            F: Future<Output = R>,
            R: Reply,
            $($argument: Argument,)*
        {
            fn describe(&self, operation: &mut Operation) {
                $($argument::describe(operation);)*
                R::describe(operation);
            }
        }
    };
}

signature!();
signature!(A);
signature!(A, B);
signature!(A, B, C);
signature!(A, B, C, D);
signature!(A, B, C, D, E);
signature!(A, B, C, D, E, G);
