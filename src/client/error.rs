//! Why a request to the server failed.

use hyper::StatusCode;

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
    /// The server answered with something that this version does not understand.
    #[error(
        "the server at {url} gave an answer to {path} that this version of flightdeck cannot read; are both the same version?"
    )]
    Unexpected {
        /// Where.
        url: String,
        /// What was asked.
        path: String,
        /// What is wrong with the answer.
        #[source]
        source: serde_json::Error,
    },
}

impl ClientError {
    /// The name of the error in the API, such as `JobNotFound`; empty if the server did not answer with one.
    pub fn name(&self) -> &str {
        match self {
            Self::Refused { name, .. } => name,
            Self::Unreachable { .. } | Self::Unexpected { .. } => "",
        }
    }

    /// Whether the request cannot succeed as it is, unlike one that met a server which is starting, stopping or gone.
    pub fn is_final(&self) -> bool {
        match self {
            Self::Refused { status, .. } => status.is_client_error(),
            Self::Unexpected { .. } => true,
            Self::Unreachable { .. } => false,
        }
    }
}
