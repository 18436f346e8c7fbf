//! Puts the operations together.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::errors::{DIALECT_ERRORS, EVERY_ROUTE, WITH_TOKEN};
use super::operation::{Content, Family, Operation, RequestContent};
use super::schemas::Schemas;
use super::tag::Tag;
use crate::http::anthropic::MessagesError;
use crate::http::error::ErrorReply;
use crate::http::openai::OpenAiError;
use crate::http::portal::PortalError;
use crate::http::route_needs::{Need, route_needs};
use crate::model::Scope;

/// The document for these operations.
pub(super) fn document(operations: Vec<Operation>) -> Value {
    let mut schemas = Schemas::new();
    let mut paths: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
    for operation in operations {
        for method in operation.methods {
            let described = describe(&operation, method, &mut schemas);
            let path = paths.entry(documented_path(operation.path)).or_default();
            path.insert(method.to_ascii_lowercase(), described);
        }
    }
    let mut paths = json!(paths);
    let (named, renamed) = schemas.finish();
    renamed.apply(&mut paths);
    let tags: Vec<Value> = Tag::ALL.map(|tag| json!({ "name": tag.name(), "description": tag.description() })).to_vec();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Flightdeck",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Hosts coding-agent sessions on your own machine.",
            "description": "Flightdeck's own routes take and return JSON; unknown fields and unknown query parameters are \
                errors. Errors are `{\"error\":\"Name\",\"message\":\"for a person\"}`. Each operation names the scope that \
                a token needs in `x-scope`; `docs/api.md` has the rest.",
            "license": { "name": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "tags": tags,
        "paths": paths,
        "components": { "schemas": named, "securitySchemes": security_schemes() },
    })
}

/// A path in the form of OpenAPI, which has no sign for parts that may contain slashes.
fn documented_path(path: &str) -> String {
    path.replace("{*", "{")
}

fn security_schemes() -> Value {
    json!({
        "token": {
            "type": "http",
            "scheme": "bearer",
            "description": "The server's own token (the file `token` in the data folder), or one with scopes from \
                `flightdeck tokens create`.",
        },
        "apiKey": {
            "type": "apiKey",
            "in": "header",
            "name": "x-api-key",
            "description": "The same tokens, as clients of Anthropic's API send them.",
        },
        "loginCookie": {
            "type": "apiKey",
            "in": "cookie",
            "name": "flightdeck_8888",
            "description": "The cookie of a browser that is logged in; its name ends with the server's port. It needs the \
                secret too.",
        },
        "loginSecret": {
            "type": "apiKey",
            "in": "header",
            "name": "Flightdeck-Secret",
            "description": "The secret of a browser that is logged in.",
        },
    })
}

fn describe(operation: &Operation, method: &str, schemas: &mut Schemas) -> Value {
    let need = route_needs()
        .find(|(known, path, _)| *known == method && *path == operation.path)
        .map_or(Need::Admin, |(_, _, need)| need);
    // A portal route does the same for both methods, and ids must be unique.
    let id = if operation.methods.len() > 1 && method == "POST" {
        format!("{}Post", operation.id)
    } else {
        operation.id.to_owned()
    };
    let mut described = json!({
        "operationId": id,
        "tags": [operation.tag.name()],
        "summary": operation.summary,
        "responses": responses(operation, need, schemas),
        "security": security(operation.family, need),
        "x-scope": scope(need),
    });
    if !operation.details.is_empty() {
        described["description"] = json!(operation.details);
    }
    let parameters = parameters(operation, schemas);
    if !parameters.is_empty() {
        described["parameters"] = json!(parameters);
    }
    // A GET with a body works, but OpenAPI gives it no meaning.
    if method != "GET"
        && let Some(body) = &operation.body
    {
        described["requestBody"] = request_body(body, schemas);
    }
    described
}

/// The scope that a caller needs.
fn scope(need: Need) -> Option<&'static str> {
    match need {
        Need::Nothing => None,
        Need::Admin => Some(Scope::Admin.as_str()),
        Need::Scope(scope) => Some(scope.as_str()),
    }
}

fn security(family: Family, need: Need) -> Value {
    let Some(scope) = scope(need) else { return json!([]) };
    match family {
        Family::Dialect => json!([{ "token": [scope] }, { "apiKey": [scope] }]),
        Family::Own | Family::Portal => json!([{ "token": [scope] }, { "loginCookie": [], "loginSecret": [] }]),
    }
}

/// The parts of a path that stand in braces.
fn path_parts(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

fn parameters(operation: &Operation, schemas: &mut Schemas) -> Vec<Value> {
    let mut parameters = Vec::new();
    for part in path_parts(operation.path) {
        let name = part.trim_start_matches('*');
        let described = operation.parameters.iter().find(|(known, _, _)| *known == name);
        let (description, schema) = match described {
            Some((_, description, schema)) => (*description, schema.clone()),
            None => id_of(operation.path),
        };
        let schema = with(schema, "minLength", json!(1));
        parameters.push(json!({
            "name": name, "in": "path", "required": true, "description": description, "schema": schema,
        }));
    }
    if let Some(query) = operation.query {
        let query = query(schemas);
        let required = query["required"].as_array().cloned().unwrap_or_default();
        for (name, schema) in query["properties"].as_object().into_iter().flatten() {
            let mut schema = without_null(schema.clone());
            let description = schema.as_object_mut().and_then(|schema| schema.remove("description"));
            parameters.push(json!({
                "name": name,
                "in": "query",
                "required": required.iter().any(|known| known == name),
                "description": description.unwrap_or_default(),
                "schema": schema,
            }));
        }
    }
    for (name, description, schema) in &operation.headers {
        parameters.push(json!({
            "name": name, "in": "header", "required": false, "description": description, "schema": schema,
        }));
    }
    parameters
}

/// What `{id}` means when an operation does not say so.
fn id_of(path: &str) -> (&'static str, Value) {
    let id = |pattern: &str| json!({ "type": "string", "pattern": pattern });
    if path.contains("/session") {
        ("The id of a session.", id("^session-[1-9][0-9]*$"))
    } else if path.contains("/task/") {
        ("The id of a task.", id("^task-[1-9][0-9]*$"))
    } else {
        ("The id of a job.", id("^job-[1-9][0-9]*$"))
    }
}

fn with(mut schema: Value, keyword: &str, value: Value) -> Value {
    schema[keyword] = value;
    schema
}

/// A query has no null: what is missing is left out.
fn without_null(mut schema: Value) -> Value {
    if let Some(types) = schema["type"].as_array() {
        let others: Vec<Value> = types.iter().filter(|name| *name != "null").cloned().collect();
        schema["type"] = if let [only] = others.as_slice() { only.clone() } else { json!(others) };
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        let others: Vec<Value> = choices.iter().filter(|choice| choice["type"] != "null").cloned().collect();
        if let [only] = others.as_slice() {
            let description = schema["description"].clone();
            schema = only.clone();
            if description.is_string() {
                schema["description"] = description;
            }
        }
    }
    if let Some(fields) = schema.as_object_mut() {
        fields.retain(|name, value| name != "default" || !value.is_null());
    }
    schema
}

fn request_body(body: &RequestContent, schemas: &mut Schemas) -> Value {
    match body {
        RequestContent::Json(schema) => {
            json!({ "required": true, "content": { "application/json": { "schema": schema(schemas) } } })
        }
        RequestContent::Form(schema) => json!({
            "required": true,
            "content": { "application/x-www-form-urlencoded": { "schema": schema(schemas) } },
        }),
        RequestContent::Text(description) => {
            let schema = json!({ "type": "string" });
            json!({ "required": false, "description": description, "content": { "text/plain": { "schema": schema } } })
        }
    }
}

fn responses(operation: &Operation, need: Need, schemas: &mut Schemas) -> Value {
    let mut responses = Map::new();
    for (status, content) in &operation.replies {
        let entry = responses.entry(status.to_string()).or_insert_with(|| json!({ "description": reason(*status) }));
        add_content(entry, operation, content, schemas);
    }
    if operation.family == Family::Dialect {
        let schema = json!({ "anyOf": [schemas.reply::<OpenAiError>(), schemas.reply::<MessagesError>()] });
        for status in DIALECT_ERRORS {
            let content = json!({ "application/json": { "schema": schema } });
            responses.insert(status.to_string(), json!({ "description": reason(status), "content": content }));
        }
        return Value::Object(responses);
    }
    for (status, names) in errors(operation, need) {
        let schema = json!({
            "allOf": [schemas.reply::<ErrorReply>()],
            "properties": { "error": { "enum": names } },
        });
        let entry = responses.entry(status.to_string()).or_insert_with(|| json!({ "description": reason(status) }));
        entry["content"]["application/json"]["schema"] = schema;
        entry["x-errors"] = json!(names);
    }
    Value::Object(responses)
}

fn add_content(entry: &mut Value, operation: &Operation, content: &Content, schemas: &mut Schemas) {
    let (media_type, media) = match content {
        Content::Nothing => return,
        Content::Typed(media_type, schema) => (*media_type, json!({ "schema": schema(schemas) })),
        Content::Plain(media_type) => (*media_type, json!({ "schema": { "type": "string" } })),
        Content::Events(schema) => (
            "text/event-stream",
            json!({
                "schema": { "type": "string", "description": "Server-sent events." },
                // The schema of what follows `data:`. OpenAPI 3.1 has no keyword for it.
                "x-event-data": schema(schemas),
            }),
        ),
    };
    let mut media = media;
    if !operation.portal_errors.is_empty() && media_type == "application/json" {
        let refused = json!({
            "allOf": [schemas.reply::<PortalError>()],
            "properties": { "error": { "enum": operation.portal_errors } },
        });
        media["schema"] = json!({ "anyOf": [media["schema"], refused] });
        entry["x-errors"] = json!(operation.portal_errors);
    }
    // Several types of one media type are alternatives.
    let known = &mut entry["content"][media_type];
    if known["schema"].is_null() {
        *known = media;
    } else {
        known["schema"] = json!({ "anyOf": [known["schema"], media["schema"]] });
    }
}

/// The names of all errors, by status.
fn errors(operation: &Operation, need: Need) -> BTreeMap<u16, BTreeSet<&'static str>> {
    let mut errors: BTreeMap<u16, BTreeSet<&'static str>> = BTreeMap::new();
    let guarded = WITH_TOKEN.iter().filter(|_| need != Need::Nothing);
    // A route without parameters refuses all of them; the portal's routes ignore them.
    let query = [(400, "InvalidQuery")];
    let query = query.iter().filter(|_| operation.family == Family::Own);
    for (status, name) in operation.errors.iter().chain(&EVERY_ROUTE).chain(guarded).chain(query) {
        errors.entry(*status).or_default().insert(*name);
    }
    errors
}

fn reason(status: u16) -> &'static str {
    axum::http::StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason()).unwrap_or("Error")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_has_an_operation_and_every_operation_a_route() {
        let operations = crate::http::router::operations();
        let described: Vec<(&str, &str)> = operations
            .iter()
            .flat_map(|operation| operation.methods.iter().map(|method| (*method, operation.path)))
            .collect();
        let unique: BTreeSet<(&str, &str)> = described.iter().copied().collect();
        assert_eq!(described.len(), unique.len(), "an operation is there twice");
        let routes: BTreeSet<(&str, &str)> = route_needs().map(|(method, path, _)| (method, path)).collect();
        let missing: Vec<_> = routes.difference(&unique).collect();
        let extra: Vec<_> = unique.difference(&routes).collect();
        assert!(
            missing.is_empty() && extra.is_empty(),
            "routes without an operation: {missing:?}; operations without a route: {extra:?}; \
             add the operation to `operations()` beside its handler"
        );
    }

    #[test]
    fn every_operation_says_what_it_does_and_returns_something() {
        let mut ids = BTreeSet::new();
        for operation in crate::http::router::operations() {
            assert!(!operation.id.is_empty() && !operation.summary.is_empty(), "{}", operation.path);
            assert!(ids.insert(operation.id), "the id {} is there twice", operation.id);
            assert!(!operation.replies.is_empty(), "{} has no reply: name it with `replies_with`", operation.id);
            let known: Vec<&str> = path_parts(operation.path).map(|part| part.trim_start_matches('*')).collect();
            for (name, _, _) in &operation.parameters {
                assert!(known.contains(name), "{} has no part {name}", operation.path);
            }
        }
    }

    #[test]
    fn no_two_types_share_a_name() {
        let document = super::super::openapi();
        for name in document["components"]["schemas"].as_object().expect("schemas").keys() {
            let numbered = name.ends_with(|last: char| last.is_ascii_digit());
            assert!(!numbered, "another type has the name {name} without its number: rename one for the document");
        }
    }

    #[test]
    fn null_is_no_value_of_a_query() {
        assert_eq!(without_null(json!({ "type": ["string", "null"], "default": null })), json!({ "type": "string" }));
        let choice = json!({ "anyOf": [{ "$ref": "#/x" }, { "type": "null" }], "description": "d" });
        assert_eq!(without_null(choice), json!({ "$ref": "#/x", "description": "d" }));
    }
}
