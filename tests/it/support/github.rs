//! A GitHub of a test's own: device login and model catalogue, as far as Copilot asks for them.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{get, post};
use axum::{Json, Router};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// What the person with the code has done so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Person {
    Thinks,
    Agrees,
    /// The code is no longer good when they come.
    IsTooLate,
}

#[derive(Clone)]
struct Shared {
    url: String,
    person: Arc<Mutex<Person>>,
    /// The `Authorization` of each question for models.
    asked_for_models: Arc<Mutex<Vec<String>>>,
}

pub struct FakeGitHub {
    shared: Shared,
    task: JoinHandle<()>,
}

impl FakeGitHub {
    pub const CODE: &str = "ABCD-1234";

    pub async fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let shared = Shared { url, person: Arc::new(Mutex::new(Person::Thinks)), asked_for_models: Arc::default() };
        let router = Router::new()
            .route("/login/device/code", post(code))
            .route("/login/oauth/access_token", post(token))
            .route("/models", get(models))
            .fallback(|| async { Json(json!({ "login": "octo", "id": 1 })) })
            .with_state(shared.clone());
        let task = tokio::spawn(async move { axum::serve(listener, router).await.expect("served") });
        Self { shared, task }
    }

    pub fn url(&self) -> &str {
        &self.shared.url
    }

    pub fn person(&self, does: Person) {
        *self.shared.person.lock() = does;
    }

    pub fn asked_for_models(&self) -> Vec<String> {
        self.shared.asked_for_models.lock().clone()
    }
}

impl Drop for FakeGitHub {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn code(State(shared): State<Shared>) -> Json<Value> {
    Json(json!({
        "device_code": "device", "user_code": FakeGitHub::CODE, "verification_uri": format!("{}/login/device", shared.url),
        "expires_in": if *shared.person.lock() == Person::IsTooLate { 1 } else { 600 }, "interval": 1,
    }))
}

async fn token(State(shared): State<Shared>) -> Json<Value> {
    Json(match *shared.person.lock() {
        Person::Thinks => json!({ "error": "authorization_pending" }),
        Person::Agrees => json!({ "access_token": "gho_notAToken", "token_type": "bearer", "scope": "read:user" }),
        Person::IsTooLate => json!({ "error": "expired_token" }),
    })
}

async fn models(State(shared): State<Shared>, headers: HeaderMap) -> (StatusCode, Json<Value>) {
    let who = headers.get("authorization").and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    shared.asked_for_models.lock().push(who);
    let models = json!({ "data": [
        { "id": "catalogue-model", "name": "Of the catalogue", "capabilities": { "type": "chat" }, "billing": { "multiplier": 0.33 } },
        { "id": "embedding", "capabilities": { "type": "embeddings" } },
    ] });
    (StatusCode::OK, Json(models))
}
