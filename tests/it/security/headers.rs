//! Rule 7: what is put on every answer to protect the browser.

use hyper::Method;

use super::{PAGES, log_in, printed_link};
use crate::support::{Reply, Server};

fn check_protected(reply: &Reply, what: &str) {
    let policy = reply.header("content-security-policy");
    assert!(policy.contains("default-src 'none'"), "{what}: {policy}");
    assert!(policy.contains("frame-ancestors 'none'"), "{what}: {policy}");
    for loophole in ["unsafe-inline", "unsafe-eval", "*", "http:", "https:"] {
        assert!(!policy.contains(loophole), "{what}: {policy}");
    }
    let scripts = policy.split(';').map(str::trim).find(|rule| rule.starts_with("script-src"));
    assert!(matches!(scripts, None | Some("script-src 'self'")), "{what}: {policy}");
    assert_eq!(reply.header("x-content-type-options"), "nosniff", "{what}");
    assert_eq!(reply.header("referrer-policy"), "no-referrer", "{what}");
    assert_eq!(reply.header("x-frame-options"), "DENY", "{what}");
    assert_eq!(reply.header("cross-origin-resource-policy"), "same-origin", "{what}");
}

#[tokio::test]
async fn every_kind_of_answer_protects_the_browser() {
    let server = Server::start().await;
    let (http, stranger) = (server.http(), server.stranger());
    for path in PAGES {
        check_protected(&http.get(path).await, path);
        check_protected(&stranger.get(path).await, path);
    }
    for path in [
        "/api/test",
        "/api/copilot/session",
        "/api/no-such-route",
        "/api/runtimes",
        "/api/folders",
        "/metrics",
        "/login",
    ] {
        check_protected(&http.get(path).await, path);
    }
    let session = server.session().await;
    session.ask("hello").await;
    assert!(session.http.post(&session.path("/stop"), "").await.text().contains("Closed"));
    check_protected(&session.get("/events").await, "a stream");
    let log = session.get("/log").await;
    check_protected(&log, "a log");
    let seq = log.json()["events"][0]["seq"].as_u64().expect("a number");
    for rest in [&format!("/block/{seq}.html"), "/block/0.html", "/changes", "/changes/file?path=x"] {
        check_protected(&session.get(rest).await, rest);
    }

    let evil = http.header("origin", "https://evil.example");
    for (status, reply) in [
        (400, http.post_json("/api/copilot/session", &serde_json::json!({ "no": 1 })).await),
        (401, stranger.get("/api/test").await),
        (403, evil.get("/api/test").await),
        (404, http.get("/api/copilot/session/session-99").await),
        (405, http.send(Method::DELETE, "/api/test", "").await),
        (405, http.post("/index.html", "").await),
        (415, http.post("/api/copilot/session", "{}").await),
        (421, http.header("host", "evil.example").get("/").await),
        (401, stranger.post("/login", "code=wrong").await),
    ] {
        assert_eq!(reply.status, status);
        check_protected(&reply, &status.to_string());
    }
    check_protected(&stranger.get(&printed_link(&server)).await, "a link");
    check_protected(&stranger.get("/login.js").await, "the script of the login");
    let login = log_in(&server).await;
    check_protected(&login, "a login");
    assert_eq!(login.header("cache-control"), "no-store", "it holds a secret");
}

#[tokio::test]
async fn an_agents_output_is_never_a_page_of_ours() {
    let server = Server::start().await;
    let session = server.session().await;
    session.ask("tool 300000").await;
    let log = session.log().await;
    let end = log.iter().find(|(_, response)| response["callback"] == "onEndToolExecution").expect("an end");
    let hash = end.1["result"]["contentBlob"].as_str().expect("a blob");
    let blob = session.get(&format!("/blob/{hash}")).await;
    check_protected(&blob, "a blob");
    assert!(blob.header("content-security-policy").contains("sandbox"));
    assert_eq!(blob.header("content-type"), "text/plain; charset=utf-8");
}

/// Whether the page holds script or style in itself, which the policy would refuse to run.
fn has_inline_code(page: &str) -> bool {
    let lower = page.to_ascii_lowercase();
    let inline_script =
        lower.split("<script").skip(1).any(|rest| !rest[..rest.find('>').unwrap_or(0)].contains("src="));
    let handler = lower
        .split(['<', '>'])
        .any(|tag| tag.split_whitespace().any(|word| word.starts_with("on") && word.contains('=')));
    inline_script || handler || lower.contains("javascript:") || lower.contains(" style=")
}

#[tokio::test]
async fn no_page_needs_inline_code() {
    let server = Server::start().await;
    assert!(has_inline_code("<p onclick=\"a()\">") && has_inline_code("<script>a()</script>"), "this would be found");
    for path in ["/", "/index.html", "/test.html", "/login"] {
        let reply = server.http().get(path).await;
        assert_eq!(reply.status, 200, "{path}");
        assert!(!has_inline_code(reply.text()), "{path}");
    }
}

#[tokio::test]
async fn answers_of_the_api_are_not_kept_by_browsers() {
    let server = Server::start().await;
    let (block, changes) = ("/api/copilot/session/session-1/block/1.html", "/api/copilot/session/session-1/changes");
    for path in ["/api/test", "/api/copilot/session", "/api/no-such-route", "/api/folders", block, changes, "/metrics"]
    {
        assert_eq!(server.http().get(path).await.header("cache-control"), "no-store", "{path}");
        assert_eq!(server.stranger().get(path).await.header("cache-control"), "no-store", "{path}");
    }
}
