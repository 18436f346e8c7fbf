//! Rule 4: other sites cannot use this server through a person's browser.

use hyper::Method;

use super::{PAGES, PROGRAMS_PATHS, browser, check_unharmed, cookie_of, log_in, page, printed_link};
use crate::support::{Http, Reply, Server};

const NO_AUTHENTICATION: [&str; 2] = ["--auth", "none"];

/// What browsers send along for pages of other origins: other sites, other ports of this machine, sandboxed pages.
fn foreign(server: &Server, client: &Http) -> Vec<Http> {
    let mut clients: Vec<Http> = [
        "https://evil.example",
        "http://localhost:1",
        "http://localhost",
        "http://localhost.evil.example",
        "null",
        "",
        "file://",
        &format!("http://127.0.0.1:{}", server.port()),
        &format!("http://localhost:{}.evil.example", server.port()),
    ]
    .map(|origin| client.header("origin", origin))
    .to_vec();
    clients.extend(["cross-site", "same-site", "anything"].map(|site| client.header("sec-fetch-site", site)));
    clients.push(client.header("origin", "https://evil.example").header("sec-fetch-site", "same-origin"));
    clients.push(client.header("origin", &server.url).header("sec-fetch-site", "cross-site"));
    clients
}

/// As a browser that follows a link on another site.
fn following_a_link(client: &Http) -> Http {
    client
        .header("sec-fetch-site", "cross-site")
        .header("sec-fetch-mode", "navigate")
        .header("sec-fetch-dest", "document")
        .header("sec-fetch-user", "?1")
}

fn check_forbidden(reply: &Reply, path: &str) {
    assert_eq!(reply.error(403), "CrossSiteRequest", "{path}");
    check_no_cors(reply);
}

fn check_no_cors(reply: &Reply) {
    let name = reply.headers.keys().find(|name| name.as_str().starts_with("access-control-"));
    assert_eq!(name, None, "no other site is told anything");
}

async fn check_other_origins_are_refused(server: &Server) {
    for client in foreign(server, &server.http()) {
        check_forbidden(&client.get("/api/test").await, "/api/test");
        check_forbidden(&client.post("/api/copilot/session/start/demo", "").await, "start");
        check_forbidden(&client.post("/api/stop", "").await, "stop");
        check_forbidden(&client.post("/login", format!("token={}", server.token())).await, "/login");
    }
    let evil = server.http().header("origin", "https://evil.example").header("sec-fetch-site", "cross-site");
    for path in PROGRAMS_PATHS.into_iter().chain(["/api/health", "/api/stop"]) {
        for client in [&evil, &following_a_link(&server.http())] {
            for method in [Method::GET, Method::POST, Method::HEAD, Method::OPTIONS, Method::PATCH, Method::DELETE] {
                let reply = client.send(method.clone(), path, "").await;
                assert_eq!(reply.status, 403, "{method} {path}");
                check_no_cors(&reply);
            }
        }
    }
    for path in PAGES.into_iter().chain(["/login"]) {
        check_forbidden(&evil.get(path).await, path);
        check_forbidden(&evil.post(path, "").await, path);
    }
    check_unharmed(server).await;
}

#[tokio::test]
async fn a_page_of_another_origin_gets_nothing_even_with_the_token() {
    check_other_origins_are_refused(&Server::start().await).await;
}

#[tokio::test]
async fn a_page_of_another_origin_gets_nothing_without_authentication_either() {
    check_other_origins_are_refused(&Server::builder().flags(&NO_AUTHENTICATION).start().await).await;
}

#[tokio::test]
async fn a_link_on_another_site_leads_to_the_page_or_the_login_and_not_to_the_api() {
    let server = Server::start().await;
    // The login link may be in a mail.
    assert_eq!(following_a_link(&server.stranger()).get(&printed_link(&server)).await.status, 200);
    let login = log_in(&server).await;
    let cookie = cookie_of(&login);
    for client in [server.stranger(), browser(&server, &cookie), server.http()] {
        for path in ["/", "/index.html?session=session-1", "/login"] {
            let reply = following_a_link(&client).get(path).await;
            assert_eq!(reply.status, 200, "{path}");
            assert_eq!(reply.header("content-type"), "text/html; charset=utf-8", "{path}");
            check_no_cors(&reply);
        }
    }
    // The cookie is not sent along from there, so the page is asked for once more from here.
    let reply = following_a_link(&server.stranger()).get("/index.html").await;
    assert!(reply.text().contains("http-equiv=\"refresh\""), "{}", reply.text());
    for path in PROGRAMS_PATHS {
        check_forbidden(&following_a_link(&page(&server, &login)).get(path).await, path);
    }
}

#[tokio::test]
async fn a_page_inside_another_sites_page_is_refused() {
    let server = Server::builder().flags(&NO_AUTHENTICATION).start().await;
    let cross_site = server.stranger().header("sec-fetch-site", "cross-site");
    for destination in ["iframe", "frame", "object", "embed", "script", "image", "empty"] {
        let client = cross_site.header("sec-fetch-mode", "navigate").header("sec-fetch-dest", destination);
        check_forbidden(&client.get("/").await, destination);
    }
    let posted = following_a_link(&server.stranger()).post("/", "").await;
    check_forbidden(&posted, "a form of another site");
}

#[tokio::test]
async fn our_own_pages_and_programs_get_in_and_no_answer_names_another_origin() {
    let server = Server::start().await;
    let own = server.http().header("origin", &server.url).header("sec-fetch-site", "same-origin");
    let typed = server.http().header("sec-fetch-site", "none");
    for client in [server.http(), own, typed] {
        for path in ["/api/test", "/api/copilot/models", "/api/no-such-route", "/metrics", "/", "/no-such-page"] {
            let reply = client.get(path).await;
            assert!(matches!(reply.status.as_u16(), 200 | 404), "{path} {}", reply.status);
            check_no_cors(&reply);
        }
        check_no_cors(&client.send(Method::OPTIONS, "/api/test", "").await);
    }
}

#[tokio::test]
async fn a_configured_origin_may_use_the_api_with_the_token_and_other_origins_still_may_not() {
    let config = "[server]\nallowed_origins = [\"https://App.example/\"]";
    let server = Server::builder().config(config).start().await;
    let from_app = |client: Http| client.header("origin", "https://app.example").header("sec-fetch-site", "cross-site");

    let preflight = from_app(server.stranger())
        .header("access-control-request-method", "PATCH")
        .header("access-control-request-headers", "authorization,content-type")
        .send(Method::OPTIONS, "/api/copilot/session/session-1", "")
        .await;
    assert_eq!(preflight.status, 204);
    for method in ["GET", "POST", "PATCH", "DELETE"] {
        assert!(preflight.header("access-control-allow-methods").contains(method), "{method}");
    }
    for header in
        ["Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID", "X-Api-Key", "Anthropic-Version"]
    {
        assert!(preflight.header("access-control-allow-headers").contains(header), "{header}");
    }

    let answered = from_app(server.http()).get("/api/test").await;
    assert_eq!(answered.status, 200);
    let refused = from_app(server.stranger()).get("/api/test").await;
    assert_eq!(refused.error(401), "Unauthorized", "an origin is no token");
    for reply in [&preflight, &answered, &refused] {
        assert_eq!(reply.header("access-control-allow-origin"), "https://app.example");
        assert!(reply.header("vary").contains("Origin"));
        assert_eq!(reply.header("access-control-allow-credentials"), "", "cookies stay out of it");
    }

    for origin in ["http://app.example", "https://app.example.evil.example", "https://app.example:444", "null"] {
        let client = server.http().header("origin", origin);
        check_forbidden(&client.get("/api/test").await, origin);
        check_forbidden(&client.send(Method::OPTIONS, "/api/test", "").await, origin);
    }
    check_no_cors(&server.http().get("/api/test").await);
}
