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

const TIMEOUT: Duration = Duration::from_secs(10);

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
            Ok(Ok((status, body))) => {
                Err(ClientError::Refused { url: self.url.clone(), status, message: error_message(&body) })
            }
            Ok(Err(error)) => Err(unreachable(error)),
            Err(_) => Err(unreachable(format!("no response within {} seconds", self.timeout.as_secs()).into())),
        }
    }

    async fn exchange(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<(StatusCode, Bytes), Box<dyn std::error::Error + Send + Sync>> {
        let authority = self.url.trim_start_matches("http://").trim_end_matches('/');
        let stream = TcpStream::connect(authority).await?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        let mut request = Request::builder().method(method).uri(path).header(header::HOST, authority);
        if let Some(token) = &self.token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {}", token.as_str()));
        }
        let request = request
            .header(header::CONTENT_TYPE, "application/json")
            .body(Full::<Bytes>::from(body.map(Value::to_string).unwrap_or_default()))?;
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

/// The sentence for people in an error of the API; the whole body if it is something else.
fn error_message(body: &[u8]) -> String {
    let error: Option<Value> = serde_json::from_slice(body).ok();
    let message = error.as_ref().and_then(|error| error["message"].as_str());
    message.map_or_else(|| String::from_utf8_lossy(body).into_owned(), str::to_owned)
}
