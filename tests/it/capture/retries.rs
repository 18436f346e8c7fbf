//! Callers that hang up, and what they get when they ask again.

use serde_json::json;
use tokio::io::AsyncWriteExt as _;

use super::{Caller, server, until_nothing_is_left};
use crate::support::{Program, eventually};

/// Sends a request and hangs up as soon as the model was asked that many times.
async fn hang_up(copilot: &crate::support::CopilotServer, caller: &Caller, asked: usize) {
    let request = caller.post();
    tokio::pin!(request);
    tokio::select! {
        reply = &mut request => panic!("answered: {}", reply.text()),
        () = eventually("the model is asked", async || (copilot.model.requests().len() >= asked).then_some(())) => {}
    }
    // The request is dropped at the end of this function.
}

#[tokio::test]
async fn an_identical_retry_gets_the_answer_that_is_being_made() {
    let copilot = server(Program::Runtime, "").await;
    let mut caller = Caller::of(&copilot);
    caller.says("@@slow 20 50");
    hang_up(&copilot, &caller, 1).await;
    eventually("the server notices", async || {
        let figures = copilot.server.http().get("/api/captures").await.json();
        (figures["now"]["unheard"] == 1).then_some(())
    })
    .await;
    let (answer, _) = caller.send().await;
    assert!(answer["content"].as_str().expect("text").contains("tick19"), "{answer}");
    assert_eq!(copilot.model.requests().len(), 1, "the model was asked once");
}

#[tokio::test]
async fn the_same_question_twice_at_once_is_two_questions() {
    let copilot = server(Program::Runtime, "").await;
    let ask = || async {
        let mut caller = Caller::of(&copilot);
        caller.ask("@@slow 5 50").await
    };
    futures_util::future::join(ask(), ask()).await;
    assert_eq!(copilot.model.requests().len(), 2);
}

#[tokio::test]
async fn a_caller_that_never_comes_back_leaves_nothing() {
    let copilot = server(Program::Runtime, "[capture]\nmode = \"destroy\"\n").await;
    let mut caller = Caller::of(&copilot);
    caller.says("@@slow 3 20");
    hang_up(&copilot, &caller, 1).await;
    until_nothing_is_left(&copilot).await;
}

#[tokio::test]
async fn an_agent_that_is_killed_fails_the_call_at_once_and_the_next_one_works() {
    let copilot = server(Program::Runtime, "").await;
    let mut caller = Caller::of(&copilot);
    caller.says("@@slow 1000 100");
    let killed = async {
        eventually("the model is asked", async || (!copilot.model.requests().is_empty()).then_some(())).await;
        crate::support::send_signal("KILL", crate::support::children_of(copilot.server.process_id())[0]);
    };
    // The model would need a hundred seconds.
    let (reply, ()) = futures_util::future::join(caller.post(), killed).await;
    assert!(reply.status.is_server_error(), "{}", reply.text());
    assert!(reply.json()["error"]["message"].as_str().expect("a message").contains("ended"), "{}", reply.text());
    let mut next = Caller::of(&copilot);
    assert_eq!(next.ask("@@echo again").await.0["content"], json!("ECHO[again]"));
}

#[tokio::test]
async fn a_caller_that_never_reads_delays_nobody() {
    let copilot = server(Program::Runtime, "").await;
    let mut caller = Caller::of(&copilot);
    caller.says("@@many 15000");
    let mut body = caller.body();
    body["stream"] = json!(true);
    let body = body.to_string();
    let token = copilot.server.token();
    let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
    // So that the answer does not fit into the connection.
    socket.set_recv_buffer_size(4_096).expect("set");
    let address = std::net::SocketAddr::from(([127, 0, 0, 1], copilot.server.port()));
    let mut silent = socket.connect(address).await.expect("connected");
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    silent.write_all(head.as_bytes()).await.expect("sent");
    eventually("the long answer is made", async || {
        let calls = copilot.server.http().get("/api/captures").await.json();
        (calls["calls"][0]["outcome"] == "stop").then_some(())
    })
    .await;
    let mut other = Caller::of(&copilot);
    assert_eq!(other.ask("@@echo meanwhile").await.0["content"], "ECHO[meanwhile]");
    let by_token = copilot.server.http().get("/api/captures?by=token").await.json();
    assert_eq!(
        (&by_token["tokens"][0]["token"], by_token["tokens"].as_array().map(Vec::len)),
        (&json!("admin"), Some(1))
    );
    assert_eq!(by_token["tokens"][0]["usage"]["inputTokens"].as_u64().map(|tokens| tokens >= 100), Some(true));
    drop(silent);
}
