//! Bodies that are not what a route takes.

use hyper::Method;
use serde_json::{Value, json};

use super::{check_healthy_with_sessions, check_untouched, ready_session};
use crate::support::{Server, TestSession};

/// Every route of ours that takes a body, with one that it would take.
fn routes_with_bodies(session: &TestSession) -> Vec<(Method, String, Value)> {
    vec![
        (Method::POST, "/api/copilot/session".to_owned(), json!({ "runtime": "demo" })),
        (Method::PATCH, session.path(""), json!({ "title": "changed" })),
        (Method::POST, session.path("/prompt"), json!({ "text": "hello" })),
        (Method::POST, session.path("/permission/request-1"), json!({ "decision": "deny" })),
        (Method::POST, session.path("/answer/request-1"), json!({ "answer": "red" })),
    ]
}

#[tokio::test]
async fn another_content_type_than_json_is_refused_on_our_own_routes() {
    let server = Server::start().await;
    let (session, details) = ready_session(&server).await;
    for (method, path, body) in routes_with_bodies(&session) {
        for kind in
            ["", "text/plain", "application/x-www-form-urlencoded", "text/json", "application/jsonx", "json", "*/*"]
        {
            let client = if kind.is_empty() { server.http() } else { server.http().header("content-type", kind) };
            let reply = client.send(method.clone(), &path, body.to_string()).await;
            assert_eq!(reply.error(415), "UnsupportedMediaType", "{method} {path} {kind}");
            assert!(reply.text().contains("application/json"), "it says what to send: {}", reply.text());
        }
    }
    check_untouched(&session, &details).await;
    check_healthy_with_sessions(&server, 1).await;
    for kind in ["application/json", "Application/JSON; charset=utf-8", "application/merge-patch+json"] {
        let client = server.http().header("content-type", kind);
        let reply = client.send(Method::PATCH, &session.path(""), json!({ "title": kind }).to_string()).await;
        assert_eq!(reply.json()["title"], kind);
    }
}

#[tokio::test]
async fn a_body_that_is_not_a_json_object_is_refused() {
    let server = Server::start().await;
    let (session, details) = ready_session(&server).await;
    let deep = format!("{{\"options\":{{\"a\":{}1{}}}}}", "[".repeat(500), "]".repeat(500));
    let bodies: Vec<&[u8]> = vec![
        b"",
        b" ",
        b"{",
        b"}",
        b"{\"text\":\"a\"",
        b"{\"text\":\"a\"}}",
        b"{'text':'a'}",
        b"text=a",
        b"null",
        b"true",
        b"1",
        b"\"hello\"",
        b"[]",
        b"[{}]",
        b"\xff\xfe",
        b"{\"title\":\"\xff\"}",
        b"{\"title\":\"\\ud800\"}",
        b"{\"title\":NaN}",
        b"\xef\xbb\xbf{}",
        b"{\"text\":\"a\",\"text\":\"b\"}",
        deep.as_bytes(),
        // What a positional reading of the fields would take.
        b"[null,null,null,null,null,null,null,{}]",
        b"[\"changed\",null,null,null]",
        b"[\"hello\",[],\"queue\",false]",
        b"[\"deny\",null]",
        b"[\"red\"]",
    ];
    for (method, path, _) in routes_with_bodies(&session) {
        for body in &bodies {
            let client = server.http().header("content-type", "application/json");
            let reply = client.send(method.clone(), &path, body.to_vec()).await;
            assert_eq!(reply.error(400), "InvalidJson", "{method} {path} {}", String::from_utf8_lossy(body));
        }
    }
    check_untouched(&session, &details).await;
    check_healthy_with_sessions(&server, 1).await;
}

#[tokio::test]
async fn an_unknown_field_is_refused_by_name() {
    let server = Server::start().await;
    let (session, details) = ready_session(&server).await;
    for (method, path, mut body) in routes_with_bodies(&session) {
        body["surprise"] = json!(1);
        let client = server.http().header("content-type", "application/json");
        let reply = client.send(method.clone(), &path, body.to_string()).await;
        assert_eq!(reply.error(400), "InvalidJson", "{method} {path}");
        assert!(reply.text().contains("surprise"), "{}", reply.text());
    }
    let attachment = json!({ "name": "a", "mime": "text/plain", "data": "YQ==", "surprise": 1 });
    let reply = session.post("/prompt", json!({ "text": "hello", "attachments": [attachment] })).await;
    assert_eq!(reply.error(400), "InvalidJson");
    check_untouched(&session, &details).await;
    check_healthy_with_sessions(&server, 1).await;
}

#[tokio::test]
async fn a_field_of_the_wrong_type_is_refused() {
    let server = Server::start().await;
    let (session, details) = ready_session(&server).await;
    let texts = ["runtime", "model", "workingDirectory", "title", "effort", "systemPrompt"];
    for wrong in [json!(1), json!(true), json!(["demo"]), json!({ "a": 1 })] {
        for field in texts {
            let reply = server.http().post_json("/api/copilot/session", &json!({ field: wrong })).await;
            assert_eq!(reply.error(400), "InvalidJson", "{field}: {wrong}");
        }
        for field in ["title", "model", "effort"] {
            let client = server.http().header("content-type", "application/json");
            let reply = client.send(Method::PATCH, &session.path(""), json!({ field: wrong }).to_string()).await;
            assert_eq!(reply.error(400), "InvalidJson", "{field}: {wrong}");
        }
    }
    for options in [json!(1), json!("a"), json!([1]), json!(null)] {
        let reply = server.http().post_json("/api/copilot/session", &json!({ "options": options })).await;
        assert_eq!(reply.error(400), "InvalidJson", "{options}");
    }
    check_untouched(&session, &details).await;
    check_healthy_with_sessions(&server, 1).await;
}

#[tokio::test]
async fn a_permission_mode_that_does_not_exist_is_refused_with_those_that_do() {
    let server = Server::start().await;
    let (session, details) = ready_session(&server).await;
    for mode in [
        json!("sometimes"),
        json!("Ask"),
        json!(""),
        json!(1),
        json!([]),
        json!({ "mode": "sometimes" }),
        json!({ "mode": 1 }),
        json!({ "modes": "ask" }),
        json!({ "mode": "ask", "rules": "all" }),
        json!({ "mode": "ask", "rules": [{ "tool": "shell" }] }),
        json!({ "mode": "ask", "rules": [{ "tool": "shell", "decision": "perhaps" }] }),
    ] {
        let body = json!({ "runtime": "demo", "permissionMode": mode });
        let reply = server.http().post_json("/api/copilot/session", &body).await;
        assert_eq!(reply.error(400), "InvalidPermissionMode", "{mode}");
        let client = server.http().header("content-type", "application/json");
        let body = json!({ "title": "changed", "permissionMode": mode }).to_string();
        let reply = client.send(Method::PATCH, &session.path(""), body).await;
        assert_eq!(reply.error(400), "InvalidPermissionMode", "{mode}");
    }
    let body = json!({ "permissionMode": "sometimes" });
    let message = server.http().post_json("/api/copilot/session", &body).await.text().to_owned();
    assert!(["ask", "allow-all", "deny"].iter().all(|mode| message.contains(mode)), "{message}");
    check_untouched(&session, &details).await;
    check_healthy_with_sessions(&server, 1).await;
}

#[tokio::test]
async fn an_update_to_an_unknown_model_changes_nothing() {
    let server = Server::start().await;
    let (session, details) = ready_session(&server).await;
    let client = server.http().header("content-type", "application/json");
    for model in ["no-such-model", "", "other/demo"] {
        let body = json!({ "title": "changed", "model": model }).to_string();
        let reply = client.send(Method::PATCH, &session.path(""), body).await;
        assert_eq!(reply.error(400), "ModelIdNotFound", "{model}");
    }
    check_untouched(&session, &details).await;
    let untouched = client.send(Method::PATCH, &session.path(""), "{}").await;
    assert_eq!(untouched.status, 200, "an update of nothing is no error");
    check_healthy_with_sessions(&server, 1).await;
}
