//! Ids of sessions that are not there.

use hyper::Method;
use serde_json::{Value, json};

use super::{check_healthy_with_sessions, check_untouched, ready_session};
use crate::support::{Server, exchange};

/// The portal's routes, where `ID` stands for the id.
const PORTAL: [&str; 8] =
    ["ID/stop", "stop/ID", "ID/query", "query/ID", "ID/live", "live/ID", "ID/live/reader", "ID/live/reader?after=5"];

/// Our own routes.
fn own_routes() -> Vec<(Method, &'static str, Value)> {
    vec![
        (Method::GET, "ID", Value::Null),
        (Method::PATCH, "ID", json!({ "title": "changed" })),
        (Method::DELETE, "ID", Value::Null),
        (Method::POST, "ID/prompt", json!({ "text": "hello" })),
        (Method::POST, "ID/prompt", json!({ "text": "hello", "wait": true })),
        (Method::POST, "ID/interrupt", Value::Null),
        (Method::POST, "ID/reopen", Value::Null),
        (Method::GET, "ID/events", Value::Null),
        (Method::GET, "ID/events?after=3", Value::Null),
        (Method::GET, "ID/log", Value::Null),
        (Method::GET, "ID/log?after=3&limit=1", Value::Null),
        (Method::GET, "ID/blob/00", Value::Null),
        (Method::POST, "ID/permission/request-1", json!({ "decision": "deny" })),
        (Method::POST, "ID/answer/request-1", json!({ "answer": "red" })),
    ]
}

/// Nobody has that id: the portal says so with 200, our own routes with 404.
async fn check_unknown(server: &Server, id: &str) {
    for route in PORTAL {
        let path = format!("/api/copilot/session/{}", route.replace("ID", id));
        for reply in [server.http().get(&path).await, server.http().post(&path, "hello").await] {
            assert_eq!(reply.status, 200, "{path}: {}", reply.text());
            assert_eq!(reply.json(), json!({ "error": "SessionNotFound" }), "{path}");
        }
    }
    let http = server.http().header("content-type", "application/json");
    for (method, route, body) in own_routes() {
        let path = format!("/api/copilot/session/{}", route.replace("ID", id));
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let reply = http.send(method.clone(), &path, body).await;
        assert_eq!(reply.error(404), "SessionNotFound", "{method} {path}");
    }
}

#[tokio::test]
async fn an_id_that_was_never_given_is_not_found_on_any_route() {
    let server = Server::start().await;
    let (session, details) = ready_session(&server).await;
    check_unknown(&server, "session-2").await;
    check_unknown(&server, "session-4194304").await;
    check_unknown(&server, "session-4294967295").await;
    check_untouched(&session, &details).await;
    check_healthy_with_sessions(&server, 1).await;
}

#[tokio::test]
async fn an_id_that_only_looks_like_one_names_no_session() {
    let server = Server::start().await;
    let (session, details) = ready_session(&server).await;
    let long = format!("session-{}", "1".repeat(5_000));
    for id in [
        "session-0",
        "session-01",
        "session-+1",
        "session--1",
        "session-1%20",
        "%20session-1",
        "session-1%00",
        "session-1.0",
        "session-4294967296",
        "session-4294967297",
        "session-18446744073709551617",
        "SESSION-1",
        "session",
        "session-",
        "task-1",
        "1",
        "%2e%2e",
        "..",
        "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "session-1%2f..%2fsession-1",
        "session-%D9%A1",
        "%F0%9F%9A%80",
        "'%20OR%201=1--",
        &long,
    ] {
        check_unknown(&server, id).await;
    }
    check_untouched(&session, &details).await;
    check_healthy_with_sessions(&server, 1).await;
}

#[tokio::test]
async fn a_deleted_session_is_as_unknown_as_one_that_never_was_and_its_id_is_not_given_again() {
    let server = Server::start().await;
    let (session, _) = ready_session(&server).await;
    assert_eq!(session.http.send(Method::DELETE, &session.path(""), "").await.status, 204);
    check_unknown(&server, &session.id).await;
    assert_eq!(server.session().await.id, "session-2");
    let server = server.restart().await;
    check_unknown(&server, "session-1").await;
    assert_eq!(server.session().await.id, "session-3");
}

#[tokio::test]
async fn a_path_that_is_not_utf_8_is_a_bad_request() {
    let server = Server::start().await;
    let (session, details) = ready_session(&server).await;
    for route in PORTAL {
        let path = format!("/api/copilot/session/{}", route.replace("ID", "session-1%ff"));
        assert_eq!(server.http().post(&path, "hello").await.error(400), "InvalidPath", "{path}");
    }
    let http = server.http().header("content-type", "application/json");
    for (method, route, body) in own_routes() {
        let path = format!("/api/copilot/session/{}", route.replace("ID", "%c3%28"));
        let reply = http.send(method.clone(), &path, body.to_string()).await;
        assert_eq!(reply.error(400), "InvalidPath", "{method} {path}");
    }
    assert_eq!(server.http().post("/api/copilot/session/start/%ff", "").await.error(400), "InvalidPath");
    assert_eq!(server.http().get("/%ff").await.status, 404);

    let head = format!("Host: localhost\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\r\n", server.token());
    for target in [&b"/api/copilot/session/\xff\xfe/stop"[..], b"/\xff", b"/api/test?\xff", b"/a b"] {
        let request = [b"POST ", target, b" HTTP/1.1\r\n", head.as_bytes()].concat();
        let reply = exchange(&server.authority(), &request).await;
        assert_eq!(reply.status, 400, "{target:?}: {}", reply.text);
    }
    check_untouched(&session, &details).await;
    check_healthy_with_sessions(&server, 1).await;
}

#[tokio::test]
async fn a_missing_page_and_an_unknown_route_say_so_in_their_own_words() {
    let server = Server::start().await;
    for path in
        ["/nothing", "/index.htm", "/../Cargo.toml", "/%2e%2e/%2e%2e/etc/passwd", "/index.html/", "//index.html"]
    {
        let reply = server.http().get(path).await;
        assert_eq!((reply.status.as_u16(), reply.text()), (404, "Not Found"), "{path}");
    }
    for path in [
        "/api",
        "/api/",
        "/api/nothing",
        "/api/test/",
        "/api/Test",
        "/api/copilot/session/",
        "/api/copilot/session/start/",
    ] {
        for reply in [server.http().get(path).await, server.http().post(path, "x").await] {
            assert_eq!(reply.status, 404, "{path}");
            assert_eq!(reply.json(), json!({ "error": "Unknown API endpoint" }), "{path}");
        }
    }
    check_healthy_with_sessions(&server, 0).await;
}
