//! Methods that a route does not have.

use hyper::Method;

use super::{check_healthy_with_sessions, check_untouched, ready_session};
use crate::support::Server;

#[tokio::test]
async fn a_wrong_method_is_refused_and_does_nothing() {
    let server = Server::start().await;
    let (session, details) = ready_session(&server).await;
    let at = |rest: &str| session.path(rest);
    let check = async |path: &str, methods: &[Method]| {
        for method in methods {
            let reply = server.http().header("content-type", "application/json").send(method.clone(), path, "{}").await;
            assert_eq!(reply.status, 405, "{method} {path}");
            if path.starts_with("/api/") {
                assert_eq!(reply.error(405), "MethodNotAllowed");
            }
        }
    };
    let (get, post, put, patch, delete) = (Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE);
    let not_portal = [put.clone(), patch.clone(), delete.clone(), Method::OPTIONS];
    for path in ["/api/test", "/api/config", "/api/token", "/api/stop", "/api/copilot/models"] {
        check(path, &not_portal).await;
    }
    for rest in ["/stop", "/query", "/live", "/live/reader"] {
        check(&at(rest), &not_portal).await;
    }
    check("/api/copilot/session/start/demo", &not_portal).await;
    for rest in ["/prompt", "/interrupt", "/reopen", "/fork", "/permission/request-1", "/answer/request-1"] {
        check(&at(rest), &[get.clone(), put.clone(), patch.clone(), delete.clone()]).await;
    }
    for rest in ["/events", "/log", "/blob/00", "/block/1.html", "/blocks", "/outline", "/changes", "/changes/file"] {
        check(&at(rest), &[post.clone(), put.clone(), patch.clone(), delete.clone()]).await;
    }
    check("/api/copilot/session", &[put.clone(), patch.clone(), delete.clone()]).await;
    check(&at(""), &[post.clone(), put.clone()]).await;
    for path in ["/api/events", "/api/folders", "/api/runtimes", "/api/health", "/metrics"] {
        check(path, &[post.clone(), delete.clone()]).await;
    }
    check("/api/login-code", &[get, delete.clone()]).await;
    for path in ["/", "/index.html", "/nothing"] {
        check(path, &[post.clone(), put.clone(), delete.clone()]).await;
    }
    check("/login", &[put, delete]).await;
    check(&at("/query"), &[Method::from_bytes(b"BREW").expect("a method")]).await;
    let figures = server.http().get("/metrics").await;
    assert!(!figures.text().contains("BREW"), "callers cannot make figures grow without end");
    check_untouched(&session, &details).await;
    check_healthy_with_sessions(&server, 1).await;
}

#[tokio::test]
async fn head_is_answered_exactly_where_it_is_listed() {
    let server = Server::start().await;
    let (session, details) = ready_session(&server).await;
    let at = |rest: &str| session.path(rest);
    let safe = [
        "/api/test".to_owned(),
        "/api/config".to_owned(),
        "/api/token".to_owned(),
        "/api/copilot/models".to_owned(),
        "/api/health".to_owned(),
        "/api/runtimes".to_owned(),
        "/metrics".to_owned(),
        "/login".to_owned(),
        at(""),
        at("/log"),
    ];
    let acting = [
        "/api/stop".to_owned(),
        "/api/copilot/session/start/demo".to_owned(),
        at("/stop"),
        at("/query"),
        at("/live"),
        at("/live/reader"),
        at("/prompt"),
    ];
    for (paths, status) in [(&safe[..], 200), (&acting[..], 405)] {
        for path in paths {
            let head = server.http().send(Method::HEAD, path, "").await;
            assert_eq!(head.status, status, "HEAD {path}");
            assert!(head.body.is_empty(), "HEAD {path}");
            let allowed = server.http().send(Method::PUT, path, "").await.header("allow").to_owned();
            let lists = allowed.split(',').any(|method| method.trim() == "HEAD");
            assert_eq!(lists, status == 200, "{path}: {allowed}");
            assert!(!allowed.is_empty(), "{path}");
        }
    }
    check_untouched(&session, &details).await;
}
