//! Who gets in: every rule of the security specification, with tests that try to break it.

mod access;
mod browsers;
mod exposure;
mod folders;
mod headers;
mod hosts;
mod limits;
mod login;
mod origins;
mod scopes;
mod secrets;

use crate::support::{Http, Reply, Server};

/// What programs use: plain answers, errors, streams of events, figures. The session need not exist: the gate comes
/// before the route.
const PROGRAMS_PATHS: [&str; 15] = [
    "/api/test",
    "/api/token",
    "/api/copilot/models",
    "/api/copilot/session",
    "/api/copilot/session/session-1/events",
    "/api/copilot/session/session-1/live",
    "/api/copilot/session/session-1/blob/00",
    "/api/copilot/session/session-1/block/1.html",
    "/api/copilot/session/session-1/log",
    "/api/copilot/session/session-1/changes",
    "/api/copilot/session/session-1/changes/file",
    "/api/folders",
    "/api/events",
    "/api/no-such-route",
    "/metrics",
];

/// What people see.
const PAGES: [&str; 6] = ["/", "/index.html", "/index.js", "/index.css", "/favicon.ico", "/no-such-page"];

/// The server still answers those who may ask, and nobody else made a session.
async fn check_unharmed(server: &Server) {
    let sessions = server.http().get("/api/copilot/session").await;
    assert_eq!(sessions.json()["sessions"].as_array().map(Vec::len), Some(0), "{}", sessions.text());
}

/// The path of the link that the server printed.
fn printed_link(server: &Server) -> String {
    let (_, path) = server.greeting[0].split_once(&server.url).expect("a link to this server");
    assert!(path.starts_with("/login?code="), "{path}");
    path.to_owned()
}

/// The code in that link.
fn printed_code(server: &Server) -> String {
    printed_link(server).replace("/login?code=", "")
}

/// What the login page sends.
async fn post_login(client: &Http, form: &str) -> Reply {
    client.header("content-type", "application/x-www-form-urlencoded").post("/login", form.to_owned()).await
}

/// Logs in with the printed link, as the login page does.
async fn log_in(server: &Server) -> Reply {
    let reply = post_login(&server.stranger(), &format!("code={}", printed_code(server))).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply
}

/// The cookie that an answer sets, as a browser sends it back.
fn cookie_of(reply: &Reply) -> String {
    reply.header("set-cookie").split(';').next().expect("a cookie").to_owned()
}

/// The secret that goes with that cookie.
fn secret_of(reply: &Reply) -> String {
    reply.json()["secret"].as_str().expect("a secret").to_owned()
}

/// A browser with that cookie, before any script has run.
fn browser(server: &Server, cookie: &str) -> Http {
    server.stranger().header("cookie", cookie)
}

/// A page of ours in the browser that got this answer to its login.
fn page(server: &Server, login: &Reply) -> Http {
    browser(server, &cookie_of(login)).header("flightdeck-secret", &secret_of(login))
}
