//! Query parameters and bodies that a route does not take: errors on our own routes, ignored on the portal's.

use hyper::Method;
use serde_json::json;

use super::{check_healthy_with_sessions, check_untouched, ready_session};
use crate::support::Server;

#[tokio::test]
async fn an_unknown_query_parameter_is_an_error_on_every_route_of_our_own() {
    let server = Server::start().await;
    let (session, details) = ready_session(&server).await;
    let at = |rest: &str| session.path(rest);
    let (get, post, patch, delete) = (Method::GET, Method::POST, Method::PATCH, Method::DELETE);
    let routes: Vec<(&Method, String)> = vec![
        (&post, "/api/copilot/session".to_owned()),
        (&get, "/api/copilot/session".to_owned()),
        (&get, at("")),
        (&patch, at("")),
        (&delete, at("")),
        (&post, at("/prompt")),
        (&post, at("/interrupt")),
        (&post, at("/reopen")),
        (&post, at("/retry")),
        (&post, at("/seen")),
        (&get, at("/events")),
        (&get, at("/log")),
        (&get, at("/blob/00")),
        (&get, at("/block/1.html")),
        (&get, at("/blocks")),
        (&get, at("/outline")),
        (&post, at("/fork")),
        (&get, at("/changes")),
        (&get, at("/changes/file")),
        (&post, at("/permission/request-1")),
        (&post, at("/answer/request-1")),
        (&get, "/api/events".to_owned()),
        (&get, "/api/folders".to_owned()),
        (&get, "/api/runtimes".to_owned()),
        (&get, "/api/runtimes/demo/login".to_owned()),
        (&post, "/api/runtimes/demo/login".to_owned()),
        (&delete, "/api/runtimes/demo/login".to_owned()),
        (&get, "/api/runtimes/claude/install".to_owned()),
        (&post, "/api/runtimes/claude/install".to_owned()),
        (&delete, "/api/runtimes/claude/install".to_owned()),
        (&get, "/api/models".to_owned()),
        (&get, "/api/agent-sessions".to_owned()),
        (&post, "/api/agent-sessions/demo/x/adopt".to_owned()),
        (&get, "/api/doctor".to_owned()),
        (&get, "/api/usage".to_owned()),
        (&get, "/api/health".to_owned()),
        (&post, "/api/login-code".to_owned()),
        (&post, "/api/ticket".to_owned()),
        (&get, "/metrics".to_owned()),
    ];
    for (method, path) in routes {
        let client = server.http().header("content-type", "application/json");
        let reply = client.send(method.clone(), &format!("{path}?surprise=1"), "{}").await;
        assert_eq!(reply.error(400), "InvalidQuery", "{method} {path}");
    }
    check_untouched(&session, &details).await;
    check_healthy_with_sessions(&server, 1).await;
}

#[tokio::test]
async fn a_body_is_an_error_on_a_route_of_our_own_that_takes_none() {
    let server = Server::start().await;
    let (session, details) = ready_session(&server).await;
    for (method, path) in [
        (Method::POST, session.path("/interrupt")),
        (Method::POST, session.path("/reopen")),
        (Method::POST, session.path("/retry")),
        (Method::DELETE, session.path("")),
        (Method::POST, "/api/agent-sessions/demo/x/adopt".to_owned()),
        (Method::DELETE, "/api/runtimes/demo/login".to_owned()),
        (Method::POST, "/api/runtimes/claude/install".to_owned()),
        (Method::DELETE, "/api/runtimes/claude/install".to_owned()),
        (Method::POST, "/api/login-code".to_owned()),
    ] {
        for body in ["{\"surprise\":1}", "surprise", "[]"] {
            let reply = server.http().send(method.clone(), &path, body).await;
            assert_eq!(reply.error(400), "InvalidBody", "{method} {path} {body}");
        }
    }
    check_untouched(&session, &details).await;
    for body in ["", "{}", " { }\n"] {
        assert_eq!(server.http().post("/api/login-code", body).await.status, 200, "{body:?}");
    }
}

#[tokio::test]
async fn the_portal_ignores_parameters_that_it_does_not_know() {
    let server = Server::start().await;
    let session = server.session().await;
    session.ask("hello").await;
    for path in ["/api/test", "/api/config", "/api/token", "/api/copilot/models"] {
        assert_eq!(server.http().get(&format!("{path}?_=1")).await.status, 200, "{path}");
    }
    assert_eq!(session.get("/live?_=1").await.json()["callback"], "onUserPrompt");
    assert!(session.get("/live/reader?_=1").await.json()["responses"].is_array());
    let batch = session.get("/live/another?after=1&_=1").await.json();
    assert_eq!(batch["responses"][0]["callback"], "onNotice", "{batch}");
    assert_eq!(server.http().post(&session.path("/stop?_=1"), "").await.json(), json!({ "result": "Closed" }));
}
