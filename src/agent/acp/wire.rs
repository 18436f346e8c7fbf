//! JSON-RPC over a program's standard streams, one message per line.
//!
//! All messages of a program arrive in one bounded queue, in order: a response never overtakes the updates before it.
//! If the queue is full, reading stops, the pipe fills and the program waits. Our messages go into a bounded queue too.
//! A program that stops reading is abandoned rather than waited for, so the two sides cannot deadlock.

use std::borrow::Cow;
use std::sync::Arc;

use crate::agent::lines::{LONGEST, Line, next_line};
use crate::process::printable;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::{AsyncBufRead, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

const INCOMING: usize = 1_024;
const OUTGOING: usize = 256;
/// The number of invalid lines that are logged; more are only counted.
const INVALID_LINES_LOGGED: u32 = 20;
const INVALID_LINE_CHARACTERS: usize = 300;

pub(super) const METHOD_NOT_FOUND: i64 = -32_601;
pub(super) const TOO_LONG: i64 = -32_603;

/// An error response.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message} ({code})")]
pub(super) struct RpcError {
    pub code: i64,
    pub message: String,
}

impl RpcError {
    /// A login is required.
    pub fn wants_login(&self) -> bool {
        self.code == -32_000
    }

    fn read(raw: &RawValue) -> Self {
        let value: Value = serde_json::from_str(raw.get()).unwrap_or_default();
        let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let message = text(&value["message"]).unwrap_or_else(|| "no reason given".to_owned());
        let details = text(&value["data"]).or_else(|| text(&value["data"]["details"]));
        let message = match details {
            Some(details) if !message.contains(&details) => format!("{message}: {details}"),
            _ => message,
        };
        Self { code: value["code"].as_i64().unwrap_or_default(), message }
    }
}

/// A message from the program.
#[derive(Debug)]
pub(super) enum Incoming {
    /// An update of a session.
    Update { session: String, update: Box<RawValue> },
    /// Any other notification.
    Notification { method: String, params: Box<RawValue> },
    /// A request, with the program's own id.
    Request { id: Box<RawValue>, method: String, params: Box<RawValue> },
    /// A response to one of our calls; ids are compared as text.
    Response { id: String, outcome: Result<Box<RawValue>, RpcError> },
    /// A message that was too long.
    TooLong { bytes: usize },
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UpdateParams {
    session_id: String,
    update: Box<RawValue>,
}

/// The program no longer reads its input.
#[derive(Debug)]
pub(super) struct Closed;

/// Sends messages to the program. Clones share the queue.
#[derive(Clone, Debug)]
pub(super) struct Sender {
    outgoing: mpsc::Sender<String>,
}

impl Sender {
    fn send(&self, message: &Value) -> Result<(), Closed> {
        self.outgoing.try_send(message.to_string()).map_err(|_| Closed)
    }

    pub fn notify(&self, method: &str, params: &impl Serialize) -> Result<(), Closed> {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
    }

    pub fn call(&self, id: &Value, method: &str, params: &impl Serialize) -> Result<(), Closed> {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
    }

    pub fn answer(&self, id: &RawValue, result: &Value) -> Result<(), Closed> {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }))
    }

    pub fn refuse(&self, id: &RawValue, code: i64, message: &str) -> Result<(), Closed> {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }))
    }
}

/// What is known about a stream besides its messages.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// The last line that was not a message.
    invalid_line: Mutex<Option<String>>,
    /// The number of messages so far.
    received: watch::Sender<u64>,
    /// The stream has ended.
    pub ended: CancellationToken,
}

impl Stream {
    pub fn invalid_line(&self) -> Option<String> {
        self.invalid_line.lock().clone()
    }

    pub fn received(&self) -> watch::Receiver<u64> {
        self.received.subscribe()
    }
}

/// Both directions.
pub(super) struct Wire {
    pub sender: Sender,
    pub incoming: mpsc::Receiver<Incoming>,
    pub stream: Arc<Stream>,
    last_id: u64,
    hangs_up: CancellationToken,
    tasks: TaskTracker,
}

impl Wire {
    pub fn new(
        output: impl AsyncRead + Send + Unpin + 'static,
        input: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        let (outgoing, to_write) = mpsc::channel(OUTGOING);
        let (received, incoming) = mpsc::channel(INCOMING);
        let (stream, hangs_up, tasks) = (Arc::new(Stream::default()), CancellationToken::new(), TaskTracker::new());
        let sender = Sender { outgoing };
        tasks.spawn(write(input, to_write, hangs_up.clone()));
        let (reader_stream, reader_sender, closed) = (Arc::clone(&stream), sender.clone(), hangs_up.clone());
        tasks.spawn(async move {
            let reading = read(BufReader::new(output), &received, &reader_sender, &reader_stream);
            tokio::select! {
                () = reading => {}
                // After closing, nothing is read any more, and the program may keep its output open forever.
                () = closed.cancelled() => {}
            }
            reader_stream.ended.cancel();
        });
        tasks.close();
        Self { sender, incoming, stream, last_id: 0, hangs_up, tasks }
    }

    /// Sends a call and returns the id of its response.
    pub fn call(&mut self, method: &str, params: &impl Serialize) -> Result<String, Closed> {
        self.last_id += 1;
        self.sender.call(&json!(self.last_id), method, params)?;
        Ok(self.last_id.to_string())
    }

    /// Closes the program's input and stops reading.
    pub fn close(&self) {
        self.hangs_up.cancel();
    }

    /// As [`Self::close`], and waits until it is done.
    pub async fn close_and_wait(self) {
        self.close();
        drop(self.incoming);
        self.tasks.wait().await;
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.ended.cancel();
    }
}

async fn write(mut input: impl AsyncWrite + Unpin, mut lines: mpsc::Receiver<String>, hangs_up: CancellationToken) {
    let writing = async {
        while let Some(mut line) = lines.recv().await {
            line.push('\n');
            // A program that closed its input explains why when it exits.
            if input.write_all(line.as_bytes()).await.is_err() || input.flush().await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = writing => {}
        () = hangs_up.cancelled() => {}
    }
}

async fn read(mut reader: impl AsyncBufRead + Unpin, into: &mpsc::Sender<Incoming>, sender: &Sender, stream: &Stream) {
    let mut invalid_lines = 0;
    loop {
        let incoming = match next_line(&mut reader, LONGEST).await {
            Ok(Some(Line::Text(line))) if line.trim().is_empty() => continue,
            Ok(Some(Line::Text(line))) => {
                let message = understand(&line);
                if message.is_none() {
                    invalid_lines += 1;
                    note_invalid_line(&line, invalid_lines, stream);
                    continue;
                }
                message
            }
            Ok(Some(Line::TooLong { bytes, beginning })) => {
                tracing::warn!(bytes, "dropped a message from the agent that is too long");
                let hint = format!("the message has {bytes} bytes; the limit is {LONGEST}");
                match head(&beginning) {
                    Head { id: Some(id), method: None } => {
                        let error = RpcError { code: TOO_LONG, message: hint };
                        send(into, Incoming::TooLong { bytes }, stream).await;
                        Some(Incoming::Response { id: as_text(&id), outcome: Err(error) })
                    }
                    Head { id: Some(id), method: Some(_) } => {
                        let _ = sender.refuse(&id, TOO_LONG, &hint);
                        Some(Incoming::TooLong { bytes })
                    }
                    Head { id: None, .. } => Some(Incoming::TooLong { bytes }),
                }
            }
            Ok(None) => return,
            Err(error) => {
                tracing::debug!(%error, "cannot read more of the agent's output");
                return;
            }
        };
        if let Some(incoming) = incoming
            && !send(into, incoming, stream).await
        {
            return;
        }
    }
}

async fn send(into: &mpsc::Sender<Incoming>, incoming: Incoming, stream: &Stream) -> bool {
    stream.received.send_modify(|received| *received += 1);
    into.send(incoming).await.is_ok()
}

fn note_invalid_line(line: &str, count: u32, stream: &Stream) {
    let shown: String = line.chars().take(INVALID_LINE_CHARACTERS).collect();
    let shown = printable(&shown).into_owned();
    if count <= INVALID_LINES_LOGGED {
        tracing::warn!(line = %shown, "the agent wrote a line that is not a message");
    }
    *stream.invalid_line.lock() = Some(shown);
}

pub(super) fn understand(line: &str) -> Option<Incoming> {
    // Serde would also accept an array for a struct.
    let line = Some(line).filter(|line| line.trim_start().starts_with('{'))?;
    let envelope: Envelope<'_> = serde_json::from_str(line).ok()?;
    let owned = |raw: Option<&RawValue>| raw.map_or_else(nothing, ToOwned::to_owned);
    match (envelope.method, envelope.id) {
        (Some(method), Some(id)) => {
            Some(Incoming::Request { id: id.to_owned(), method: method.into_owned(), params: owned(envelope.params) })
        }
        (Some(method), None) => {
            let params = owned(envelope.params);
            Some(match serde_json::from_str::<UpdateParams>(params.get()) {
                Ok(UpdateParams { session_id, update }) if method == "session/update" => {
                    Incoming::Update { session: session_id, update }
                }
                _ => Incoming::Notification { method: method.into_owned(), params },
            })
        }
        (None, Some(id)) => {
            let outcome = match envelope.error {
                Some(error) => Err(RpcError::read(error)),
                None => Ok(owned(envelope.result)),
            };
            Some(Incoming::Response { id: as_text(id), outcome })
        }
        (None, None) => None,
    }
}

fn nothing() -> Box<RawValue> {
    RawValue::NULL.to_owned()
}

/// An id may come back as a number or as a string.
fn as_text(id: &RawValue) -> String {
    id.get().trim_matches('"').to_owned()
}

/// The readable part of a truncated message.
pub(super) struct Head {
    id: Option<Box<RawValue>>,
    method: Option<String>,
}

/// Reads the fields before the long one: agents write `jsonrpc`, `id` and `method` first.
pub(super) fn head(beginning: &str) -> Head {
    let mut head = Head { id: None, method: None };
    let mut rest = beginning.trim_start().strip_prefix('{').unwrap_or_default();
    while let Some((name, after)) = rest.trim_start().strip_prefix('"').and_then(|rest| rest.split_once('"')) {
        let Some(value) = after.trim_start().strip_prefix(':') else { break };
        let mut values = serde_json::Deserializer::from_str(value).into_iter::<Box<RawValue>>();
        let Some(Ok(raw)) = values.next() else { break };
        rest = value[values.byte_offset()..].trim_start().strip_prefix(',').unwrap_or_default();
        match name {
            "id" => head.id = Some(raw),
            "method" => head.method = serde_json::from_str(raw.get()).ok(),
            _ => {}
        }
    }
    // A method after the long field is not seen; a message with parameters is not a response.
    if rest.contains("\"params\"") {
        head.method.get_or_insert_default();
    }
    head
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_apart_and_rubbish_is_no_message() {
        assert!(
            matches!(understand(r#"{"id":"a","result":null}"#), Some(Incoming::Response { id, outcome: Ok(_) }) if id == "a")
        );
        assert!(
            matches!(understand(r#"{"id":0,"method":"m"}"#), Some(Incoming::Request { id, .. }) if id.get() == "0")
        );
        assert!(matches!(
            understand(r#"{"method":"session/update","params":{"sessionId":7}}"#),
            Some(Incoming::Notification { .. })
        ));
        for invalid_line in ["Welcome!", "{}", "[1]", "7", "{\"id\":1"] {
            assert!(understand(invalid_line).is_none(), "{invalid_line}");
        }
    }

    #[test]
    fn a_refusal_says_why_also_where_agents_hide_it() {
        let read = |json: &str| {
            let Some(Incoming::Response { outcome: Err(error), .. }) = understand(json) else { panic!("{json}") };
            error.to_string()
        };
        assert_eq!(
            read(r#"{"id":1,"error":{"code":-32603,"message":"Internal error","data":{"details":"no key"}}}"#),
            "Internal error: no key (-32603)"
        );
        assert_eq!(read(r#"{"id":1,"error":"what"}"#), "no reason given (0)");
    }

    #[test]
    fn the_head_of_a_cut_message_says_what_it_was() {
        let seen = |text: &str| {
            let head = head(text);
            (head.id.map(|id| id.get().to_owned()), head.method)
        };
        assert_eq!(seen(r#"{"jsonrpc":"2.0","id":5,"result":{"text":"xxx"#), (Some("5".to_owned()), None));
        let request = r#"{"jsonrpc":"2.0","id":"a","method":"session/request_permission","params":{"x":"yy"#;
        assert_eq!(seen(request), (Some("\"a\"".to_owned()), Some("session/request_permission".to_owned())));
        assert_eq!(seen(r#"{"id":1,"params":{"x":"yy"#).1, Some(String::new()), "no answer has parameters");
        assert_eq!(seen("xxxxx"), (None, None));
    }

    #[test]
    fn what_is_no_message_is_shown_without_control_characters() {
        let stream = Stream::default();
        note_invalid_line("\x1b]0;title\x07hello\r", 1, &stream);
        assert_eq!(stream.invalid_line().as_deref(), Some("\\u{1b}]0;title\\u{7}hello\\r"));
    }

    #[tokio::test]
    async fn a_program_that_does_not_read_is_noticed_and_nobody_waits_for_it() {
        let (ours, theirs) = tokio::io::duplex(16);
        let (output, input) = tokio::io::split(ours);
        let wire = Wire::new(output, input);
        let said = (0..OUTGOING * 2).take_while(|_| wire.sender.notify("n", &json!({})).is_ok()).count();
        assert!(said < OUTGOING * 2, "{said}");
        drop(theirs);
        wire.close_and_wait().await;
    }
}
