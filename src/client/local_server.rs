//! The server on this machine, and requests to it.

use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper::{Method, Request, StatusCode, header};
use hyper_util::rt::TokioIo;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::net::TcpStream;

use super::error::ClientError;
use super::event_stream::EventStream;
use crate::store::{DataFolder, ServerNote};

/// The server may have to start agents to respond.
const TIMEOUT: Duration = Duration::from_mins(5);

type Problem = Box<dyn std::error::Error + Send + Sync>;

/// A server on this machine.
#[derive(Clone)]
pub struct LocalServer {
    url: String,
    token: Option<String>,
    /// `None` to wait for a response for as long as it takes.
    timeout: Option<Duration>,
}

/// What a request carries.
struct Call<'a> {
    method: Method,
    path: &'a str,
    body: Option<&'a Value>,
    idempotency_key: Option<&'a str>,
}

impl LocalServer {
    /// The server at an address such as `http://localhost:8888`, without a token.
    pub fn at(url: &str) -> Self {
        Self { url: url.to_owned(), token: None, timeout: Some(TIMEOUT) }
    }

    /// The server that runs with a data folder, with its token; `None` if none does.
    pub fn of_folder(folder: &Path) -> Option<Self> {
        Some(Self::noted(folder, &ServerNote::of_running_server(folder)?))
    }

    /// The server that a data folder names, with its token.
    pub fn noted(folder: &Path, note: &ServerNote) -> Self {
        let token = std::fs::read_to_string(folder.join(DataFolder::TOKEN)).ok();
        Self { token: token.map(|text| text.trim().to_owned()), ..Self::at(&note.url) }
    }

    /// The same server with another timeout for responses.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout: Some(timeout), ..self }
    }

    /// The same server, waiting for responses for as long as they take.
    #[must_use]
    pub fn without_timeout(self) -> Self {
        Self { timeout: None, ..self }
    }

    /// The server's address.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Sends a GET request.
    pub async fn get(&self, path: &str) -> Result<Value, ClientError> {
        self.send(Method::GET, path, None).await
    }

    /// Sends a GET request whose answer has a known form.
    pub async fn get_as<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        self.understood(path, self.get(path).await?)
    }

    /// Sends a GET request whose answer is text.
    pub async fn get_text(&self, path: &str) -> Result<Bytes, ClientError> {
        self.answer(Call { method: Method::GET, path, body: None, idempotency_key: None }).await
    }

    /// Sends a POST request.
    pub async fn post(&self, path: &str) -> Result<Value, ClientError> {
        self.send(Method::POST, path, None).await
    }

    /// Sends a POST request with a body.
    pub async fn post_json(&self, path: &str, body: &Value) -> Result<Value, ClientError> {
        self.send(Method::POST, path, Some(body)).await
    }

    /// Sends a POST request that may be repeated: the server carries out requests with the same key once.
    pub async fn post_once(&self, path: &str, body: &Value, key: &str) -> Result<Value, ClientError> {
        let call = Call { method: Method::POST, path, body: Some(body), idempotency_key: Some(key) };
        self.json(call).await
    }

    /// Sends a PATCH request.
    pub async fn patch_json(&self, path: &str, body: &Value) -> Result<Value, ClientError> {
        self.send(Method::PATCH, path, Some(body)).await
    }

    /// Sends a DELETE request.
    pub async fn delete(&self, path: &str) -> Result<Value, ClientError> {
        self.send(Method::DELETE, path, None).await
    }

    async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, ClientError> {
        self.json(Call { method, path, body, idempotency_key: None }).await
    }

    async fn json(&self, call: Call<'_>) -> Result<Value, ClientError> {
        let body = self.answer(call).await?;
        if body.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&body)
            .map_err(|error| ClientError::Unreachable { url: self.url.clone(), source: error.into() })
    }

    async fn answer(&self, call: Call<'_>) -> Result<Bytes, ClientError> {
        match self.in_time(self.exchange(call)).await? {
            (status, body) if status.is_success() => Ok(body),
            (status, body) => Err(self.refused(status, &body)),
        }
    }

    /// Waits for something from the server, no longer than the timeout.
    async fn in_time<T, E: Into<Problem>>(&self, work: impl Future<Output = Result<T, E>>) -> Result<T, ClientError> {
        let done = match self.timeout {
            None => work.await.map_err(Into::into),
            Some(timeout) => match tokio::time::timeout(timeout, work).await {
                Ok(done) => done.map_err(Into::into),
                Err(_) => Err(format!("no response within {} seconds", timeout.as_secs()).into()),
            },
        };
        done.map_err(|source| ClientError::Unreachable { url: self.url.clone(), source })
    }

    pub(super) fn understood<T: DeserializeOwned>(&self, path: &str, answer: Value) -> Result<T, ClientError> {
        serde_json::from_value(answer).map_err(|source| ClientError::Unexpected {
            url: self.url.clone(),
            path: path.to_owned(),
            source,
        })
    }

    /// Opens a stream of events. `None` if there is nothing to read and there will not be.
    pub async fn events(&self, path: &str) -> Result<Option<EventStream>, ClientError> {
        let mut stream = self.in_time(self.open(path)).await?;
        match stream.status() {
            StatusCode::NO_CONTENT => Ok(None),
            status if status.is_success() => Ok(Some(stream)),
            status => {
                let body = self.in_time(stream.rest()).await?;
                Err(self.refused(status, &body))
            }
        }
    }

    async fn open(&self, path: &str) -> Result<EventStream, Problem> {
        let stream = TcpStream::connect(self.authority()).await?;
        let (mut sender, mut connection) = http1::handshake(TokioIo::new(stream)).await?;
        let request = self.request(&Call { method: Method::GET, path, body: None, idempotency_key: None })?;
        let response = {
            let answered = sender.send_request(request);
            tokio::pin!(answered);
            tokio::select! {
                answered = &mut answered => answered?,
                driven = &mut connection => {
                    driven?;
                    answered.await?
                }
            }
        };
        Ok(EventStream::new(sender, connection, response))
    }

    fn refused(&self, status: StatusCode, body: &[u8]) -> ClientError {
        let error: Value = serde_json::from_slice(body).unwrap_or_default();
        let message = error["message"].as_str();
        ClientError::Refused {
            url: self.url.clone(),
            status,
            name: error["error"].as_str().unwrap_or_default().to_owned(),
            // The sentence for people; the whole body if it is something else.
            message: message.map_or_else(|| String::from_utf8_lossy(body).into_owned(), str::to_owned),
        }
    }

    fn authority(&self) -> &str {
        self.url.trim_start_matches("http://").trim_end_matches('/')
    }

    fn request(&self, call: &Call<'_>) -> Result<Request<Full<Bytes>>, Problem> {
        let mut request = Request::builder().method(&call.method).uri(call.path).header(header::HOST, self.authority());
        if let Some(token) = &self.token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        if let Some(key) = call.idempotency_key {
            request = request.header("idempotency-key", key);
        }
        let body = Full::<Bytes>::from(call.body.map(Value::to_string).unwrap_or_default());
        Ok(request.header(header::CONTENT_TYPE, "application/json").body(body)?)
    }

    async fn exchange(&self, call: Call<'_>) -> Result<(StatusCode, Bytes), Problem> {
        let stream = TcpStream::connect(self.authority()).await?;
        stream.set_nodelay(true)?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        let request = self.request(&call)?;
        let conversation = async move {
            let response = sender.send_request(request).await?;
            let status = response.status();
            Ok::<_, hyper::Error>((status, response.into_body().collect().await?.to_bytes()))
        };
        let (driven, answered) = futures_util::future::join(connection, conversation).await;
        match answered {
            Ok(answer) => Ok(answer),
            Err(error) => Err(driven.err().unwrap_or(error).into()),
        }
    }
}
