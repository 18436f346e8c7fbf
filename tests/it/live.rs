//! `live`: the shared cursor, one response a call.

use serde_json::{Value, json};

use crate::support::{Server, TestSession, a_moment};

/// Reads with the shared cursor until that callback.
async fn read_until(session: &TestSession, callback: &str) -> Vec<Value> {
    let mut responses = Vec::new();
    loop {
        let response = session.get("/live").await.json();
        assert_eq!(response.get("error"), None, "{responses:?}");
        let found = response["callback"] == callback;
        responses.push(response);
        if found {
            return responses;
        }
    }
}

/// Waits until exactly that many readers are attached.
async fn wait_for_readers(server: &Server, count: u64) {
    while server.http().get("/api/health").await.json()["readers"] != json!(count) {
        a_moment().await;
    }
}

#[tokio::test]
async fn each_call_takes_one_response_in_the_order_of_generation() {
    let server = Server::start().await;
    let session = server.session().await;
    let mut stream = session.events_after(0).await;
    session.prompt("reason").await;
    let taken = read_until(&session, "onIdle").await;
    let streamed = stream.until_callback("onIdle").await;
    assert_eq!(taken, streamed.iter().map(crate::support::SseEvent::json).collect::<Vec<_>>());
}

#[tokio::test]
async fn the_older_paths_are_the_same_routes() {
    let server = Server::start().await;
    let http = server.http();
    let id =
        http.post("/api/copilot/session/start/demo", "").await.json()["sessionId"].as_str().expect("an id").to_owned();
    assert_eq!(http.post(&format!("/api/copilot/session/query/{id}"), "hello\n").await.text(), "{}");
    let first = http.get(&format!("/api/copilot/session/live/{id}")).await.json();
    assert_eq!(
        (&first["callback"], &first["text"]),
        (&json!("onUserPrompt"), &json!("hello")),
        "one newline is trimmed"
    );
    let second = http.post(&format!("/api/copilot/session/{id}/live"), "").await.json();
    assert_eq!(second["callback"], "onNotice", "one cursor for both forms");
    assert_eq!(http.post(&format!("/api/copilot/session/stop/{id}"), "").await.json(), json!({ "result": "Closed" }));
}

#[tokio::test]
async fn a_waiting_call_times_out_and_meanwhile_a_second_one_is_refused() {
    let server = Server::start().await;
    let session = server.session().await;
    let waiting = session.get("/live");
    let second = async {
        wait_for_readers(&server, 1).await;
        session.get("/live").await.json()
    };
    let (first, second) = tokio::join!(waiting, second);
    assert_eq!(second, json!({ "error": "ParallelCallNotSupported" }));
    assert_eq!((first.status.as_u16(), first.json()), (200, json!({ "error": "HttpRequestTimeout" })));
    assert_eq!(session.log().await, []);
}

#[tokio::test]
async fn a_call_that_waits_is_answered_as_soon_as_something_comes() {
    let server = Server::start().await;
    let session = server.session().await;
    let (response, ()) = tokio::join!(session.get("/live"), async {
        wait_for_readers(&server, 1).await;
        session.prompt("hello").await;
    });
    assert_eq!(response.json()["callback"], "onUserPrompt");
}

#[tokio::test]
async fn a_caller_that_hangs_up_while_waiting_loses_nothing() {
    let server = Server::start().await;
    let session = server.session().await;
    for _ in 0..5 {
        let abandoned = session.get("/live");
        tokio::select! {
            _ = abandoned => panic!("there is nothing to answer with"),
            () = wait_for_readers(&server, 1) => {}
        }
        wait_for_readers(&server, 0).await;
    }
    session.prompt("hello").await;
    let responses = read_until(&session, "onIdle").await;
    assert_eq!(responses[0]["callback"], "onUserPrompt");
    let text: String = responses.iter().filter_map(|response| response["delta"].as_str()).collect();
    let end = responses.iter().find(|response| response["callback"] == "onEndMessage").expect("an end");
    assert_eq!(end["completeContent"], json!(text));
}

#[tokio::test]
async fn a_closed_session_answers_until_drained_then_closed_once_then_not_found() {
    let server = Server::start().await;
    let session = server.session().await;
    assert_eq!(
        server.http().get("/api/copilot/session/session-9/live").await.json(),
        json!({ "error": "SessionNotFound" })
    );
    session.ask("hello").await;
    session.post("/stop", json!({})).await;
    read_until(&session, "onIdle").await;
    assert_eq!(session.get("/live").await.json(), json!({ "error": "SessionClosed" }));
    assert_eq!(session.get("/live").await.json(), json!({ "error": "SessionNotFound" }));
    let server = server.restart().await;
    let session = session.seen_by(server.http());
    assert_eq!(
        session.get("/live").await.json(),
        json!({ "error": "SessionNotFound" }),
        "it stays told after a restart"
    );
}

#[tokio::test]
async fn a_call_that_waits_hears_of_the_close() {
    let server = Server::start().await;
    let session = server.session().await;
    let (response, ()) = tokio::join!(session.get("/live"), async {
        wait_for_readers(&server, 1).await;
        session.post("/stop", json!({})).await;
    });
    assert_eq!(response.json(), json!({ "error": "SessionClosed" }));
}

#[tokio::test]
async fn the_shared_cursor_goes_on_after_a_clean_restart() {
    let server = Server::start().await;
    let session = server.session().await;
    session.ask("hello").await;
    for _ in 0..3 {
        session.get("/live").await;
    }
    let server = server.restart().await;
    let session = session.seen_by(server.http());
    assert_eq!(session.get("/live").await.json()["callback"], "onStartMessage", "the fourth response");
}
