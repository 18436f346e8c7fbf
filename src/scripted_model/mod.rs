//! A model endpoint with scripted answers, for tests with real agents, the permission canary and the conformance checks.
//!
//! The last `@@name argument` in a user message chooses the scenario; how many answers were given since then is its step.
//! For prompts without such a mark, such as those of the jobs that come with Flightdeck, a test says what they mean
//! ([`ScriptedModel::on`]).
//! It serves chat completions, responses and Anthropic's messages, with and without streaming.
//!
//! What must always hold here: it listens on loopback only, contacts no other service, and keeps a bounded number of
//! requests.

mod chat;
mod messages;
mod request_log;
mod responses;
mod scenario;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use futures_util::StreamExt as _;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub use request_log::ModelCall;
use request_log::RequestLog;
use scenario::{Cue, Item, plan};

/// A running scripted model. It stops when it is dropped.
pub struct ScriptedModel {
    address: SocketAddr,
    requests: Arc<RequestLog>,
    billed: Arc<AtomicU64>,
    cues: Arc<Mutex<Vec<Cue>>>,
    task: JoinHandle<()>,
}

#[derive(Clone, Default)]
struct Shared {
    requests: Arc<RequestLog>,
    /// What a call is billed, in billionths of a credit; 0 if it does not say.
    billed: Arc<AtomicU64>,
    cues: Arc<Mutex<Vec<Cue>>>,
}

impl ScriptedModel {
    /// Starts on a free port of this machine.
    pub async fn start() -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let shared = Shared::default();
        let (requests, billed) = (Arc::clone(&shared.requests), Arc::clone(&shared.billed));
        let cues = Arc::clone(&shared.cues);
        let router = Router::new()
            .route("/v1/chat/completions", post(chat_completions))
            .route("/v1/responses", post(responses_api))
            // Azure's, without an API version and with one.
            .route("/openai/v1/chat/completions", post(chat_completions))
            .route("/openai/deployments/{model}/chat/completions", post(chat_completions))
            .route("/openai/responses", post(responses_api))
            // An endpoint that accepts no key.
            .route("/v1/locked/models", get(async || refuse(401)))
            .route("/v1/messages", post(messages_api))
            .with_state(shared);
        let task = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, router).await {
                tracing::error!(%error, "the scripted model ended");
            }
        });
        Ok(Self { address, requests, billed, cues, task })
    }

    /// The base URL for an agent's configuration.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The same, for agents that add the version themselves.
    pub fn root_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// From now on, every streamed chat completion says that it was billed that many billionths of a credit.
    pub fn bill_each_call(&self, nano_credits: u64) {
        self.billed.store(nano_credits, Ordering::Relaxed);
    }

    /// From now on, a message of the user with this text plays a scenario, such as `@@say hello`. If a message has several
    /// such texts, the one that was added last counts.
    pub fn on(&self, text: &str, scenario: &str) {
        self.cues.lock().push(Cue { text: text.to_owned(), scenario: scenario.to_owned() });
    }

    /// The bodies of the last requests, oldest first.
    pub fn requests(&self) -> Vec<Value> {
        self.requests.all().into_iter().map(|call| call.body).collect()
    }

    /// The last requests in whose conversation the user wrote a text, oldest first. Chat completions only.
    pub fn calls_with(&self, text: &str) -> Vec<ModelCall> {
        let is_users = |message: &&Value| message["role"] == "user";
        let has = |message: &Value| message["content"].as_str().is_some_and(|content| content.contains(text));
        self.requests.matching(|call| call.body["messages"].as_array().into_iter().flatten().filter(is_users).any(has))
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn chat_completions(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    answer(&shared, &headers, &body, chat::respond)
}

async fn responses_api(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    answer(&shared, &headers, &body, responses::respond)
}

async fn messages_api(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    answer(&shared, &headers, &body, messages::respond)
}

fn answer(shared: &Shared, headers: &HeaderMap, body: &[u8], respond: fn(&Value, Vec<Item>) -> Response) -> Response {
    let request: Value = serde_json::from_slice(body).unwrap_or_default();
    let initiator = headers.get("x-initiator").and_then(|value| value.to_str().ok()).map(str::to_owned);
    let call = ModelCall { body: request.clone(), initiator, ..ModelCall::default() };
    let was_cut_off = Arc::clone(&call.was_cut_off);
    let number = shared.requests.add(call, body.len());
    let mut items = plan(&request, number, &shared.cues.lock());
    let billed = shared.billed.load(Ordering::Relaxed);
    if billed > 0 {
        items.push(Item::Billed(billed));
    }
    match items.iter().find_map(|item| if let Item::Error(status) = item { Some(*status) } else { None }) {
        Some(status) => refuse(status),
        None => respond(&request, items).map(|body| watched(body, was_cut_off)),
    }
}

/// The same body, which notes if the agent does not read it to its end.
fn watched(body: Body, was_cut_off: Arc<AtomicBool>) -> Body {
    let guard = CutOff { was_cut_off, is_complete: false };
    let state = (body.into_data_stream(), guard);
    Body::from_stream(futures_util::stream::unfold(state, |(mut stream, mut guard)| async move {
        let next = stream.next().await;
        guard.is_complete = next.is_none();
        Some((next?, (stream, guard)))
    }))
}

struct CutOff {
    was_cut_off: Arc<AtomicBool>,
    is_complete: bool,
}

impl Drop for CutOff {
    fn drop(&mut self) {
        if !self.is_complete {
            self.was_cut_off.store(true, Ordering::Relaxed);
        }
    }
}

fn refuse(status: u16) -> Response {
    let (message, kind, code) = match status {
        429 => ("Rate limit reached (scripted)", "rate_limit_error", "rate_limit_exceeded"),
        401 => ("Bad key (scripted)", "invalid_request_error", "invalid_api_key"),
        400 => ("Bad request (scripted)", "invalid_request_error", "bad"),
        _ => ("Internal error (scripted)", "server_error", "internal"),
    };
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let body = axum::Json(json!({ "type": "error", "error": { "message": message, "type": kind, "code": code } }));
    (status, [(header::RETRY_AFTER, "1")], body).into_response()
}
