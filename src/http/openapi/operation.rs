//! One operation: a route with everything that the document says about it.

use schemars::JsonSchema;
use serde_json::{Value, json};

use super::errors::{Errors, Named};
use super::schemas::Schemas;
use super::signature::Signature;
use super::tag::Tag;

/// Makes a schema, when the document is built.
pub(super) type SchemaOf = fn(&mut Schemas) -> Value;

/// What a reply has as its body.
#[derive(Clone)]
pub(super) enum Content {
    /// Nothing.
    Nothing,
    /// A value of a type, in a media type.
    Typed(&'static str, SchemaOf),
    /// Bytes of a media type.
    Plain(&'static str),
    /// Server-sent events, with the type of their data.
    Events(SchemaOf),
}

/// What a request has as its body.
#[derive(Clone)]
pub(super) enum RequestContent {
    /// JSON of a type.
    Json(SchemaOf),
    /// Plain text, with what it means.
    Text(&'static str),
    /// A form, with the type of its fields.
    Form(SchemaOf),
}

/// How the errors of a route are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    /// Status codes, and `{"error","message"}`.
    Own,
    /// The same, and its own errors as 200 with `{"error"}`.
    Portal,
    /// The shapes of OpenAI and Anthropic.
    Dialect,
}

/// A route and what it does.
#[derive(Clone)]
pub(in crate::http) struct Operation {
    pub(super) methods: &'static [&'static str],
    pub(super) path: &'static str,
    pub(super) family: Family,
    pub(super) id: &'static str,
    pub(super) tag: Tag,
    pub(super) summary: &'static str,
    pub(super) details: &'static str,
    pub(super) parameters: Vec<(&'static str, &'static str, Value)>,
    pub(super) headers: Vec<(&'static str, &'static str, Value)>,
    pub(super) query: Option<SchemaOf>,
    pub(super) body: Option<RequestContent>,
    pub(super) replies: Vec<(u16, Content)>,
    pub(super) errors: Vec<Named>,
    pub(super) portal_errors: Vec<&'static str>,
}

/// An operation of `GET` on a path.
#[expect(clippy::needless_pass_by_value, reason = "handlers are named like values")]
pub(in crate::http) fn get<H: Signature<Arguments>, Arguments>(path: &'static str, handler: H) -> Operation {
    Operation::new(&["GET"], path, Family::Own, &handler)
}

/// An operation of `POST` on a path.
#[expect(clippy::needless_pass_by_value, reason = "handlers are named like values")]
pub(in crate::http) fn post<H: Signature<Arguments>, Arguments>(path: &'static str, handler: H) -> Operation {
    Operation::new(&["POST"], path, Family::Own, &handler)
}

/// An operation of `PATCH` on a path.
#[expect(clippy::needless_pass_by_value, reason = "handlers are named like values")]
pub(in crate::http) fn patch<H: Signature<Arguments>, Arguments>(path: &'static str, handler: H) -> Operation {
    Operation::new(&["PATCH"], path, Family::Own, &handler)
}

/// An operation of `PUT` on a path.
#[expect(clippy::needless_pass_by_value, reason = "handlers are named like values")]
pub(in crate::http) fn put<H: Signature<Arguments>, Arguments>(path: &'static str, handler: H) -> Operation {
    Operation::new(&["PUT"], path, Family::Own, &handler)
}

/// An operation of `DELETE` on a path.
#[expect(clippy::needless_pass_by_value, reason = "handlers are named like values")]
pub(in crate::http) fn delete<H: Signature<Arguments>, Arguments>(path: &'static str, handler: H) -> Operation {
    Operation::new(&["DELETE"], path, Family::Own, &handler)
}

/// A route of the portal, which takes GET and POST alike.
#[expect(clippy::needless_pass_by_value, reason = "handlers are named like values")]
pub(in crate::http) fn portal<H: Signature<Arguments>, Arguments>(path: &'static str, handler: H) -> Operation {
    Operation::new(&["GET", "POST"], path, Family::Portal, &handler)
}

impl Operation {
    fn new<H: Signature<Arguments>, Arguments>(
        methods: &'static [&'static str],
        path: &'static str,
        family: Family,
        handler: &H,
    ) -> Self {
        let mut operation = Self {
            methods,
            path,
            family,
            id: "",
            tag: Tag::Server,
            summary: "",
            details: "",
            parameters: Vec::new(),
            headers: Vec::new(),
            query: None,
            body: None,
            replies: Vec::new(),
            errors: Vec::new(),
            portal_errors: Vec::new(),
        };
        handler.describe(&mut operation);
        operation
    }

    /// Its id for programs, its group, and what it does in a few words.
    pub fn named(self, id: &'static str, tag: Tag, summary: &'static str) -> Self {
        Self { id, tag, summary, ..self }
    }

    /// More about it, as Markdown.
    pub fn details(self, details: &'static str) -> Self {
        Self { details, ..self }
    }

    /// What a part of the path means. `{id}` needs none.
    pub fn path_part(mut self, name: &'static str, description: &'static str) -> Self {
        self.parameters.push((name, description, json!({ "type": "string" })));
        self
    }

    /// A part of the path with a pattern.
    pub fn path_pattern(mut self, name: &'static str, description: &'static str, pattern: &'static str) -> Self {
        self.parameters.push((name, description, json!({ "type": "string", "pattern": pattern })));
        self
    }

    /// A call may be repeated with the same key without doing its work twice.
    pub fn idempotent(mut self) -> Self {
        let description = "A key of the caller's choice. A repeated call with the same key and body gets the result of the \
                           first one.";
        let schema = json!({ "type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]+$" });
        self.headers.push(("Idempotency-Key", description, schema));
        self.error(400, "InvalidIdempotencyKey").error(422, "IdempotencyKeyReused")
    }

    /// What the text of the body means.
    pub fn takes_text(self, description: &'static str) -> Self {
        Self { body: Some(RequestContent::Text(description)), ..self }
    }

    /// The body is a form.
    pub fn takes_form<T: JsonSchema>(self) -> Self {
        Self { body: Some(RequestContent::Form(Schemas::request::<T>)), ..self }
    }

    /// The body is JSON that the handler reads by itself.
    pub fn takes<T: JsonSchema>(self) -> Self {
        Self { body: Some(RequestContent::Json(Schemas::request::<T>)), ..self }
    }

    /// A reply that the handler writes by itself.
    pub fn replies_with<T: JsonSchema>(mut self, status: u16, media_type: &'static str) -> Self {
        self.replies.push((status, Content::Typed(media_type, Schemas::reply::<T>)));
        self
    }

    /// A reply that is text or bytes.
    pub fn replies_with_text(mut self, status: u16, media_type: &'static str) -> Self {
        self.replies.push((status, Content::Plain(media_type)));
        self
    }

    /// A stream of server-sent events whose data is of a type.
    pub fn streams<T: JsonSchema>(mut self) -> Self {
        self.replies.push((200, Content::Events(Schemas::reply::<T>)));
        self
    }

    /// A stream that a reader can continue by number.
    pub fn resumable(mut self) -> Self {
        let description = "The number of the last event that the reader has; wins over `after`.";
        self.headers.push(("Last-Event-ID", description, json!({ "type": "string", "pattern": "^[0-9]*$" })));
        self.replies.push((204, Content::Nothing));
        self.error(400, "InvalidCursor").error(400, "CursorAhead")
    }

    /// An error that it may return.
    pub fn error(mut self, status: u16, name: &'static str) -> Self {
        self.errors.push((status, name));
        self
    }

    /// All errors that an error type becomes.
    pub fn fails_with<E: Errors>(mut self) -> Self {
        self.errors.extend(E::ERRORS.iter().flat_map(|errors| errors.iter()));
        self
    }

    /// Errors that a portal route returns with status 200.
    pub fn portal_errors(mut self, names: &[&'static str]) -> Self {
        self.portal_errors.extend(names);
        self
    }

    /// A route of the model API, whose errors have the shapes of its dialects.
    pub fn in_dialect(self) -> Self {
        Self { family: Family::Dialect, ..self }
    }
}
