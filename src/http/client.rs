//! A client for the server on this machine, for commands such as `stop` and `open`.

use std::time::Duration;

use axum::http::{Method, Request, StatusCode, header};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

use super::auth::ServerToken;
use super::event_stream::EventStream;

const TIMEOUT: Duration = Duration::from_secs(10);

type Problem = Box<dyn std::error::Error + Send + Sync>;

/// A server on this machine.
pub struct LocalServer {
    url: String,
    token: Option<ServerToken>,
    timeout: Duration,
}

/// A request to the server failed.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// There was no response.
    #[error("no response from the server at {url}")]
    Unreachable {
        /// Where.
        url: String,
        /// Why not.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The server returned an error.
    #[error("the server at {url} returned {status}: {message}")]
    Refused {
        /// Where.
        url: String,
        /// The status.
        status: StatusCode,
        /// The name of the error in the API, such as `JobNotFound`; empty if the answer was something else.
        name: String,
        /// The message.
        message: String,
    },
}

impl LocalServer {
    /// The server at an address such as `http://localhost:8888`.
    pub fn at(url: &str, token: Option<ServerToken>) -> Self {
        Self { url: url.to_owned(), token, timeout: TIMEOUT }
    }

    /// The same server with another timeout for responses.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// The server's address.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Sends a GET request.
    pub async fn get(&self, path: &str) -> Result<Value, ClientError> {
        self.send(Method::GET, path, None).await
    }

    /// Sends a POST request.
    pub async fn post(&self, path: &str) -> Result<Value, ClientError> {
        self.send(Method::POST, path, None).await
    }

    /// Sends a POST request with a body.
    pub async fn post_json(&self, path: &str, body: &Value) -> Result<Value, ClientError> {
        self.send(Method::POST, path, Some(body)).await
    }

    /// Sends a PATCH request with a body.
    pub async fn patch_json(&self, path: &str, body: &Value) -> Result<Value, ClientError> {
        self.send(Method::PATCH, path, Some(body)).await
    }

    /// Sends a DELETE request.
    pub async fn delete(&self, path: &str) -> Result<Value, ClientError> {
        self.send(Method::DELETE, path, None).await
    }

    async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, ClientError> {
        let unreachable = |source| ClientError::Unreachable { url: self.url.clone(), source };
        match tokio::time::timeout(self.timeout, self.exchange(method, path, body)).await {
            Ok(Ok((status, body))) if status.is_success() => {
                serde_json::from_slice(&body).map_err(|error| unreachable(error.into()))
            }
            Ok(Ok((status, body))) => Err(self.refused(status, &body)),
            Ok(Err(error)) => Err(unreachable(error)),
            Err(_) => Err(unreachable(format!("no response within {} seconds", self.timeout.as_secs()).into())),
        }
    }

    /// Opens a stream of events. `None` if there is nothing to read and there will not be.
    pub async fn events(&self, path: &str) -> Result<Option<EventStream>, ClientError> {
        let unreachable = |source| ClientError::Unreachable { url: self.url.clone(), source };
        let late = || unreachable(format!("no response within {} seconds", self.timeout.as_secs()).into());
        let opened = tokio::time::timeout(self.timeout, self.open(path)).await.map_err(|_| late())?;
        let mut stream = opened.map_err(unreachable)?;
        match stream.status() {
            StatusCode::NO_CONTENT => Ok(None),
            status if status.is_success() => Ok(Some(stream)),
            status => {
                let body = tokio::time::timeout(self.timeout, stream.rest()).await.map_err(|_| late())?;
                Err(self.refused(status, &body.map_err(|error| unreachable(error.into()))?))
            }
        }
    }

    async fn open(&self, path: &str) -> Result<EventStream, Problem> {
        let stream = TcpStream::connect(self.authority()).await?;
        let (mut sender, mut connection) = http1::handshake(TokioIo::new(stream)).await?;
        let request = self.request(Method::GET, path, None)?;
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

    fn request(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Request<Full<Bytes>>, Problem> {
        let mut request = Request::builder().method(method).uri(path).header(header::HOST, self.authority());
        if let Some(token) = &self.token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {}", token.as_str()));
        }
        let body = Full::<Bytes>::from(body.map(Value::to_string).unwrap_or_default());
        Ok(request.header(header::CONTENT_TYPE, "application/json").body(body)?)
    }

    async fn exchange(&self, method: Method, path: &str, body: Option<&Value>) -> Result<(StatusCode, Bytes), Problem> {
        let stream = TcpStream::connect(self.authority()).await?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        let request = self.request(method, path, body)?;
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

impl ClientError {
    /// The name of the error in the API, such as `JobNotFound`; empty if the server did not answer with one.
    pub fn name(&self) -> &str {
        match self {
            Self::Refused { name, .. } => name,
            Self::Unreachable { .. } => "",
        }
    }

    /// Whether the request cannot succeed as it is, unlike one that met a server which is starting, stopping or gone.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Refused { status, .. } if status.is_client_error())
    }
}
