//! The end: whoever waits is answered, running turns are closed, and nothing is lost.

use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::support::{
    CopilotServer, EventStream, Program, Reply, Server, SseEvent, TestSession, a_moment, callbacks, send_signal,
    until_gone,
};

/// A server with somebody in every kind of call that waits.
struct Busy {
    server: Server,
    running: TestSession,
    stream: EventStream,
    inbox: EventStream,
    /// What the stream gave so far.
    seen: Vec<SseEvent>,
    /// Calls for the next response of a session that says nothing.
    live: Vec<JoinHandle<Reply>>,
    /// The caller that waits for the turn.
    waiting: JoinHandle<Reply>,
}

async fn busy_server() -> Busy {
    let server = Server::start().await;
    let running = server.session().await;
    let idle = server.session().await;
    let mut stream = running.events_after(0).await;
    let inbox = server.http().events("/api/events").await;
    let prompt = running.seen_by(server.http());
    let waiting =
        tokio::spawn(
            async move { prompt.post("/prompt", json!({ "text": "many 1000000 200 10", "wait": true })).await },
        );
    let seen = stream.until_callback("onMessage").await;
    let live = ["/live", "/live/reader"].map(|path| {
        let idle = idle.seen_by(server.http());
        tokio::spawn(async move { idle.get(path).await })
    });
    // The stream and the two calls are there when the server counts three readers.
    while server.http().get("/api/health").await.json()["readers"] != 3 {
        a_moment().await;
    }
    Busy { server, running, stream, inbox, seen, live: live.into(), waiting }
}

async fn rest_of(mut stream: EventStream) -> Vec<SseEvent> {
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.push(event);
    }
    events
}

/// How the log of the interrupted turn ends.
fn check_closed(log: &[(u64, Value)]) {
    let names = callbacks(log);
    assert_eq!(names[names.len() - 4..], ["onEndMessage", "onNotice", "onAgentEnd", "onIdle"], "{names:?}");
    let notice = &log[log.len() - 3].1;
    assert_eq!(notice["kind"], "interrupted", "{notice}");
    assert!(notice["message"].as_str().is_some_and(|message| message.contains("server")), "{notice}");
    assert_eq!(names.iter().filter(|name| *name == "onIdle").count(), 1);
}

/// Everybody was answered, and after the restart the turn is closed and what was seen is there.
async fn check_all_is_kept(busy: Busy) {
    let Busy { server, running, stream, inbox, mut seen, live, waiting } = busy;
    for call in live {
        let reply = call.await.expect("answered");
        assert_eq!((reply.status.as_u16(), reply.json()), (200, json!({ "error": "HttpRequestTimeout" })));
    }
    let outcome = waiting.await.expect("answered");
    assert_eq!((outcome.status.as_u16(), &outcome.json()["verdict"]), (200, &json!("interrupted")));
    seen.extend(rest_of(stream).await);
    rest_of(inbox).await;

    let server = server.start_again().await;
    let running = running.seen_by(server.http());
    let log = running.log().await;
    check_closed(&log);
    let said: String = seen.iter().filter_map(|event| event.json()["delta"].as_str().map(str::to_owned)).collect();
    let kept = log[log.len() - 4].1["completeContent"].as_str().expect("text").to_owned();
    assert!(!said.is_empty() && kept.starts_with(&said), "what a reader has seen is kept");

    // The reader goes on where it was.
    let last = seen.last().and_then(|event| event.id).expect("a number");
    let rest = running.events_after(last).await.until_callback("onIdle").await;
    assert!(rest.iter().all(|event| event.id.is_some_and(|id| id > last)));
    assert_eq!(running.state().await, "ready");
    assert_eq!(running.ask("hello").await["verdict"], "succeeded");
}

#[tokio::test]
async fn sigterm_ends_the_server_well_with_readers_and_a_running_turn() {
    let mut busy = busy_server().await;
    assert!(busy.server.signal("TERM").await, "exit code 0");
    check_all_is_kept(busy).await;
}

#[tokio::test]
async fn sigint_ends_the_server_well_with_readers_and_a_running_turn() {
    let mut busy = busy_server().await;
    assert!(busy.server.signal("INT").await, "exit code 0");
    check_all_is_kept(busy).await;
}

/// A program that stands still holds up the end for a while; nobody has to wait for that.
#[tokio::test]
async fn a_second_signal_ends_the_server_at_once_and_loses_nothing_that_was_seen() {
    let copilot = CopilotServer::start(Program::Runtime).await;
    let session = copilot.session("ask").await;
    let mut stream = session.events_after(0).await;
    session.prompt("@@slow 1000").await;
    let mut seen = stream.until(|event| event.data.contains("tick3")).await;
    let (program, process) = (copilot.program(), copilot.server.process_id());
    let CopilotServer { mut server, model } = copilot;
    send_signal("STOP", program);
    send_signal("TERM", process);
    // Two of a kind might be taken for one.
    send_signal("INT", process);
    assert_eq!(server.exit_code().await, Some(130));
    until_gone(program).await;
    seen.extend(rest_of(stream).await);
    let server = server.start_again().await;
    let session = session.seen_by(server.http());
    let log = session.log().await;
    check_closed(&log);
    let said: String = seen.iter().filter_map(|event| event.json()["delta"].as_str().map(str::to_owned)).collect();
    let kept = log[log.len() - 4].1["completeContent"].as_str().expect("text").to_owned();
    assert!(said.contains("tick3") && kept.starts_with(&said), "what a reader has seen is kept: {kept}");
    assert_eq!(session.ask("@@plain").await["verdict"], "succeeded");
    drop(model);
}

#[tokio::test]
async fn stop_over_http_ends_the_server_well_with_readers_and_a_running_turn() {
    let mut busy = busy_server().await;
    assert!(busy.server.stop().await, "exit code 0");
    check_all_is_kept(busy).await;
}

#[tokio::test]
async fn a_kill_in_mid_turn_closes_the_turn_at_the_next_start_and_loses_nothing_that_was_seen() {
    let mut busy = busy_server().await;
    busy.server.kill().await;
    let Busy { server, running, stream, mut seen, .. } = busy;
    seen.extend(rest_of(stream).await);
    let server = server.start_again().await;
    let running = running.seen_by(server.http());
    let log = running.log().await;
    check_closed(&log);
    let said: String = seen.iter().filter_map(|event| event.json()["delta"].as_str().map(str::to_owned)).collect();
    let kept = log[log.len() - 4].1["completeContent"].as_str().expect("text").to_owned();
    assert!(!said.is_empty() && kept.starts_with(&said), "what a reader has seen is kept");
    assert_eq!(running.ask("hello").await["verdict"], "succeeded");
}

#[tokio::test]
async fn prompts_that_were_queued_at_the_end_run_with_the_next_one() {
    let server = Server::start().await;
    let session = server.session().await;
    session.prompt("many 1000000 200 10").await;
    session.prompt("reason").await;
    session.prompt("markdown").await;
    // Until its turn has begun, the first one waits too.
    session.events_after(0).await.until_callback("onMessage").await;
    let server = server.restart().await;
    let session = session.seen_by(server.http());
    assert_eq!(session.queued().await.len(), 2);
    assert_eq!(session.ask("hello").await["verdict"], "succeeded");
    let names = callbacks(&session.log().await);
    assert_eq!(names.iter().filter(|name| *name == "onUserPrompt").count(), 4);
    assert_eq!(names.iter().filter(|name| *name == "onIdle").count(), 4);
    assert!(names.contains(&"onEndReasoning".to_owned()));
}

#[tokio::test]
async fn an_idle_server_without_anybody_ends_well_too() {
    for signal in ["TERM", "INT"] {
        let mut server = Server::start().await;
        assert!(server.signal(signal).await, "{signal}");
        assert!(!server.data().join("server.json").exists());
    }
}

#[tokio::test]
async fn sessions_that_are_started_or_loaded_at_the_last_moment_do_not_hold_up_the_end() {
    let mut server = Server::start().await;
    for _ in 0..40 {
        server.session().await;
    }
    let mut server = {
        assert!(server.stop().await);
        server.start_again().await
    };
    let http = server.http();
    let callers: Vec<JoinHandle<()>> = (0..8)
        .map(|caller| {
            let http = http.clone();
            tokio::spawn(async move {
                let path = |number: u32| match caller % 2 {
                    0 => format!("/api/copilot/session/session-{}/log", 1 + number % 40),
                    _ => "/api/copilot/session/start/demo".to_owned(),
                };
                let mut number = 0;
                while http.is_answered(&path(number)).await {
                    number += 1;
                }
            })
        })
        .collect();
    http.get("/api/copilot/session/session-1").await;
    assert!(server.stop().await);
    for caller in callers {
        caller.await.expect("a caller");
    }
    let stderr = server.stderr().await;
    assert!(!stderr.contains("did not end in time"), "{stderr}");
}
