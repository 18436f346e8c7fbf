//! Rule 9: what is too much is refused, and everybody else goes on.

use super::check_unharmed;
use crate::support::{RawConnection, Server, a_moment, exchange};

#[tokio::test]
async fn a_head_that_is_too_large_is_refused() {
    let server = Server::start().await;
    let head = |filler: &str| {
        format!("GET /api/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{filler}\r\n").into_bytes()
    };
    let long_value = format!("X-Filler: {}\r\n", "a".repeat(100_000));
    assert_eq!(exchange(&server.authority(), &head(&long_value)).await.status, 431);
    let many = "X-Filler: a\r\n".repeat(200);
    assert_eq!(exchange(&server.authority(), &head(&many)).await.status, 431);
    let long_path = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "a".repeat(100_000));
    let status = exchange(&server.authority(), long_path.as_bytes()).await.status;
    assert!(matches!(status, 414 | 431), "{status}");
    assert_eq!(exchange(&server.authority(), &head("X-Filler: a\r\n")).await.status, 200);
    check_unharmed(&server).await;
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused_on_every_kind_of_route() {
    let server = Server::builder().config("[limits]\nbody_bytes = 100000").start().await;
    let session = server.session().await;
    let http = server.http().header("content-type", "application/json");
    let (query, prompt) = (session.path("/query"), session.path("/prompt"));
    for path in [query.as_str(), &prompt, "/api/copilot/session", "/api/copilot/session/start/demo", "/login"] {
        for size in [100_001, 2_000_000] {
            let reply = http.post(path, vec![b' '; size]).await;
            assert_eq!(reply.error(413), "BodyTooLarge", "{path}");
            assert!(reply.text().contains("limits.body_bytes"), "{}", reply.text());
        }
    }
    assert_eq!(session.get("").await.json()["lastSeq"], 0, "nothing of it was accepted");
    assert_eq!(server.http().get("/api/copilot/session").await.json()["sessions"].as_array().map(Vec::len), Some(1));
    assert_eq!(http.post(&query, "a".repeat(100_000)).await.json(), serde_json::json!({}));
}

#[tokio::test]
async fn a_body_without_an_end_is_refused_as_soon_as_it_is_too_large() {
    let server = Server::builder().config("[limits]\nbody_bytes = 100000").start().await;
    let mut connection = RawConnection::open(&server.authority()).await;
    let head = format!(
        "POST /api/copilot/session/start/demo HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nTransfer-Encoding: chunked\r\n\r\n",
        server.token()
    );
    connection.send(head.as_bytes()).await;
    let chunk = format!("{:x}\r\n{}\r\n", 60_000, "a".repeat(60_000));
    connection.send(chunk.repeat(2).as_bytes()).await;
    // The rest is still to come, and nobody waits for it.
    let reply = connection.read_head().await;
    assert_eq!(reply.status, 413, "{}", reply.text);
    connection.send(chunk.as_bytes()).await;
    connection.send(b"0\r\n\r\nGET /api/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await;
    let rest = connection.read_to_end().await;
    assert!(rest.text.contains("200 OK"), "the connection can be used again: {}", rest.text);
    check_unharmed(&server).await;
}

#[tokio::test]
async fn one_connection_too_many_is_told_so_and_gets_in_once_another_ends() {
    let server = Server::builder().config("[limits]\nconnections = 3").start().await;
    let request = b"GET /api/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let mut held = Vec::new();
    for _ in 0..3 {
        held.push(RawConnection::open(&server.authority()).await);
    }
    let refused = RawConnection::open(&server.authority()).await.read_to_end().await;
    assert_eq!(refused.status, 503, "{}", refused.text);
    let (_, body) = refused.text.split_once("\r\n\r\n").expect("a body");
    let body: serde_json::Value = serde_json::from_str(body).expect("JSON, whole");
    assert_eq!(body["error"], "TooManyConnections");
    assert!(body["message"].as_str().is_some_and(|message| message.contains("limits.connections")), "{body}");

    let mut first = held.remove(0);
    first.send(request).await;
    assert_eq!(first.read_to_end().await.status, 200, "those who are in are served");
    // The place is free as soon as the server has noticed.
    while exchange(&server.authority(), request).await.status != 200 {
        a_moment().await;
    }
}

#[tokio::test]
async fn who_guesses_is_put_off_and_the_owner_is_not() {
    let server = Server::builder().config("[limits]\nlogin_failures_per_minute = 4").start().await;
    let guess = |number: u32| server.stranger().header("authorization", &format!("Bearer guess-{number}"));
    assert_eq!(guess(1).get("/api/test").await.error(401), "Unauthorized");
    assert_eq!(guess(2).get("/metrics").await.error(401), "Unauthorized");
    assert_eq!(server.stranger().post("/login", "token=guess").await.status, 401);
    assert_eq!(server.stranger().post("/login", "code=guess").await.status, 401);

    let replies = [
        guess(3).get("/api/test").await,
        guess(4).post("/api/stop", "").await,
        guess(5).get("/").await,
        server.stranger().post("/login", "token=another").await,
        server.stranger().post("/login", "code=another").await,
        server.stranger().get("/api/copilot/session?ticket=fdt_guess").await,
    ];
    for reply in replies {
        assert_eq!(reply.error(429), "TooManyAttempts");
        assert_eq!(reply.header("retry-after"), "60");
    }
    assert_eq!(server.http().get("/api/test").await.status, 200, "the right token is never put off");
    assert_eq!(server.stranger().post("/login", format!("token={}", server.token())).await.status, 200);
    super::log_in(&server).await;
    assert_eq!(server.stranger().get("/api/test").await.status, 401, "who shows nothing has guessed nothing");
}
