//! Requests of the model API that never reach an agent: every error is in the shape of its dialect.

use hyper::Method;
use serde_json::{Value, json};

use crate::support::Server;

const OPENAI: [&str; 2] = ["/v1/chat/completions", "/v1/responses"];
const ANTHROPIC: [&str; 2] = ["/v1/messages", "/v1/messages/count_tokens"];

/// The type and the message of an error, if it has the shape that its path calls for.
fn error(path: &str, body: &Value) -> (String, String) {
    let error = &body["error"];
    if path.starts_with("/v1/messages") {
        assert_eq!(body["type"], "error", "{path}: {body}");
        assert!(body["request_id"].is_string(), "{path}: {body}");
    } else {
        assert!(error.get("param").is_some() && error.get("code").is_some(), "{path}: {body}");
    }
    let text = |name: &str| error[name].as_str().unwrap_or_else(|| panic!("{path}: {body}")).to_owned();
    (text("type"), text("message"))
}

#[tokio::test]
async fn a_body_that_cannot_be_read_is_refused_in_the_dialects_shape() {
    let server = Server::builder().config("[limits]\nbody_bytes = 100000\n").start().await;
    let http = server.http();
    for path in OPENAI.into_iter().chain(ANTHROPIC) {
        for body in ["", "{", "[]", "{\"model\":\"m\"}", "{\"model\":\"m\",\"messages\":[],\"input\":[]}"] {
            let reply = http.post(path, body.to_owned()).await;
            assert_eq!(reply.status, 400, "{path} {body}: {}", reply.text());
            assert_eq!(error(path, &reply.json()).0, "invalid_request_error", "{path} {body}");
        }
        let reply = http.post(path, vec![b' '; 100_001]).await;
        assert_eq!(reply.status, 413, "{path}");
        let kind = if ANTHROPIC.contains(&path) { "request_too_large" } else { "invalid_request_error" };
        assert_eq!(error(path, &reply.json()).0, kind);
    }
}

#[tokio::test]
async fn an_unknown_route_method_model_or_mode_is_refused_in_the_dialects_shape() {
    let server = Server::start().await;
    let http = server.http();
    for path in ["/v1", "/v1/embeddings", "/v1/messages/batches", "/v1/models/no/such"] {
        let reply = http.get(path).await;
        assert_eq!(reply.status, 404, "{path}: {}", reply.text());
        error(path, &reply.json());
    }
    let reply = http.header("anthropic-version", "2023-06-01").get("/v1/models/no").await;
    assert_eq!((reply.status.as_u16(), &reply.json()["error"]["type"]), (404, &json!("not_found_error")));
    for path in OPENAI.into_iter().chain(ANTHROPIC) {
        let reply = http.send(Method::GET, path, "").await;
        assert_eq!((reply.status.as_u16(), reply.header("allow")), (405, "POST"), "{path}");
        error(path, &reply.json());
    }
    for path in OPENAI.into_iter().chain(["/v1/messages"]) {
        let body = json!({"model": "m", "messages": [{"role": "user", "content": "a"}], "input": "a"});
        let reply = http.header("x-flightdeck-capture", "keep").post_json(path, &body).await;
        assert_eq!(reply.status, 400, "{path}: {}", reply.text());
        let (_, message) = error(path, &reply.json());
        assert!(message.contains("x-flightdeck-capture"), "{path}: {message}");
    }
}

#[tokio::test]
async fn tokens_are_counted_roughly_and_the_response_says_so() {
    let server = Server::start().await;
    let count = async |text: String| {
        let body = json!({"model": "m", "messages": [{"role": "user", "content": text}]});
        let reply = server.http().post_json("/v1/messages/count_tokens?beta=true", &body).await;
        assert_eq!(reply.header("x-flightdeck-estimate"), "true");
        reply.json()["input_tokens"].as_u64().expect("a number")
    };
    assert_eq!(count("a".repeat(4_000)).await - count(String::new()).await, 1_000);
}
