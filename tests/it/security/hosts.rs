//! Rule 3: only our own names, on every request, whoever asks.

use super::{PAGES, PROGRAMS_PATHS, check_unharmed};
use crate::support::{RawReply, Server, exchange};

/// Heads that name another host, no host, or two.
const WRONG: [&str; 14] = [
    "Host: evil.example\r\n",
    "Host: evil.example:8888\r\n",
    "Host: 127.0.0.1.evil.example\r\n",
    "Host: localhost.evil.example\r\n",
    "Host: evil.example#localhost\r\n",
    "Host: localhost@evil.example\r\n",
    "Host: [::1].evil.example\r\n",
    "Host: localhost:8888.evil.example\r\n",
    "Host: 192.0.2.1\r\n",
    "Host: 0.0.0.0\r\n",
    "Host: \r\n",
    "",
    "Host: localhost\r\nHost: evil.example\r\n",
    "Host: localhost\r\nHost: localhost\r\n",
];

async fn ask(server: &Server, method: &str, target: &str, head: &str) -> RawReply {
    let rest = format!("Authorization: Bearer {}\r\nContent-Length: 0\r\nConnection: close", server.token());
    let request = format!("{method} {target} HTTP/1.1\r\n{head}{rest}\r\n\r\n");
    exchange(&server.authority(), request.as_bytes()).await
}

async fn check_misdirected(server: &Server, method: &str, target: &str, head: &str) {
    let reply = ask(server, method, target, head).await;
    assert_eq!(reply.status, 421, "{method} {target} {head:?}: {}", reply.text);
    assert!(
        reply.text.contains("\"error\":\"HostNotAllowed\"") && reply.text.contains("allowed_hosts"),
        "{}",
        reply.text
    );
}

async fn check_other_names_are_refused_everywhere(server: &Server) {
    for head in WRONG {
        check_misdirected(server, "GET", "/api/test", head).await;
        check_misdirected(server, "POST", "/api/copilot/session/start/demo", head).await;
    }
    for path in PROGRAMS_PATHS.into_iter().chain(PAGES).chain(["/login", "/api/health"]) {
        check_misdirected(server, "GET", path, "Host: evil.example\r\n").await;
        check_misdirected(server, "POST", path, "Host: evil.example\r\n").await;
        check_misdirected(server, "GET", path, "").await;
    }
    check_unharmed(server).await;
}

#[tokio::test]
async fn a_request_under_another_name_is_misdirected_even_with_the_token() {
    check_other_names_are_refused_everywhere(&Server::start().await).await;
}

#[tokio::test]
async fn a_request_under_another_name_is_misdirected_without_authentication_too() {
    check_other_names_are_refused_everywhere(&Server::builder().flags(&["--auth", "none"]).start().await).await;
}

#[tokio::test]
async fn a_target_that_names_another_host_is_misdirected() {
    let server = Server::start().await;
    let own = format!("Host: localhost:{}\r\n", server.port());
    for target in ["http://evil.example/api/test", "http://127.0.0.1.evil.example/", "https://evil.example/metrics"] {
        check_misdirected(&server, "GET", target, &own).await;
    }
    let absolute = format!("http://localhost:{}/api/test", server.port());
    assert_eq!(ask(&server, "GET", &absolute, &own).await.status, 200);
    check_misdirected(&server, "GET", &absolute, "Host: evil.example\r\n").await;
}

#[tokio::test]
async fn a_request_of_the_old_protocol_without_a_host_is_misdirected() {
    let server = Server::start().await;
    let request = format!("GET /api/test HTTP/1.0\r\nAuthorization: Bearer {}\r\n\r\n", server.token());
    assert_eq!(exchange(&server.authority(), request.as_bytes()).await.status, 421);
}

#[tokio::test]
async fn loopback_names_and_configured_names_are_answered() {
    let config = "[server]\nallowed_hosts = [\"Deck.example\"]";
    let server = Server::builder().config(config).start().await;
    for host in ["localhost", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:8888", "[::1]", "[::1]:8888", "deck.example:443"] {
        let reply = ask(&server, "GET", "/api/test", &format!("Host: {host}\r\n")).await;
        assert_eq!(reply.status, 200, "{host}");
    }
    check_misdirected(&server, "GET", "/api/test", "Host: other.deck.example\r\n").await;
}
