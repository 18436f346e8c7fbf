//! A real HTTP server that notifications are sent to.

use std::collections::VecDeque;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// What it does with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    Answers(u16),
    /// Takes the request and never answers.
    Hangs,
}

/// A request that it got.
#[derive(Debug)]
pub struct Received {
    pub path: String,
    pub headers: HeaderMap,
    pub body: Value,
    pub raw: Vec<u8>,
    pub reaction: Reaction,
}

impl Received {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().expect("text"))
    }
}

/// Answers every request with 200, unless told otherwise.
pub struct Receiver {
    pub url: String,
    port: u16,
    shared: Arc<Shared>,
    requests: mpsc::UnboundedReceiver<Received>,
    serving: JoinHandle<()>,
}

struct Shared {
    script: Mutex<VecDeque<Reaction>>,
    usual: Mutex<Reaction>,
    requests: mpsc::UnboundedSender<Received>,
}

impl Receiver {
    pub async fn start() -> Self {
        let (sender, requests) = mpsc::unbounded_channel();
        let usual = Mutex::new(Reaction::Answers(200));
        let shared = Arc::new(Shared { script: Mutex::default(), usual, requests: sender });
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
        let port = listener.local_addr().expect("an address").port();
        let router = Router::new().fallback(receive).with_state(Arc::clone(&shared));
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.expect("serving") });
        Self { url: format!("http://127.0.0.1:{port}"), port, shared, requests, serving }
    }

    /// What it does with the next requests, before it returns to its usual answer.
    pub fn next(&self, reactions: &[Reaction]) {
        self.shared.script.lock().extend(reactions);
    }

    /// What it does with all other requests.
    pub fn usually(&self, reaction: Reaction) {
        *self.shared.usual.lock() = reaction;
    }

    /// The next request.
    pub async fn request(&mut self) -> Received {
        self.requests.recv().await.expect("it listens")
    }

    /// The next request that it accepts; others are skipped.
    pub async fn accepted(&mut self) -> Received {
        loop {
            let request = self.request().await;
            if request.reaction == Reaction::Answers(200) {
                return request;
            }
        }
    }

    /// Requests that arrived and were not looked at.
    pub fn left(&mut self) -> Vec<Received> {
        std::iter::from_fn(|| self.requests.try_recv().ok()).collect()
    }

    /// Stops listening. Returns the port, which now refuses connections.
    pub async fn stop(self) -> u16 {
        self.serving.abort();
        let _ = self.serving.await;
        self.port
    }
}

async fn receive(State(shared): State<Arc<Shared>>, uri: Uri, headers: HeaderMap, body: Bytes) -> StatusCode {
    let reaction = shared.script.lock().pop_front().unwrap_or(*shared.usual.lock());
    let (path, raw) = (uri.path().to_owned(), body.to_vec());
    let body = serde_json::from_slice(&raw).expect("JSON");
    let _ = shared.requests.send(Received { path, headers, body, raw, reaction });
    match reaction {
        Reaction::Answers(status) => StatusCode::from_u16(status).expect("a status"),
        Reaction::Hangs => std::future::pending().await,
    }
}
