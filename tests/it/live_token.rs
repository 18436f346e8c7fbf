//! `live/{token}`: a cursor per token, batches.

use serde_json::{Value, json};

use crate::support::{RawConnection, Server, TestSession, a_moment};

/// Reads batches with a token until that callback. Gives the responses and the last number.
async fn read_until(session: &TestSession, token: &str, callback: &str) -> (Vec<Value>, u64) {
    let mut responses = Vec::new();
    loop {
        let batch = session.get(&format!("/live/{token}")).await.json();
        let new = batch["responses"].as_array().unwrap_or_else(|| panic!("{batch}")).clone();
        assert!(!new.is_empty());
        responses.extend(new);
        if responses.iter().any(|response| response["callback"] == callback) {
            return (responses, batch["lastSeq"].as_u64().expect("a number"));
        }
    }
}

#[tokio::test]
async fn every_token_gets_the_whole_history_and_then_what_is_new() {
    let server = Server::start().await;
    let session = server.session().await;
    session.ask("hello").await;
    let (first, last) = read_until(&session, "one", "onIdle").await;
    let (second, same_last) = read_until(&session, "two", "onIdle").await;
    assert_eq!((&first, last), (&second, same_last));
    assert_eq!(first[0]["callback"], "onUserPrompt");
    session.ask("hello").await;
    let (more, _) = read_until(&session, "one", "onIdle").await;
    assert_eq!(more[0]["promptId"], "prompt-2");
    let later = session.get(&format!("/live/three?after={last}")).await.json();
    assert_eq!(later["responses"][0]["promptId"], "prompt-2");
}

#[tokio::test]
async fn a_token_from_the_server_is_unique() {
    let server = Server::start().await;
    let token = async || server.http().get("/api/token").await.json()["token"].as_str().expect("text").to_owned();
    let (one, two) = (token().await, token().await);
    assert_eq!(one.len(), 36);
    assert_ne!(one, two);
}

#[tokio::test]
async fn parallel_calls_are_refused_per_token() {
    let server = Server::start().await;
    let session = server.session().await;
    let waiting = session.get("/live/a");
    let others = async {
        while server.http().get("/api/health").await.json()["readers"] != json!(1) {
            a_moment().await;
        }
        let refused = session.get("/live/a").await.json();
        // Another token may wait at the same time; closing ends both.
        let other = session.get("/live/b");
        let close = async {
            while server.http().get("/api/health").await.json()["readers"] != json!(2) {
                a_moment().await;
            }
            session.post("/stop", json!({})).await;
        };
        (refused, tokio::join!(other, close).0.json())
    };
    let (first, (refused, other)) = tokio::join!(waiting, others);
    assert_eq!(refused, json!({ "error": "ParallelCallNotSupported" }));
    assert_eq!(first.json(), json!({ "error": "SessionClosed" }));
    assert_eq!(other, json!({ "error": "SessionClosed" }));
}

#[tokio::test]
async fn batches_have_at_most_a_thousand_responses_and_a_megabyte() {
    let server = Server::start().await;
    let session = server.session().await;
    session.prompt("many 5000 0 1000").await;
    session.events_after(0).await.until_callback("onStartMessage").await;
    let (mut deltas, mut batches) = (0, 0);
    loop {
        let reply = session.get("/live/reader").await;
        let batch = reply.json();
        let responses = batch["responses"].as_array().expect("responses");
        assert!(responses.len() <= 1000, "{}", responses.len());
        assert!(reply.body.len() < 1_100_000 || responses.len() == 1, "{}", reply.body.len());
        deltas += responses.iter().filter(|response| response["callback"] == "onMessage").count();
        batches += 1;
        if responses.iter().any(|response| response["callback"] == "onIdle") {
            break;
        }
    }
    assert!(batches > 5, "{batches}");
    assert!(deltas <= 5000);
}

#[tokio::test]
async fn after_the_close_a_token_is_told_once_and_a_new_one_may_read_for_a_while() {
    let server = Server::builder().flags(&["--test"]).start().await;
    let session = server.session().await;
    session.ask("hello").await;
    session.post("/stop", json!({})).await;
    for token in ["early", "late"] {
        read_until(&session, token, "onIdle").await;
        assert_eq!(session.get(&format!("/live/{token}")).await.json(), json!({ "error": "SessionClosed" }));
        assert_eq!(session.get(&format!("/live/{token}")).await.json(), json!({ "error": "SessionNotFound" }));
    }
    // With --test the while is five seconds.
    let mut tokens = 0;
    loop {
        tokens += 1;
        let answer = session.get(&format!("/live/new-{tokens}")).await;
        if answer.json() == json!({ "error": "SessionNotFound" }) {
            break;
        }
        // As many readers as a session may have: the time is not over yet, and no new one is let in.
        if answer.status == 429 {
            continue;
        }
        assert_eq!(answer.json()["responses"][0]["callback"], "onUserPrompt");
    }
    assert_eq!(session.log().await.len(), 7, "the history stays for good");
}

#[tokio::test]
async fn tokens_have_a_length_and_a_number() {
    let server = Server::builder().config("[limits]\nreaders_per_session = 2").start().await;
    let session = server.session().await;
    session.ask("hello").await;
    let longest = "ü".repeat(128).replace('ü', "%C3%BC");
    assert!(session.get(&format!("/live/{longest}")).await.json()["responses"].is_array());
    assert_eq!(session.get(&format!("/live/{}", "x".repeat(129))).await.error(400), "InvalidToken");
    session.get("/live/second").await;
    assert_eq!(session.get("/live/third").await.error(429), "TooManyReaders");
    assert!(session.get("/live").await.json()["callback"].is_string(), "the shared cursor always has its place");
}

#[tokio::test]
async fn places_of_tokens_survive_a_clean_restart() {
    let server = Server::start().await;
    let session = server.session().await;
    session.ask("hello").await;
    read_until(&session, "reader", "onIdle").await;
    let server = server.restart().await;
    let session = session.seen_by(server.http());
    session.ask("hello").await;
    let (responses, _) = read_until(&session, "reader", "onIdle").await;
    assert_eq!(responses[0]["promptId"], "prompt-2");
}

#[tokio::test]
async fn a_caller_that_hangs_up_in_the_middle_of_a_long_batch_gets_it_again() {
    let server = Server::start().await;
    let session = server.session().await;
    session.ask("many 100 0 60000").await;
    let events = session.events_after(0).await.until_callback("onEndMessage").await;
    let before_end = events.last().and_then(|event| event.id).expect("a number") - 1;
    let (path, token) = (session.path(&format!("/live/reader?after={before_end}")), server.token());
    let mut connection = RawConnection::open(&server.authority()).await;
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n");
    connection.send(request.as_bytes()).await;
    assert!(connection.read_some().await > 0);
    drop(connection);
    loop {
        let again = session.get("/live/reader").await.json();
        // Until the server notices that the first caller is gone.
        if again != json!({ "error": "ParallelCallNotSupported" }) {
            assert_eq!(again["responses"][0]["callback"], "onEndMessage");
            return;
        }
    }
}
