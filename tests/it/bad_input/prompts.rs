//! Prompts that cannot be accepted.

use serde_json::{Value, json};

use super::{check_healthy_with_sessions, check_untouched, ready_session};
use crate::support::Server;

const TEN_MEGABYTES: usize = 10 * 1024 * 1024;
const LIMIT: usize = 1024 * 1024;

#[tokio::test]
async fn a_prompt_of_ten_megabytes_is_refused_and_one_at_the_limit_is_not() {
    let server = Server::start().await;
    let (session, details) = ready_session(&server).await;
    for size in [TEN_MEGABYTES, LIMIT + 1] {
        let text = "a".repeat(size);
        let older = format!("/api/copilot/session/query/{}", session.id);
        for reply in [
            session.http.post(&session.path("/query"), text.clone()).await,
            session.http.post(&older, text.clone()).await,
            session.post("/prompt", json!({ "text": text })).await,
            session.post("/prompt", json!({ "text": text, "wait": true })).await,
        ] {
            assert_eq!(reply.error(413), "PromptTooLarge");
            assert!(reply.text().contains("limits.prompt_bytes"), "{}", reply.text());
        }
    }
    check_untouched(&session, &details).await;
    let outcome = session.ask(&"ü".repeat(LIMIT / 2)).await;
    assert_eq!(outcome["verdict"], "succeeded");
    check_healthy_with_sessions(&server, 1).await;
}

#[tokio::test]
async fn a_prompt_that_is_not_utf_8_is_refused() {
    let server = Server::start().await;
    let (session, details) = ready_session(&server).await;
    for bytes in [&b"\xff\xfe"[..], b"hello \xc3", b"\xed\xa0\x80", b"\xc0\xaf"] {
        let reply = session.http.post(&session.path("/query"), bytes.to_vec()).await;
        assert_eq!(reply.error(400), "InvalidUtf8", "{bytes:?}");
        let body = [&b"{\"text\":\""[..], bytes, b"\"}"].concat();
        let client = session.http.header("content-type", "application/json");
        assert_eq!(client.post(&session.path("/prompt"), body).await.error(400), "InvalidJson", "{bytes:?}");
        let reply = server.http().post("/api/copilot/session/start/demo", bytes.to_vec()).await;
        assert_eq!(reply.error(400), "InvalidUtf8", "{bytes:?}");
    }
    check_untouched(&session, &details).await;
    check_healthy_with_sessions(&server, 1).await;
}

#[tokio::test]
async fn an_empty_prompt_is_refused() {
    let server = Server::start().await;
    let (session, details) = ready_session(&server).await;
    for text in ["", " ", "\n", "\r\n", "\t \u{a0}\n"] {
        assert_eq!(session.http.post(&session.path("/query"), text).await.error(400), "EmptyPrompt", "{text:?}");
        assert_eq!(session.post("/prompt", json!({ "text": text })).await.error(400), "EmptyPrompt", "{text:?}");
    }
    assert_eq!(session.http.get(&session.path("/query")).await.error(400), "EmptyPrompt");
    check_untouched(&session, &details).await;
    check_healthy_with_sessions(&server, 1).await;
}

#[tokio::test]
async fn a_prompt_with_wrong_fields_is_refused() {
    let server = Server::start().await;
    let (session, details) = ready_session(&server).await;
    let attachment = |data: Value| {
        let attachment = json!({ "name": "a", "mime": "text/plain", "data": data });
        json!({ "text": "hello", "attachments": [attachment] })
    };
    for body in [
        json!({}),
        json!({ "text": null }),
        json!({ "text": 1 }),
        json!({ "text": ["hello"] }),
        json!({ "text": "hello", "mode": "sometimes" }),
        json!({ "text": "hello", "mode": 1 }),
        json!({ "text": "hello", "wait": "yes" }),
        json!({ "text": "hello", "wait": 1 }),
        json!({ "text": "hello", "attachments": "a" }),
        json!({ "text": "hello", "attachments": [1] }),
        json!({ "text": "hello", "attachments": [{ "name": "a" }] }),
        attachment(json!(1)),
    ] {
        assert_eq!(session.post("/prompt", body.clone()).await.error(400), "InvalidJson", "{body}");
    }
    for data in ["not base64!", "YQ", "YQ=", "Y Q==", "-_-_"] {
        let reply = session.post("/prompt", attachment(json!(data))).await;
        assert_eq!(reply.error(400), "InvalidAttachment", "{data}");
    }
    check_untouched(&session, &details).await;
    assert_eq!(session.post("/prompt", attachment(json!("YQ=="))).await.status, 200);
    check_healthy_with_sessions(&server, 1).await;
}

#[tokio::test]
async fn an_idempotency_key_that_will_not_do_is_refused_and_the_prompt_with_it() {
    let server = Server::start().await;
    let (session, details) = ready_session(&server).await;
    for key in ["", &"k".repeat(256), "schl\u{fc}ssel"] {
        let client = session.http.header("idempotency-key", key);
        assert_eq!(client.post(&session.path("/query"), "hello").await.error(400), "InvalidIdempotencyKey", "{key}");
        let reply = client.post_json(&session.path("/prompt"), &json!({ "text": "hello" })).await;
        assert_eq!(reply.error(400), "InvalidIdempotencyKey", "{key}");
    }
    check_untouched(&session, &details).await;
    check_healthy_with_sessions(&server, 1).await;
}
