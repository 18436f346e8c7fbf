//! Rule 8: secrets stay out of logs and errors.

use serde_json::json;

use super::{cookie_of, log_in, page, printed_link, secret_of};
use crate::support::Server;

const SECRET: &str = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";

#[tokio::test]
async fn an_agents_error_is_shown_without_the_secret_in_it() {
    let server = Server::start().await;
    let session = server.session().await;
    let outcome = session.ask(&format!("error login with {SECRET} failed; api_key=hunter2 too")).await;
    assert_eq!(outcome["verdict"], "failed");
    let log = session.log().await;
    let errors: Vec<&str> = log.iter().filter_map(|(_, response)| response["sessionError"].as_str()).collect();
    assert_eq!(errors, ["demo error: login with [redacted] failed; api_key=[redacted] too"]);
}

#[tokio::test]
async fn an_error_repeats_no_secret_that_it_was_sent() {
    let server = Server::start().await;
    let http = server.http();
    for (reply, what) in [
        (http.post_json("/api/copilot/session", &json!({ "runtime": SECRET })).await, "a runtime"),
        (http.post_json("/api/copilot/session", &json!({ "runtime": "demo", "model": SECRET })).await, "a model"),
        (http.post_json("/api/copilot/session", &json!({ "workingDirectory": SECRET })).await, "a folder"),
        (http.post_json("/api/copilot/session", &json!({ SECRET: 1 })).await, "a field"),
        (http.get(&format!("/api/copilot/session?state={SECRET}")).await, "a state"),
        (http.get(&format!("/api/copilot/session?{SECRET}=1")).await, "a parameter"),
    ] {
        assert_eq!(reply.status, 400, "{what}");
        assert!(!reply.text().contains(SECRET), "{what}: {}", reply.text());
        assert!(reply.text().contains("[redacted]"), "{what}: {}", reply.text());
    }
}

#[tokio::test]
async fn a_providers_key_is_not_shown_again() {
    let server = Server::start().await;
    let options = json!({ "provider": { "apiKey": "hunter2", "type": "openai", "baseUrl": "http://localhost:1/v1" } });
    let body = json!({ "runtime": "demo", "options": options });
    let created = server.http().post_json("/api/copilot/session", &body).await;
    assert_eq!(created.status, 201);
    for reply in [created, server.http().get("/api/copilot/session/session-1").await] {
        assert!(!reply.text().contains("hunter2"), "{}", reply.text());
        assert_eq!(reply.json()["options"]["provider"]["type"], "openai");
    }
}

#[tokio::test]
async fn the_log_holds_neither_token_nor_code_nor_cookie_however_talkative_it_is() {
    let mut server = Server::builder().variable("FLIGHTDECK_LOG_FILTER", "trace").start().await;
    let token = server.token();
    let link = printed_link(&server);
    let login = log_in(&server).await;
    let (cookie, secret) = (cookie_of(&login), secret_of(&login));
    server.stranger().get(&link).await;
    server.stranger().get(&format!("/api/{secret}")).await;
    let body = json!({ "path": "/api/no-such-route" });
    let ticket = page(&server, &login).post_json("/api/ticket", &body).await.json();
    let (_, ticket) = ticket["address"].as_str().expect("an address").split_once("ticket=").expect("a ticket");
    server.stranger().get(&format!("/api/no-such-route?ticket={ticket}")).await;
    server.stranger().post("/login", format!("token={token}")).await;
    server.stranger().get(&format!("/api/test?token={token}")).await;
    server.stranger().get(&format!("/{token}")).await;
    server.http().get(&format!("/api/copilot/session/{token}")).await;
    server.http().post("/api/copilot/session/start/demo", token.clone()).await;
    let session = server.session().await;
    session.ask(&format!("error {SECRET}")).await;
    session.ask("crash").await;
    assert!(server.stop().await);

    let log = server.stderr().await;
    assert!(log.contains("the agent is gone"), "it was talkative: {log}");
    let code = link.replace("/login?code=", "");
    let cookie = cookie.split_once('=').expect("a value").1;
    for secret in [&token, &code, cookie, &secret, ticket, SECRET] {
        assert!(!log.contains(secret));
    }
}

#[tokio::test]
async fn a_token_that_is_damaged_on_disk_is_replaced_and_not_printed() {
    let mut server = Server::start().await;
    let token = server.token();
    assert!(server.stop().await);
    assert!(!server.stderr().await.contains(&token));
    std::fs::write(server.data().join("token"), &token[..30]).expect("written");
    let server = server.start_again().await;
    assert_eq!(
        server.stranger().header("authorization", &format!("Bearer {}", &token[..30])).get("/api/test").await.status,
        401
    );
    assert_eq!(server.http().get("/api/test").await.status, 200);
}
