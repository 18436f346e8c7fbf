//! Answers to questions that nobody asked, and blobs that nobody has.

use serde_json::json;

use super::{check_healthy_with_sessions, check_untouched, ready_session};
use crate::support::Server;

#[tokio::test]
async fn an_answer_to_an_unknown_request_is_refused() {
    let server = Server::start().await;
    let (session, details) = ready_session(&server).await;
    for request in ["request-1", "request-99", "0", "%2e%2e", "%F0%9F%9A%80", &"a".repeat(5_000)] {
        let reply = session.post(&format!("/permission/{request}"), json!({ "decision": "allow-once" })).await;
        assert_eq!(reply.error(404), "RequestNotFound", "{request}");
        let reply = session.post(&format!("/answer/{request}"), json!({ "answer": "red" })).await;
        assert_eq!(reply.error(404), "RequestNotFound", "{request}");
    }
    check_untouched(&session, &details).await;
    check_healthy_with_sessions(&server, 1).await;
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_refused_and_the_request_stays_open() {
    let server = Server::start().await;
    let session = server.session().await;
    let permission = session.prompt_and_get_request("permission").await;
    let before = session.get("").await.json();
    for body in [json!({ "decision": "perhaps" }), json!({ "decision": null }), json!({}), json!({ "feedback": "no" })]
    {
        let reply = session.post(&format!("/permission/{permission}"), body.clone()).await;
        assert_eq!(reply.error(400), "InvalidJson", "{body}");
    }
    let reply = session.post(&format!("/permission/{permission}"), json!({ "decision": "deny", "feedback": 1 })).await;
    assert_eq!(reply.error(400), "InvalidJson");
    let reply = session.post(&format!("/answer/{permission}"), json!({ "answer": "allow-once" })).await;
    assert_eq!(reply.error(400), "WrongKindOfAnswer");
    check_untouched(&session, &before).await;

    let other = server.session().await;
    let reply = other.post(&format!("/permission/{permission}"), json!({ "decision": "allow-once" })).await;
    assert_eq!(reply.error(404), "RequestNotFound", "another session's request is not there");

    let mut events = session.events_after(before["lastSeq"].as_u64().expect("a number")).await;
    let reply = session.post(&format!("/permission/{permission}"), json!({ "decision": "deny" })).await;
    assert_eq!(reply.status, 200);
    events.until_callback("onIdle").await;

    let question = session.prompt_and_get_request("question").await;
    for body in [json!({}), json!({ "answer": null }), json!({ "answer": 1 }), json!({ "answer": ["red"] })] {
        let reply = session.post(&format!("/answer/{question}"), body.clone()).await;
        assert_eq!(reply.error(400), "InvalidJson", "{body}");
    }
    let reply = session.post(&format!("/permission/{question}"), json!({ "decision": "allow-once" })).await;
    assert_eq!(reply.error(400), "WrongKindOfAnswer");
    assert_eq!(session.state().await, "waiting");
    check_healthy_with_sessions(&server, 2).await;
}

#[tokio::test]
async fn an_answer_to_a_request_of_a_deleted_session_is_refused_also_after_a_restart() {
    let server = Server::start().await;
    let session = server.session().await;
    let permission = session.prompt_and_get_request("permission").await;
    let question = server.session().await;
    let asked = question.prompt_and_get_request("question").await;
    for session in [&session, &question] {
        assert_eq!(session.http.delete(&session.path("")).await.status, 204);
    }
    let check = async |session: &crate::support::TestSession, question: &crate::support::TestSession| {
        for decision in ["allow-once", "allow-always", "deny"] {
            let reply = session.post(&format!("/permission/{permission}"), json!({ "decision": decision })).await;
            assert_eq!(reply.error(404), "SessionNotFound", "{decision}");
        }
        let reply = question.post(&format!("/answer/{asked}"), json!({ "answer": "red" })).await;
        assert_eq!(reply.error(404), "SessionNotFound");
    };
    check(&session, &question).await;
    let server = server.kill_and_restart().await;
    check(&session.seen_by(server.http()), &question.seen_by(server.http())).await;
    check_healthy_with_sessions(&server, 0).await;
}

#[tokio::test]
async fn an_unknown_blob_is_not_found_whatever_its_name_tries() {
    let server = Server::start().await;
    let (session, details) = ready_session(&server).await;
    let some_hash = "0123456789abcdef".repeat(4);
    for hash in [
        some_hash.as_str(),
        "0",
        "token",
        "%2e%2e%2f%2e%2e%2ftoken",
        "..%2ftoken",
        "%2Fetc%2Fpasswd",
        "%00",
        "%F0%9F%9A%80",
    ] {
        assert_eq!(session.get(&format!("/blob/{hash}")).await.error(404), "BlobNotFound", "{hash}");
    }
    check_untouched(&session, &details).await;
    check_healthy_with_sessions(&server, 1).await;
}
