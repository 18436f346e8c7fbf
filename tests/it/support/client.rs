//! A plain HTTP client: one connection per request, any header, any body, streams that can be left half read.

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

/// Where requests go and what goes with them.
#[derive(Clone, Debug)]
pub struct Http {
    authority: String,
    headers: Vec<(String, String)>,
}

/// An answer, read to its end.
#[derive(Debug)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: hyper::HeaderMap,
    pub body: Bytes,
}

impl Reply {
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("UTF-8")
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {:?}", self.body))
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().expect("ASCII"))
    }

    /// The name of the error, after checking the status and that a person is told something.
    pub fn error(&self, status: u16) -> String {
        let json = self.json();
        assert_eq!(self.status.as_u16(), status, "{json}");
        assert!(json["message"].as_str().is_some_and(|message| message.len() > 10), "{json}");
        json["error"].as_str().expect("a name").to_owned()
    }
}

impl Http {
    pub fn new(url: &str) -> Self {
        Self { authority: url.trim_start_matches("http://").trim_end_matches('/').to_owned(), headers: Vec::new() }
    }

    /// The same client with one more header. `host` replaces the usual one.
    pub fn header(&self, name: &str, value: &str) -> Self {
        let mut other = self.clone();
        other.headers.push((name.to_owned(), value.to_owned()));
        other
    }

    pub async fn get(&self, path: &str) -> Reply {
        self.send(Method::GET, path, "").await
    }

    pub async fn post(&self, path: &str, body: impl Into<Bytes>) -> Reply {
        self.send(Method::POST, path, body).await
    }

    pub async fn post_json(&self, path: &str, body: &Value) -> Reply {
        self.header("content-type", "application/json").send(Method::POST, path, body.to_string()).await
    }

    pub async fn patch_json(&self, path: &str, body: &Value) -> Reply {
        self.header("content-type", "application/json").send(Method::PATCH, path, body.to_string()).await
    }

    pub async fn delete(&self, path: &str) -> Reply {
        self.send(Method::DELETE, path, "").await
    }

    pub async fn send(&self, method: Method, path: &str, body: impl Into<Bytes>) -> Reply {
        let response = self.open(method, path, body.into()).await;
        let (parts, body) = response.into_parts();
        let body = body.collect().await.expect("a whole body").to_bytes();
        Reply { status: parts.status, headers: parts.headers, body }
    }

    /// Asks a server that may go away at any moment. Returns whether it answered, whatever it said.
    pub async fn is_answered(&self, path: &str) -> bool {
        self.try_send(Method::GET, path, "").await.is_some()
    }

    /// As [`Self::send`], to a server that may go away at any moment.
    pub async fn try_send(&self, method: Method, path: &str, body: impl Into<Bytes>) -> Option<Reply> {
        let response = self.try_open(method, path, body.into()).await?;
        let (parts, body) = response.into_parts();
        let body = body.collect().await.ok()?.to_bytes();
        Some(Reply { status: parts.status, headers: parts.headers, body })
    }

    /// Begins to read a stream of events.
    pub async fn events(&self, path: &str) -> EventStream {
        let response = self.open(Method::GET, path, Bytes::new()).await;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        EventStream { body: response.into_body(), buffer: BytesMut::new(), searched: 0 }
    }

    async fn open(&self, method: Method, path: &str, body: Bytes) -> Response<Incoming> {
        self.try_open(method, path, body).await.expect("an answer")
    }

    async fn try_open(&self, method: Method, path: &str, body: Bytes) -> Option<Response<Incoming>> {
        let stream = TcpStream::connect(&self.authority).await.ok()?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.ok()?;
        tokio::spawn(connection);
        let mut request = Request::builder().method(method).uri(path);
        if !self.headers.iter().any(|(name, _)| name == "host") {
            request = request.header("host", &self.authority);
        }
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let request = request.body(Full::new(body)).expect("a valid request");
        sender.send_request(request).await.ok()
    }
}

/// A stream of events. Dropping it hangs up.
pub struct EventStream {
    body: Incoming,
    buffer: BytesMut,
    /// No event ends before this: a long one arrives in many pieces.
    searched: usize,
}

/// One event of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SseEvent {
    pub id: Option<u64>,
    pub event: Option<String>,
    pub data: String,
}

impl SseEvent {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.data).expect("JSON")
    }

    pub fn callback(&self) -> String {
        self.json()["callback"].as_str().unwrap_or("sessionError").to_owned()
    }
}

impl EventStream {
    /// The next event; `None` at the end. Comments are skipped.
    pub async fn next(&mut self) -> Option<SseEvent> {
        loop {
            if let Some(end) = self.buffer[self.searched..].windows(2).position(|pair| pair == b"\n\n") {
                let frame = self.buffer.split_to(self.searched + end + 2);
                self.searched = 0;
                let text = std::str::from_utf8(&frame).expect("UTF-8");
                let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim_start);
                let Some(data) = field("data:") else { continue };
                return Some(SseEvent {
                    id: field("id:").map(|id| id.parse().expect("a number")),
                    event: field("event:").map(str::to_owned),
                    data: data.to_owned(),
                });
            }
            self.searched = self.buffer.len().saturating_sub(1);
            match self.body.frame().await {
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.buffer.extend_from_slice(&data);
                    }
                }
                Some(Err(_)) | None => return None,
            }
        }
    }

    /// The next comment; events before it are skipped.
    pub async fn next_comment(&mut self) -> String {
        loop {
            let text = String::from_utf8(self.buffer.to_vec()).expect("UTF-8");
            if let Some(comment) = text.lines().find(|line| line.starts_with(':')) {
                return comment.to_owned();
            }
            let frame = self.body.frame().await.expect("more").expect("readable");
            self.buffer.extend_from_slice(&frame.into_data().unwrap_or_default());
        }
    }

    /// Reads until an event satisfies the condition, which is the last one given.
    pub async fn until(&mut self, mut wanted: impl FnMut(&SseEvent) -> bool) -> Vec<SseEvent> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            let found = wanted(&event);
            events.push(event);
            if found {
                return events;
            }
        }
        panic!("the stream ended before that: {events:#?}");
    }

    /// The data of the next event without a name: in the inbox, a session or a job.
    pub async fn next_entry(&mut self) -> Value {
        self.until(|event| event.event.is_none()).await.last().expect("one").json()
    }

    /// Reads until a callback of that name.
    pub async fn until_callback(&mut self, name: &str) -> Vec<SseEvent> {
        self.until(|event| event.callback() == name).await
    }
}
