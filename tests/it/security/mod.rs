//! Who gets in: every rule of the security specification, with tests that try to break it.

mod access;
mod exposure;
mod folders;
mod headers;
mod hosts;
mod limits;
mod login;
mod origins;
mod secrets;

use crate::support::{Http, Server};

/// What programs use: plain answers, errors, streams of events, figures. The session need not exist: the gate comes
/// before the route.
const PROGRAMS_PATHS: [&str; 12] = [
    "/api/test",
    "/api/copilot/models",
    "/api/copilot/session",
    "/api/copilot/session/session-1/events",
    "/api/copilot/session/session-1/live",
    "/api/copilot/session/session-1/block/1.html",
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

/// The cookie that an answer sets, as a browser sends it back.
fn cookie_of(reply: &crate::support::Reply) -> String {
    reply.header("set-cookie").split(';').next().expect("a cookie").to_owned()
}

/// A browser with that cookie.
fn browser(server: &Server, cookie: &str) -> Http {
    server.stranger().header("cookie", cookie)
}
