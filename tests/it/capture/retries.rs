//! Callers that hang up, and what they get when they ask again.

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

use super::{Caller, server, until_nothing_is_left};
use crate::support::{Program, eventually};

/// Sends a request and hangs up as soon as the model was asked that many times.
async fn hang_up(copilot: &crate::support::CopilotServer, caller: &Caller, asked: usize) {
    let request = caller.post();
    tokio::pin!(request);
    tokio::select! {
        biased;
        () = eventually("the model is asked", async || (copilot.model.requests().len() >= asked).then_some(())) => {}
        reply = &mut request => panic!("answered: {}", reply.text()),
    }
    // The request is dropped at the end of this function.
}

#[tokio::test]
async fn an_identical_retry_gets_the_answer_that_is_being_made() {
    let copilot = server(Program::Runtime, "").await;
    let mut caller = Caller::of(&copilot);
    caller.says("@@slow 60 50");
    hang_up(&copilot, &caller, 1).await;
    until_unheard(&copilot).await;
    let (answer, _) = caller.send().await;
    assert!(answer["content"].as_str().expect("text").contains("tick59"), "{answer}");
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
    caller.says("@@slow 60 50");
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
        crate::support::send_signal("KILL", copilot.program());
    };
    // The model would need a hundred seconds.
    let (reply, ()) = futures_util::future::join(caller.post(), killed).await;
    assert!(reply.status.is_server_error(), "{}", reply.text());
    assert!(reply.json()["error"]["message"].as_str().expect("a message").contains("ended"), "{}", reply.text());
    let mut next = Caller::of(&copilot);
    assert_eq!(next.ask("@@echo again").await.0["content"], json!("ECHO[again]"));
}

/// Sends a request that wants a stream, on a connection with a small buffer.
async fn stream(copilot: &crate::support::CopilotServer, caller: &Caller) -> TcpStream {
    let mut body = caller.body();
    body["stream"] = json!(true);
    let (body, token) = (body.to_string(), copilot.server.token());
    let socket = TcpSocket::new_v4().expect("a socket");
    // So that a long answer does not fit into the connection.
    socket.set_recv_buffer_size(4_096).expect("set");
    let address = std::net::SocketAddr::from(([127, 0, 0, 1], copilot.server.port()));
    let mut connection = socket.connect(address).await.expect("connected");
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    connection.write_all(head.as_bytes()).await.expect("sent");
    connection
}

#[tokio::test]
async fn a_stream_that_was_cut_off_is_read_again_from_its_beginning() {
    let copilot = server(Program::Runtime, "").await;
    let mut caller = Caller::of(&copilot);
    caller.says("@@slow 60 50");
    let mut connection = stream(&copilot, &caller).await;
    let (mut read, mut buffer) = (Vec::new(), [0; 1_024]);
    while !String::from_utf8_lossy(&read).contains("tick3") {
        let count = connection.read(&mut buffer).await.expect("readable");
        assert!(count > 0, "it goes on");
        read.extend_from_slice(&buffer[..count]);
    }
    drop(connection);
    until_unheard(&copilot).await;
    let mut body = caller.body();
    body["stream"] = json!(true);
    let again = copilot.server.http().post_json("/v1/chat/completions", &body).await;
    assert!(again.text().contains("tick0") && again.text().contains("tick59"), "{}", again.text());
    assert!(again.text().trim_end().ends_with("[DONE]"));
    assert_eq!(copilot.model.requests().len(), 1, "the model was asked once");
}

/// Waits until the server has noticed that a caller hung up.
async fn until_unheard(copilot: &crate::support::CopilotServer) {
    eventually("the server notices", async || {
        let figures = copilot.server.http().get("/api/captures").await.json();
        (figures["now"]["unheard"] == 1).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_caller_that_never_reads_delays_nobody() {
    let copilot = server(Program::Runtime, "").await;
    let mut caller = Caller::of(&copilot);
    caller.says("@@many 15000");
    let silent = stream(&copilot, &caller).await;
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
