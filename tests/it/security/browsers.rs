//! Rule 2: cookies are shared by all ports of a host, so the cookie alone opens pages and never data.

use hyper::Method;
use serde_json::json;

use super::{PAGES, PROGRAMS_PATHS, browser, check_unharmed, cookie_of, log_in, page, post_login, secret_of};
use crate::support::{Http, Server};

/// Every request for data is refused, whatever its method.
async fn check_no_data(client: &Http) {
    for path in PROGRAMS_PATHS.into_iter().chain(["/api/stop", "/api/login-code", "/api/ticket", "/api/usage"]) {
        for method in [Method::GET, Method::POST, Method::PATCH, Method::DELETE] {
            let reply = client.send(method.clone(), path, "").await;
            assert_eq!(reply.error(401), "Unauthorized", "{method} {path}");
        }
    }
    let health = client.get("/api/health").await.json();
    assert_eq!(health, json!({ "status": "ok", "service": "flightdeck" }));
}

#[tokio::test]
async fn a_cookie_that_another_port_has_seen_opens_pages_and_no_data() {
    let server = Server::start().await;
    let replayed = browser(&server, &cookie_of(&log_in(&server).await));
    check_no_data(&replayed).await;
    check_no_data(&replayed.header("sec-fetch-site", "same-origin").header("origin", &server.url)).await;
    for path in PAGES.into_iter().filter(|path| *path != "/no-such-page") {
        assert_eq!(replayed.get(path).await.status, 200, "{path}");
    }
    check_unharmed(&server).await;
}

#[tokio::test]
async fn the_secret_opens_data_with_its_own_cookie_only() {
    let server = Server::start().await;
    let first = log_in(&server).await;
    let second = post_login(&server.stranger(), &format!("token={}", server.token())).await;
    for login in [&first, &second] {
        assert_eq!(page(&server, login).get("/api/test").await.status, 200);
        page(&server, login).events("/api/events").await;
    }
    check_no_data(&server.stranger().header("flightdeck-secret", &secret_of(&first))).await;
    let mixed = browser(&server, &cookie_of(&second)).header("flightdeck-secret", &secret_of(&first));
    check_no_data(&mixed).await;
    let cookie = cookie_of(&first);
    let (_, value) = cookie.split_once('=').expect("a value");
    check_no_data(&browser(&server, &cookie).header("flightdeck-secret", value)).await;
}

#[tokio::test]
async fn a_ticket_opens_one_address_once_without_a_header() {
    let server = Server::start().await;
    let session = server.session().await;
    session.ask("tool 300000").await;
    let log = session.log().await;
    let end = log.iter().find(|(_, response)| response["callback"] == "onEndToolExecution").expect("an end");
    let blob = session.path(&format!("/blob/{}", end.1["result"]["contentBlob"].as_str().expect("a blob")));
    let login = log_in(&server).await;
    let ticket_for = async |path: &str| {
        let reply = page(&server, &login).post_json("/api/ticket", &json!({ "path": path })).await;
        reply.json()["address"].as_str().expect("an address").to_owned()
    };

    let address = ticket_for(&blob).await;
    let downloaded = browser(&server, &cookie_of(&login)).get(&address).await;
    assert_eq!(downloaded.status, 200);
    assert_eq!(downloaded.body, server.http().get(&blob).await.body);
    assert_eq!(server.stranger().get(&address).await.error(401), "Unauthorized", "a second time");

    let with_query = session.path("/log?limit=1");
    let reply = server.stranger().get(&ticket_for(&with_query).await).await;
    assert_eq!(reply.json()["events"].as_array().map(Vec::len), Some(1), "{}", reply.text());

    let address = ticket_for(&blob).await;
    let (_, ticket) = address.split_once('?').expect("a ticket");
    assert_eq!(server.stranger().get(&format!("/api/copilot/session?{ticket}")).await.status, 401, "another address");
    let address = ticket_for("/api/stop").await;
    assert_eq!(server.stranger().post(&address, "").await.status, 401, "another method");
    check_no_tickets(&server).await;
}

/// Tickets are for routes of the API, and for those who may use them.
async fn check_no_tickets(server: &Server) {
    for path in ["", "/", "/index.html", "api/test", "//evil.example/api/", "https://evil.example/api/x", "/api/\n"] {
        let reply = server.http().post_json("/api/ticket", &json!({ "path": path })).await;
        assert_eq!(reply.error(400), "InvalidPath", "{path:?}");
    }
    let reply = server.stranger().post_json("/api/ticket", &json!({ "path": "/api/test" })).await;
    assert_eq!(reply.status, 401);
}

#[tokio::test]
async fn without_authentication_no_secret_is_needed() {
    let server = Server::builder().flags(&["--auth", "none"]).start().await;
    let page = server.stranger().header("origin", &server.url).header("sec-fetch-site", "same-origin");
    assert_eq!(page.get("/api/test").await.status, 200);
    let reply = page.post_json("/api/ticket", &json!({ "path": "/api/test" })).await;
    assert_eq!(page.get(reply.json()["address"].as_str().expect("an address")).await.status, 200);
}
