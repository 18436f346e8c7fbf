//! Places in a log that are not there, and questions about it that make no sense.

use serde_json::json;

use super::{check_healthy_with_sessions, check_untouched, ready_session};
use crate::support::Server;

#[tokio::test]
async fn a_cursor_from_the_future_is_refused_everywhere() {
    let server = Server::start().await;
    let (session, details) = ready_session(&server).await;
    let last = details["lastSeq"].as_u64().expect("a number");
    for ahead in [last + 1, last + 1_000_000, 1 << 40, (1 << 40) + last, i64::MAX.unsigned_abs(), u64::MAX] {
        let resumed = session.http.header("last-event-id", &ahead.to_string());
        for reply in [
            session.get(&format!("/log?after={ahead}")).await,
            session.get(&format!("/events?after={ahead}")).await,
            session.get(&format!("/live/reader?after={ahead}")).await,
            resumed.get(&session.path("/events")).await,
        ] {
            assert_eq!(reply.error(400), "CursorAhead", "{ahead}");
            assert!(reply.text().contains(&format!("last event is {last};")), "{}", reply.text());
        }
    }
    let at_the_end = session.get(&format!("/log?after={last}")).await.json();
    assert_eq!(at_the_end, json!({ "events": [] }), "the last number is not ahead");
    let batch = session.get("/live/reader").await.json();
    assert_eq!(batch["responses"][0]["callback"], "onUserPrompt", "the token was not used up");
    assert_eq!(batch["lastSeq"], last);
    check_untouched(&session, &details).await;
    check_healthy_with_sessions(&server, 1).await;
}

#[tokio::test]
async fn a_cursor_reaches_into_no_other_session() {
    let server = Server::start().await;
    let sessions = [server.session().await, server.session().await, server.session().await];
    for session in &sessions {
        session.ask(&format!("this is {}", session.id)).await;
    }
    for session in &sessions {
        let own = session.log().await;
        for before in [1 << 39, 1 << 40, (1 << 40) + 5, 1 << 41, 3 << 40, i64::MAX.unsigned_abs(), u64::MAX] {
            let page = session.get(&format!("/log?before={before}")).await.json();
            let events = page["events"].as_array().expect("events");
            let responses: Vec<_> = events.iter().map(|event| event["response"].clone()).collect();
            assert_eq!(responses, own.iter().map(|(_, response)| response.clone()).collect::<Vec<_>>(), "{before}");
        }
    }
    check_healthy_with_sessions(&server, 3).await;
}

#[tokio::test]
async fn a_question_about_a_log_that_makes_no_sense_is_refused() {
    let server = Server::start().await;
    let (session, details) = ready_session(&server).await;
    for query in [
        "after=-1",
        "after=x",
        "after=",
        "after=1.5",
        "after=18446744073709551616",
        "after=1&after=2",
        "before=x",
        "limit=x",
        "limit=-1",
        "surprise=1",
        "After=1",
        "after=%ff",
    ] {
        let reply = session.get(&format!("/log?{query}")).await;
        assert_eq!(reply.error(400), "InvalidQuery", "{query}");
    }
    for query in ["after=x", "after=-1", "surprise=1", "after=", "before=1"] {
        assert_eq!(session.get(&format!("/events?{query}")).await.error(400), "InvalidQuery", "{query}");
    }
    for query in ["after=x", "after=-1", "after=", "after=1&after=2"] {
        assert_eq!(session.get(&format!("/live/reader?{query}")).await.error(400), "InvalidQuery", "{query}");
    }
    for number in ["x", "-1", "1.5", "18446744073709551616", "1,2", "1 "] {
        let reply = session.http.header("last-event-id", &format!("{number}x")).get(&session.path("/events")).await;
        assert_eq!(reply.error(400), "InvalidCursor", "{number}");
    }
    check_untouched(&session, &details).await;
    check_healthy_with_sessions(&server, 1).await;
}

#[tokio::test]
async fn a_question_about_the_list_of_sessions_that_makes_no_sense_is_refused() {
    let server = Server::start().await;
    for (query, error) in [
        ("state=sleeping", "InvalidState"),
        ("state=Ready", "InvalidState"),
        ("after=x", "InvalidCursor"),
        ("after=1", "InvalidCursor"),
        ("after=session-0", "InvalidCursor"),
        ("limit=x", "InvalidQuery"),
        ("limit=-1", "InvalidQuery"),
        ("surprise=1", "InvalidQuery"),
    ] {
        let reply = server.http().get(&format!("/api/copilot/session?{query}")).await;
        assert_eq!(reply.error(400), error, "{query}");
    }
    for query in ["limit=0", "limit=1000000", "state=", "after=", "after=session-4294967295"] {
        assert_eq!(server.http().get(&format!("/api/copilot/session?{query}")).await.status, 200, "{query}");
    }
    check_healthy_with_sessions(&server, 0).await;
}

#[tokio::test]
async fn a_reader_token_is_at_most_128_characters_long() {
    let server = Server::start().await;
    let (session, _) = ready_session(&server).await;
    for token in ["a".repeat(129), "%C3%BC".repeat(129), "a".repeat(5_000)] {
        for reply in [
            session.get(&format!("/live/{token}")).await,
            session.http.get(&format!("/api/copilot/session/session-99/live/{token}")).await,
        ] {
            assert_eq!(reply.error(400), "InvalidToken");
        }
    }
    for token in ["a".repeat(128), "%C3%BC".repeat(128), "%2F%00%22".to_owned()] {
        assert!(session.get(&format!("/live/{token}")).await.json()["responses"].is_array(), "{token}");
    }
    check_healthy_with_sessions(&server, 1).await;
}
