//! The tap between the program and the official crate.
//!
//! The crate's event path is one broadcast channel of 1,024 events for all sessions, which silently drops events under
//! load. So the frames are read here first. Every `session.event`, and every request that belongs to a session, goes
//! unchanged to that session's own queue. The crate gets the rest: replies to its calls, and requests that it answers
//! itself. Replies of sessions and the crate's own frames share one writer, so frames never mix.
//!
//! Invariants: the reader of the stream never waits for a session. A session that cannot keep up loses only its own
//! messages, and replies always pass.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use github_copilot_sdk::Client;
use parking_lot::Mutex;
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncWrite, BufReader, DuplexStream};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::frames::{read_frame, write_frame};
use super::inbox::{Fullness, Inbox, InboxSender, inbox};
use super::message::{Frame, FromProgram, Name};

const PIPE_BYTES: usize = 1024 * 1024;

type Routes = Arc<Mutex<HashMap<String, (u64, InboxSender)>>>;

/// A session's messages since it subscribed.
pub(in crate::agent::copilot) struct Queue {
    /// The number of this subscription; the next one of the same session has another.
    number: u64,
    inbox: Inbox,
}

impl Queue {
    /// The next message; `None` at the end. Cancel-safe.
    pub async fn recv(&mut self) -> Option<FromProgram> {
        self.inbox.recv().await
    }

    /// The next message, if one is queued.
    pub fn try_recv(&mut self) -> Option<FromProgram> {
        self.inbox.try_recv()
    }
}

/// One program's stream, shared by its sessions.
pub(in crate::agent::copilot) struct Tap {
    routes: Routes,
    listened: AtomicU64,
    answers: mpsc::Sender<Vec<u8>>,
    /// Cancelled when the stream has ended; then `reason` says why.
    pub ended: CancellationToken,
    reason: Arc<Mutex<String>>,
    closing: CancellationToken,
    tasks: TaskTracker,
}

impl Tap {
    /// Puts the tap between a program's streams and a new client. The tasks end with the streams, or with the tap.
    pub fn open(
        from_program: impl AsyncRead + Unpin + Send + 'static,
        to_program: impl AsyncWrite + Unpin + Send + 'static,
    ) -> Result<(Self, Client), github_copilot_sdk::Error> {
        let (to_client, client_reads) = tokio::io::duplex(PIPE_BYTES);
        let (client_writes, from_client) = tokio::io::duplex(PIPE_BYTES);
        let client = Client::from_streams(client_reads, client_writes, std::env::temp_dir())?;
        let (answers, answered) = mpsc::channel(64);
        let tap = Self {
            routes: Routes::default(),
            listened: AtomicU64::new(0),
            answers,
            ended: CancellationToken::new(),
            reason: Arc::default(),
            closing: CancellationToken::new(),
            tasks: TaskTracker::new(),
        };
        let (routes, ended, reason) = (Arc::clone(&tap.routes), tap.ended.clone(), Arc::clone(&tap.reason));
        tap.tasks.spawn(async move {
            tokio::select! {
                why = read_all(from_program, to_client, &routes) => *reason.lock() = why,
                // Another process holds the stream open; the reason is already recorded.
                () = ended.cancelled() => {}
            }
            end(&routes, &ended);
        });
        let (ended, closing) = (tap.ended.clone(), tap.closing.clone());
        tap.tasks.spawn(async move {
            tokio::select! {
                () = write_all(to_program, from_client, answered) => {}
                () = ended.cancelled() => {}
                () = closing.cancelled() => {}
            }
        });
        tap.tasks.close();
        Ok((tap, client))
    }

    /// Subscribes to a session's messages.
    pub fn listen(&self, session: &str) -> Queue {
        let (sender, inbox) = inbox();
        let number = self.listened.fetch_add(1, Ordering::Relaxed);
        let mut routes = self.routes.lock();
        // After the stream has ended, a queue would wait forever.
        if !self.ended.is_cancelled() {
            routes.insert(session.to_owned(), (number, sender));
        }
        Queue { number, inbox }
    }

    /// Ends a subscription. Returns whether the session has no newer one.
    pub fn forget(&self, session: &str, queue: &Queue) -> bool {
        let mut routes = self.routes.lock();
        let is_last = routes.get(session).is_none_or(|(number, _)| *number == queue.number);
        if is_last {
            routes.remove(session);
        }
        is_last
    }

    /// Answers a request of the program.
    pub async fn answer(&self, id: &RawValue, result: &serde_json::Value) {
        let frame = format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{result}}}", id.get());
        // An error means that the program has exited, and its request with it.
        let _ = self.answers.send(frame.into_bytes()).await;
    }

    /// Closes the program's standard input.
    pub fn close(&self) {
        self.closing.cancel();
    }

    /// The program has exited, even if another process keeps its stream open.
    pub fn give_up(&self) {
        "the program exited".clone_into(&mut self.reason.lock());
        end(&self.routes, &self.ended);
    }

    /// Why the stream ended.
    pub fn reason(&self) -> String {
        self.reason.lock().clone()
    }

    /// Waits for the background tasks, which end when the stream has ended.
    pub async fn finished(&self) {
        self.tasks.wait().await;
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        end(&self.routes, &self.ended);
    }
}

/// In this order, so that a session whose queue has ended also sees that the program has exited.
fn end(routes: &Routes, ended: &CancellationToken) {
    ended.cancel();
    routes.lock().clear();
}

/// Reads until the end and returns why the stream ended.
async fn read_all(from_program: impl AsyncRead + Unpin, mut to_client: DuplexStream, routes: &Routes) -> String {
    let mut reader = BufReader::with_capacity(256 * 1024, from_program);
    loop {
        let frame = match read_frame(&mut reader).await {
            Ok(Some(frame)) => frame,
            Ok(None) => return "the program exited".to_owned(),
            Err(error) => return error.to_string(),
        };
        match Frame::read(frame) {
            Frame::Session { name, message } => {
                if deliver(routes, &name, message) == Fullness::Behind {
                    // Lets a session that is slightly behind catch up, without waiting for it.
                    tokio::task::yield_now().await;
                }
            }
            Frame::Client(frame) => {
                if write_frame(&mut to_client, &frame).await.is_err() {
                    return "the client closed the stream".to_owned();
                }
            }
        }
    }
}

fn deliver(routes: &Routes, name: &Name, message: FromProgram) -> Fullness {
    let routes = routes.lock();
    match routes.get(name.text(&message)) {
        Some((_, sender)) => sender.put(message),
        // The session is gone; its messages are dropped.
        None => Fullness::Fine,
    }
}

async fn write_all(
    mut to_program: impl AsyncWrite + Unpin,
    from_client: DuplexStream,
    mut answered: mpsc::Receiver<Vec<u8>>,
) {
    // A separate future reads complete frames of the client, so that waiting for one is cancel-safe.
    let (sender, mut frames) = mpsc::channel(64);
    let reading = async move {
        let mut reader = BufReader::new(from_client);
        while let Ok(Some(frame)) = read_frame(&mut reader).await {
            if sender.send(frame).await.is_err() {
                return;
            }
        }
    };
    let writing = async move {
        loop {
            let frame = tokio::select! {
                frame = frames.recv() => frame,
                answer = answered.recv() => answer,
            };
            let Some(frame) = frame else { return };
            if write_frame(&mut to_program, &frame).await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = reading => {}
        () = writing => {}
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    /// A program that floods without a handshake.
    async fn flood(mut to_tap: DuplexStream, sessions: usize, each: usize) {
        for number in 0..each {
            for session in 0..sessions {
                let event = format!(
                    "{{\"jsonrpc\":\"2.0\",\"method\":\"session.event\",\"params\":{{\"sessionId\":\"s{session}\",\
                     \"event\":{{\"type\":\"assistant.message_delta\",\"id\":\"{session}-{number}\",\"data\":{{}}}}}}}}"
                );
                write_frame(&mut to_tap, event.as_bytes()).await.expect("taken");
            }
        }
    }

    #[tokio::test]
    async fn a_flood_over_many_sessions_arrives_whole_and_in_order() {
        const SESSIONS: usize = 30;
        const EACH: usize = 3_334;
        let (program, tap_reads) = tokio::io::duplex(64 * 1024);
        let (tap_writes, _program_reads) = tokio::io::duplex(64 * 1024);
        let (tap, _client) = Tap::open(tap_reads, tap_writes).expect("opened");
        let readers: Vec<_> = (0..SESSIONS)
            .map(|session| {
                let mut queue = tap.listen(&format!("s{session}"));
                tokio::spawn(async move {
                    for number in 0..EACH {
                        let Some(FromProgram::Event(event)) = queue.recv().await else {
                            panic!("{session} lost {number}")
                        };
                        let event = event.event().expect("an event");
                        assert_eq!(event.id, Some(format!("\"{session}-{number}\"").as_str()));
                    }
                })
            })
            .collect();
        flood(program, SESSIONS, EACH).await;
        for reader in readers {
            reader.await.expect("everything arrived");
        }
    }

    /// The recorded traffic between a real CLI and a client, frame by frame.
    const RECORDED: &str = include_str!("../../../../tests/transcripts/sdk/wire.ndjson");

    #[tokio::test]
    async fn a_recorded_conversation_is_routed_to_its_sessions_in_order() {
        #[derive(Deserialize)]
        struct Line {
            dir: String,
            msg: serde_json::Value,
        }
        let from_program: Vec<serde_json::Value> = RECORDED
            .lines()
            .filter_map(|line| serde_json::from_str::<Line>(line).ok())
            .filter(|line| line.dir == "<-" && line.msg.is_object())
            .map(|line| line.msg)
            .collect();
        let mut expected: HashMap<String, Vec<serde_json::Value>> = HashMap::new();
        for message in from_program.iter().filter(|message| message["method"] == "session.event") {
            let session = message["params"]["sessionId"].as_str().expect("a session").to_owned();
            expected.entry(session).or_default().push(message["params"]["event"].clone());
        }
        assert!(expected.values().map(Vec::len).sum::<usize>() > 500, "the recording is there");
        let (mut program, tap_reads) = tokio::io::duplex(64 * 1024);
        let (tap_writes, _program_reads) = tokio::io::duplex(64 * 1024);
        let (tap, _client) = Tap::open(tap_reads, tap_writes).expect("opened");
        let mut queues: Vec<_> = expected.keys().map(|session| (session.clone(), tap.listen(session))).collect();
        for message in &from_program {
            write_frame(&mut program, message.to_string().as_bytes()).await.expect("written");
        }
        drop(program);
        for (session, queue) in &mut queues {
            let mut events: Vec<serde_json::Value> = Vec::new();
            while let Some(message) = queue.recv().await {
                if let FromProgram::Event(raw) = message {
                    events.push(serde_json::from_str(&raw.text()).expect("JSON"));
                }
            }
            assert_eq!(events, expected[session.as_str()], "{session}");
        }
    }

    #[tokio::test]
    async fn the_client_gets_its_replies_and_sessions_their_requests() {
        let (mut program, tap_reads) = tokio::io::duplex(64 * 1024);
        let (tap_writes, program_reads) = tokio::io::duplex(64 * 1024);
        let (tap, client) = Tap::open(tap_reads, tap_writes).expect("opened");
        let mut queue = tap.listen("s");
        let mut heard = BufReader::new(program_reads);
        let caller = client.clone();
        let call =
            tokio::spawn(async move { caller.call("ping", Some(serde_json::json!({}))).await.expect("answered") });
        let asked: serde_json::Value =
            serde_json::from_slice(&read_frame(&mut heard).await.expect("read").expect("one")).expect("JSON");
        let reply = format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{\"pong\":1}}}}", asked["id"]);
        write_frame(&mut program, reply.as_bytes()).await.expect("written");
        assert_eq!(call.await.expect("called")["pong"], 1);
        let request =
            r#"{"jsonrpc":"2.0","id":7,"method":"userInput.request","params":{"sessionId":"s","question":"?"}}"#;
        write_frame(&mut program, request.as_bytes()).await.expect("written");
        let Some(FromProgram::Request { id, .. }) = queue.recv().await else { panic!("a request") };
        tap.answer(&id, &serde_json::json!({ "answer": "yes" })).await;
        let answered = read_frame(&mut heard).await.expect("read").expect("one");
        assert_eq!(answered, br#"{"jsonrpc":"2.0","id":7,"result":{"answer":"yes"}}"#);
        drop(program);
        assert!(queue.recv().await.is_none(), "the end of the stream ends every session's queue");
        tap.ended.cancelled().await;
        assert_eq!(tap.reason(), "the program exited");
    }

    #[tokio::test]
    async fn a_program_that_is_gone_is_gone_for_its_sessions_even_if_its_stream_is_held_open() {
        let (_held, tap_reads) = tokio::io::duplex(1024);
        let (tap_writes, _program_reads) = tokio::io::duplex(1024);
        let (tap, _client) = Tap::open(tap_reads, tap_writes).expect("opened");
        let mut queue = tap.listen("s");
        tap.give_up();
        assert!(queue.recv().await.is_none());
        assert!(tap.ended.is_cancelled());
        assert_eq!(tap.reason(), "the program exited");
    }
}
