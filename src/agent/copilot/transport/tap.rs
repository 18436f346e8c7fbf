//! The tap between the program and the official crate.
//!
//! The crate's event path is one broadcast channel of 1,024 events for all sessions: under a flood it drops, silently.
//! So the stream is framed here first. Every `session.event`, and every request that belongs to a session, goes raw to
//! the session it names through a queue of its own; the crate gets the rest: replies to its calls, and requests that it
//! answers itself. Answers of sessions and the crate's own frames share one writer, so frames never mix.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use github_copilot_sdk::Client;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncWrite, BufReader, DuplexStream};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::frames::{read_frame, write_frame};

/// Messages that may wait for one session before the shared stream waits for it.
const SESSION_QUEUE: usize = 65_536;
const PIPE_BYTES: usize = 1024 * 1024;
/// Requests that sessions answer themselves.
const SESSION_REQUESTS: [&str; 3] = ["userInput.request", "exitPlanMode.request", "autoModeSwitch.request"];

/// What the program sends to one session.
#[derive(Debug)]
pub(in crate::agent::copilot) enum FromProgram {
    Event(Box<RawValue>),
    Request { id: Box<RawValue>, method: String, params: Box<RawValue> },
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(default)]
    method: Option<&'a str>,
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SessionParams<'a> {
    session_id: &'a str,
    #[serde(borrow, default)]
    event: Option<&'a RawValue>,
}

type Routes = Arc<Mutex<HashMap<String, (u64, mpsc::Sender<FromProgram>)>>>;

/// A session's messages, from the moment it began to listen.
pub(in crate::agent::copilot) struct Queue {
    /// Which listener this is: the next one of the same session has another number.
    number: u64,
    receiver: mpsc::Receiver<FromProgram>,
}

impl Queue {
    pub async fn recv(&mut self) -> Option<FromProgram> {
        self.receiver.recv().await
    }
}

/// One program's stream, shared by its sessions.
pub(in crate::agent::copilot) struct Tap {
    routes: Routes,
    listened: AtomicU64,
    answers: mpsc::Sender<Bytes>,
    /// Cancelled when the stream has ended; then `reason` says why.
    pub ended: CancellationToken,
    reason: Arc<Mutex<String>>,
    closing: CancellationToken,
}

impl Tap {
    /// Puts the tap between a program's streams and a new client. The tasks end with the streams.
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
        };
        let (routes, ended, reason) = (Arc::clone(&tap.routes), tap.ended.clone(), Arc::clone(&tap.reason));
        tokio::spawn(async move {
            *reason.lock() = read_all(from_program, to_client, &routes).await;
            end(&routes, &ended);
        });
        tokio::spawn(write_all(to_program, from_client, answered, tap.ended.clone(), tap.closing.clone()));
        Ok((tap, client))
    }

    /// The queue of a session's messages, from now on.
    pub fn listen(&self, session: &str) -> Queue {
        let (sender, receiver) = mpsc::channel(SESSION_QUEUE);
        let number = self.listened.fetch_add(1, Ordering::Relaxed);
        self.routes.lock().insert(session.to_owned(), (number, sender));
        Queue { number, receiver }
    }

    /// Ends a queue. Gives whether nobody else listens to the session by now.
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
        // An error means that the program is gone, and with it whoever waited.
        let _ = self.answers.send(Bytes::from(frame)).await;
    }

    /// Closes the program's standard input.
    pub fn close(&self) {
        self.closing.cancel();
    }

    /// The program is gone, even if its stream is not at its end because something else holds it.
    pub fn give_up(&self) {
        "the program ended".clone_into(&mut self.reason.lock());
        end(&self.routes, &self.ended);
    }

    /// Why the stream ended.
    pub fn reason(&self) -> String {
        self.reason.lock().clone()
    }
}

/// In this order: whoever finds the queue of a session at its end also finds that the program is gone.
fn end(routes: &Routes, ended: &CancellationToken) {
    ended.cancel();
    routes.lock().clear();
}

/// Reads until the end; gives the reason for it.
async fn read_all(from_program: impl AsyncRead + Unpin, mut to_client: DuplexStream, routes: &Routes) -> String {
    let mut reader = BufReader::with_capacity(256 * 1024, from_program);
    loop {
        let frame = match read_frame(&mut reader).await {
            Ok(Some(frame)) => frame,
            Ok(None) => return "the program ended".to_owned(),
            Err(error) => return error.to_string(),
        };
        if let Some((session, message)) = for_session(&frame) {
            let queue = routes.lock().get(&session).cloned();
            if let Some((_, queue)) = queue {
                // An error means that the session is gone; its messages are of no more use.
                let _ = queue.send(message).await;
            }
        } else if write_frame(&mut to_client, &frame).await.is_err() {
            return "the client ended".to_owned();
        }
    }
}

/// The message for a session in a frame, if it is one.
fn for_session(frame: &[u8]) -> Option<(String, FromProgram)> {
    let envelope: Envelope<'_> = serde_json::from_slice(frame).ok()?;
    let (method, params) = (envelope.method?, envelope.params?);
    let is_event = method == "session.event";
    if !is_event && !SESSION_REQUESTS.contains(&method) {
        return None;
    }
    let target: SessionParams<'_> = serde_json::from_str(params.get()).ok()?;
    let message = if is_event {
        FromProgram::Event(target.event?.to_owned())
    } else {
        FromProgram::Request { id: envelope.id?.to_owned(), method: method.to_owned(), params: params.to_owned() }
    };
    Some((target.session_id.to_owned(), message))
}

async fn write_all(
    mut to_program: impl AsyncWrite + Unpin,
    from_client: DuplexStream,
    mut answered: mpsc::Receiver<Bytes>,
    ended: CancellationToken,
    closing: CancellationToken,
) {
    // Frames of the client are read whole by a task of their own, so that waiting for one can be given up safely.
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
                () = ended.cancelled() => None,
                () = closing.cancelled() => None,
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
    use super::*;

    /// A program that never says hello and floods.
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
                        assert!(event.get().contains(&format!("\"{session}-{number}\"")), "{}", event.get());
                    }
                })
            })
            .collect();
        flood(program, SESSIONS, EACH).await;
        for reader in readers {
            reader.await.expect("everything arrived");
        }
    }

    /// What a real CLI and a client said to each other, frame by frame.
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
                    events.push(serde_json::from_str(raw.get()).expect("JSON"));
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
        assert_eq!(answered, r#"{"jsonrpc":"2.0","id":7,"result":{"answer":"yes"}}"#);
        drop(program);
        assert!(queue.recv().await.is_none(), "the end of the stream ends every session's queue");
        tap.ended.cancelled().await;
        assert_eq!(tap.reason(), "the program ended");
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
        assert_eq!(tap.reason(), "the program ended");
    }
}
