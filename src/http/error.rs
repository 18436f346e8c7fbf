//! Errors as clients see them: `{"error":"Name","message":"for a person"}`.

use std::io;
use std::path::Path;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;

use crate::agent::ModelNotFound;
use crate::capture::{CaptureError, ErrorKind};
use crate::folder::FolderError;
use crate::jobs::JobError;
use crate::model::{Scope, redact};
use crate::review::ReviewError;
use crate::session::{
    AdoptError, AnswerError, CreateError, ForkError, LiveError, PromptError, SessionError, WorkingDirectoryError,
};
use crate::store::StoreError;

/// An error with a status, a name for programs and a sentence for people.
#[derive(Debug)]
pub(super) struct ApiError {
    pub status: StatusCode,
    pub name: &'static str,
    pub message: String,
}

pub(super) type ApiResult<T> = Result<T, ApiError>;

impl ApiError {
    pub fn new(status: StatusCode, name: &'static str, message: impl Into<String>) -> Self {
        Self { status, name, message: message.into() }
    }

    pub fn bad_request(name: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, name, message)
    }

    /// The token is valid, but not for this.
    pub fn scope_missing(scope: Scope) -> Self {
        let message = format!(
            "This token lacks the scope {scope}; create one that has it with `flightdeck tokens create --scope {scope}`, or use \
             the server's own token, which is the content of the file `token` in the data folder."
        );
        Self::new(StatusCode::FORBIDDEN, "ScopeMissing", message)
    }

    pub fn session_not_found() -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            "SessionNotFound",
            "Session not found; GET /api/copilot/session lists all sessions.",
        )
    }
}

/// An error as it is sent.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Error")]
pub(super) struct ErrorReply {
    /// For programs.
    error: &'static str,
    /// For people: what failed, why, and what to do.
    message: String,
}

/// For routes under `/v1/`, whose dialects have their own shapes of errors.
impl From<ApiError> for CaptureError {
    fn from(error: ApiError) -> Self {
        let kind = match error.status {
            StatusCode::UNAUTHORIZED => ErrorKind::Unauthorised,
            StatusCode::FORBIDDEN => ErrorKind::Forbidden,
            StatusCode::NOT_FOUND => ErrorKind::NotFound,
            StatusCode::PAYLOAD_TOO_LARGE => ErrorKind::TooLarge,
            StatusCode::TOO_MANY_REQUESTS => ErrorKind::Limited,
            StatusCode::SERVICE_UNAVAILABLE => ErrorKind::Unavailable,
            StatusCode::REQUEST_TIMEOUT | StatusCode::GATEWAY_TIMEOUT => ErrorKind::TimedOut,
            status if status.is_client_error() => ErrorKind::Invalid,
            _ => ErrorKind::Failed,
        };
        let code = if kind == ErrorKind::Unauthorised { "invalid_api_key" } else { error.name };
        Self::new(kind, error.message).with_code(code)
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        if self.status.is_server_error() {
            tracing::error!(status = self.status.as_u16(), name = self.name, message = %self.message, "request failed");
        }
        let body = ErrorReply { error: self.name, message: redact(&self.message).into() };
        let mut response = (self.status, Json(body)).into_response();
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// An error as a sentence: capitalised, with its causes and a full stop.
pub(super) fn sentence(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text.push_str(": ");
            text.push_str(&inner_text);
        }
        cause = inner.source();
    }
    let mut letters = text.chars();
    let mut sentence: String = match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => text,
    };
    if !sentence.ends_with(['.', '!', '?']) {
        sentence.push('.');
    }
    sentence
}

/// Tells clients what happened to a blob, but not where the data folder is; the log has the path.
fn blob_error(path: &Path, source: &io::Error) -> ApiError {
    tracing::error!(path = %path.display(), error = %source, "a blob could not be read or written");
    if source.kind() == io::ErrorKind::NotFound {
        let message = "The file with this output was removed from the data folder.";
        return ApiError::new(StatusCode::NOT_FOUND, "BlobNotFound", message);
    }
    let message = format!("A file in the data folder could not be read or written: {source}.");
    ApiError::new(StatusCode::INSUFFICIENT_STORAGE, "StorageFailed", message)
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        if let StoreError::Blob { path, source } = &error {
            return blob_error(path, source);
        }
        let (status, name) = match &error {
            StoreError::Full(_) => (StatusCode::INSUFFICIENT_STORAGE, "StorageFull"),
            StoreError::ReadOnly(_) => (StatusCode::INSUFFICIENT_STORAGE, "StorageReadOnly"),
            StoreError::Disk(_) | StoreError::Missing | StoreError::Blob { .. } => {
                (StatusCode::INSUFFICIENT_STORAGE, "StorageFailed")
            }
            StoreError::BlobDamaged { .. } => (StatusCode::INTERNAL_SERVER_ERROR, "BlobDamaged"),
            StoreError::WriterDied => (StatusCode::SERVICE_UNAVAILABLE, "StoreStopped"),
            StoreError::Damaged { .. } => (StatusCode::INTERNAL_SERVER_ERROR, "DatabaseDamaged"),
            StoreError::Closed => (StatusCode::SERVICE_UNAVAILABLE, "ShuttingDown"),
            StoreError::TooNew { .. } | StoreError::Open { .. } | StoreError::NoMoreIds | StoreError::Statement(_) => {
                (StatusCode::INTERNAL_SERVER_ERROR, "InternalError")
            }
        };
        Self::new(status, name, sentence(&error))
    }
}

impl From<SessionError> for ApiError {
    fn from(error: SessionError) -> Self {
        let (status, name) = match error {
            SessionError::NotFound => return Self::session_not_found(),
            SessionError::Store(error) => return error.into(),
            SessionError::Closed => (StatusCode::CONFLICT, "SessionClosed"),
            SessionError::NotClosed => (StatusCode::CONFLICT, "SessionNotClosed"),
            SessionError::Unsupported(_) => (StatusCode::CONFLICT, "NotSupportedByRuntime"),
            SessionError::ShuttingDown => (StatusCode::SERVICE_UNAVAILABLE, "ShuttingDown"),
        };
        Self::new(status, name, sentence(&error))
    }
}

impl From<PromptError> for ApiError {
    fn from(error: PromptError) -> Self {
        let (status, name) = match error {
            PromptError::Session(error) => return error.into(),
            PromptError::NotFound(_) => (StatusCode::NOT_FOUND, "PromptNotFound"),
            PromptError::NotOver(_) => (StatusCode::CONFLICT, "PromptNotOver"),
            PromptError::Succeeded(_) => (StatusCode::CONFLICT, "PromptSucceeded"),
            PromptError::NotQueued(_) => (StatusCode::CONFLICT, "PromptNotQueued"),
            PromptError::PromptChanged(_) => (StatusCode::CONFLICT, "PromptChanged"),
            PromptError::QueueChanged => (StatusCode::CONFLICT, "QueueChanged"),
            PromptError::Empty => (StatusCode::BAD_REQUEST, "EmptyPrompt"),
            PromptError::TooLarge { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "PromptTooLarge"),
            PromptError::QueueFull { .. } => (StatusCode::TOO_MANY_REQUESTS, "TooManyQueuedPrompts"),
            PromptError::KeyReused => (StatusCode::UNPROCESSABLE_ENTITY, "IdempotencyKeyReused"),
            // Not 429, because clients retry a 429 by themselves.
            PromptError::BudgetSpent(_) => (StatusCode::CONFLICT, "BudgetSpent"),
            PromptError::SteeringNotSupported { .. } => (StatusCode::CONFLICT, "SteeringNotSupported"),
        };
        Self::new(status, name, sentence(&error))
    }
}

impl From<AnswerError> for ApiError {
    fn from(error: AnswerError) -> Self {
        let (status, name) = match error {
            AnswerError::Session(error) => return error.into(),
            AnswerError::NotFound => (StatusCode::NOT_FOUND, "RequestNotFound"),
            AnswerError::AlreadyAnswered { .. } => (StatusCode::CONFLICT, "AlreadyAnswered"),
            AnswerError::NotForGood(_) => (StatusCode::BAD_REQUEST, "NotForGood"),
            AnswerError::WrongKind(_) => (StatusCode::BAD_REQUEST, "WrongKindOfAnswer"),
            AnswerError::Incomplete(_) => (StatusCode::BAD_REQUEST, "IncompleteAnswer"),
        };
        Self::new(status, name, sentence(&error))
    }
}

impl From<ModelNotFound> for ApiError {
    fn from(error: ModelNotFound) -> Self {
        Self::bad_request("ModelIdNotFound", sentence(&error))
    }
}

impl From<CreateError> for ApiError {
    fn from(error: CreateError) -> Self {
        let (status, name) = match error {
            CreateError::Store(error) => return error.into(),
            CreateError::Model(error) => return error.into(),
            CreateError::Runtime(_) => (StatusCode::BAD_REQUEST, "RuntimeNotFound"),
            CreateError::WorkingDirectory(ref error) => {
                let name = working_directory_error(error);
                let forbidden = matches!(error, WorkingDirectoryError::NotAllowed(_));
                (if forbidden { StatusCode::FORBIDDEN } else { StatusCode::BAD_REQUEST }, name)
            }
            CreateError::ProjectConfiguration(_) => (StatusCode::BAD_REQUEST, "ProjectConfigurationInvalid"),
            CreateError::TooMany { .. } => (StatusCode::TOO_MANY_REQUESTS, "TooManySessions"),
            CreateError::KeyReused => (StatusCode::UNPROCESSABLE_ENTITY, "IdempotencyKeyReused"),
            CreateError::ShuttingDown => (StatusCode::SERVICE_UNAVAILABLE, "ShuttingDown"),
        };
        Self::new(status, name, sentence(&error))
    }
}

impl From<JobError> for ApiError {
    fn from(error: JobError) -> Self {
        let (status, name) = match error {
            JobError::Store(error) => return error.into(),
            JobError::WorkingDirectory(error) => return CreateError::WorkingDirectory(error).into(),
            JobError::NotFound | JobError::NoSuchJob { .. } => (StatusCode::NOT_FOUND, "JobNotFound"),
            JobError::TaskNotFound | JobError::NoSuchTask { .. } => (StatusCode::NOT_FOUND, "TaskNotFound"),
            JobError::SessionNotFound => return Self::session_not_found(),
            JobError::TaskCannotClose => (StatusCode::CONFLICT, "TaskCannotClose"),
            JobError::Over(_) => (StatusCode::CONFLICT, "JobOver"),
            JobError::NotStopped => (StatusCode::CONFLICT, "JobNotStopped"),
            JobError::Succeeded => (StatusCode::CONFLICT, "JobSucceeded"),
            JobError::GateChanged => (StatusCode::CONFLICT, "GateChanged"),
            JobError::GateAnswered { .. } | JobError::GateClosed => (StatusCode::CONFLICT, "GateClosed"),
            JobError::NoEntry => (StatusCode::CONFLICT, "NoEntry"),
            JobError::InvalidEntry(_) => (StatusCode::BAD_REQUEST, "InvalidEntry"),
            JobError::EntryNotTrusted { .. } => (StatusCode::FORBIDDEN, "EntryNotTrusted"),
            JobError::EntryChanged => (StatusCode::CONFLICT, "EntryChanged"),
            JobError::UserInputRequired(_) => (StatusCode::BAD_REQUEST, "UserInputRequired"),
            JobError::UserInputNotAllowed(_) => (StatusCode::BAD_REQUEST, "UserInputNotAllowed"),
            JobError::NoSuchCategory { .. } => (StatusCode::BAD_REQUEST, "ModelCategoryNotFound"),
            JobError::NoWorkingDirectory => (StatusCode::BAD_REQUEST, "WorkingDirectoryNotExists"),
            JobError::NoJobTools { .. } => (StatusCode::CONFLICT, "JobToolsMissing"),
            JobError::KeyReused => (StatusCode::UNPROCESSABLE_ENTITY, "IdempotencyKeyReused"),
            JobError::ShuttingDown => (StatusCode::SERVICE_UNAVAILABLE, "ShuttingDown"),
        };
        Self::new(status, name, sentence(&error))
    }
}

impl From<AdoptError> for ApiError {
    fn from(error: AdoptError) -> Self {
        let (status, name) = match error {
            AdoptError::Store(error) => return error.into(),
            AdoptError::Session(error) => return error.into(),
            AdoptError::WorkingDirectory(error) => return CreateError::WorkingDirectory(error).into(),
            AdoptError::TooMany { limit } => return CreateError::TooMany { limit }.into(),
            AdoptError::Runtime(_) => (StatusCode::NOT_FOUND, "RuntimeNotFound"),
            AdoptError::KeepsNone(_) => (StatusCode::CONFLICT, "NotSupportedByRuntime"),
            AdoptError::NotFound { .. } => (StatusCode::NOT_FOUND, "AgentSessionNotFound"),
            AdoptError::Agent { .. } => (StatusCode::BAD_GATEWAY, "AgentNotAvailable"),
        };
        Self::new(status, name, sentence(&error))
    }
}

impl From<ForkError> for ApiError {
    fn from(error: ForkError) -> Self {
        let (status, name) = match error {
            ForkError::Store(error) => return error.into(),
            ForkError::Session(error) => return error.into(),
            ForkError::WorkingDirectory(error) => return CreateError::WorkingDirectory(error).into(),
            ForkError::TooMany { limit } => return CreateError::TooMany { limit }.into(),
            ForkError::KeyReused => return CreateError::KeyReused.into(),
            ForkError::Runtime(_) => (StatusCode::NOT_FOUND, "RuntimeNotFound"),
            ForkError::NotSupported(_) => (StatusCode::CONFLICT, "NotSupportedByRuntime"),
            ForkError::PromptNotFound(_) => (StatusCode::NOT_FOUND, "PromptNotFound"),
            ForkError::EventNotFound(_) => (StatusCode::NOT_FOUND, "EventNotFound"),
            ForkError::TurnNotOver | ForkError::Disturbed => (StatusCode::CONFLICT, "TurnNotOver"),
            ForkError::Lost => (StatusCode::CONFLICT, "ConversationLost"),
            ForkError::Agent { .. } => (StatusCode::BAD_GATEWAY, "AgentNotAvailable"),
        };
        Self::new(status, name, sentence(&error))
    }
}

impl From<FolderError> for ApiError {
    fn from(error: FolderError) -> Self {
        let (status, name) = match error {
            FolderError::Unreadable { .. } => (StatusCode::FORBIDDEN, "WorkingDirectoryNotReadable"),
            FolderError::NotChanged(_) => (StatusCode::NOT_FOUND, "ChangeNotFound"),
            FolderError::NoRepository(_) => (StatusCode::CONFLICT, "NoRepository"),
            FolderError::NoGit => (StatusCode::CONFLICT, "GitNotFound"),
            FolderError::GitRefused { .. } => (StatusCode::CONFLICT, "GitRefused"),
            FolderError::Git(_) => (StatusCode::GATEWAY_TIMEOUT, "GitFailed"),
            FolderError::TooMuch(_) => (StatusCode::CONFLICT, "TooManyChanges"),
            FolderError::Unwritable { .. } => (StatusCode::INTERNAL_SERVER_ERROR, "NotWritable"),
            FolderError::NotRevertible { .. } => (StatusCode::CONFLICT, "NotRevertible"),
            FolderError::ChangedSince(_) => (StatusCode::CONFLICT, "FileChanged"),
            FolderError::PatchTooLarge { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "PatchTooLarge"),
        };
        Self::new(status, name, sentence(&error))
    }
}

impl From<ReviewError> for ApiError {
    fn from(error: ReviewError) -> Self {
        let (status, name) = match error {
            ReviewError::Folder(error) => return error.into(),
            ReviewError::NoSnapshot(_) => (StatusCode::CONFLICT, "NoSnapshot"),
            ReviewError::NoTurn(_) => (StatusCode::NOT_FOUND, "TurnNotFound"),
            ReviewError::NotKept(_) => (StatusCode::NOT_FOUND, "RevertNotFound"),
            ReviewError::Keep { .. } | ReviewError::Unkept { .. } => (StatusCode::INTERNAL_SERVER_ERROR, "CopyNotKept"),
            ReviewError::ShuttingDown => (StatusCode::SERVICE_UNAVAILABLE, "ShuttingDown"),
        };
        Self::new(status, name, sentence(&error))
    }
}

/// The portal's error name for a folder that cannot be used.
pub(super) fn working_directory_error(error: &WorkingDirectoryError) -> &'static str {
    match error {
        WorkingDirectoryError::NotAbsolute(_) => "WorkingDirectoryNotAbsolutePath",
        WorkingDirectoryError::NotExists(_) => "WorkingDirectoryNotExists",
        WorkingDirectoryError::NotAllowed(_) => "WorkingDirectoryNotAllowed",
    }
}

impl From<LiveError> for ApiError {
    fn from(error: LiveError) -> Self {
        let (status, name) = match error {
            LiveError::NotFound => return Self::session_not_found(),
            LiveError::Store(error) => return error.into(),
            LiveError::Closed => (StatusCode::CONFLICT, "SessionClosed"),
            LiveError::Timeout => (StatusCode::REQUEST_TIMEOUT, "HttpRequestTimeout"),
            LiveError::ParallelCall => (StatusCode::CONFLICT, "ParallelCallNotSupported"),
            LiveError::TooManyReaders => (StatusCode::TOO_MANY_REQUESTS, "TooManyReaders"),
            LiveError::CursorAhead { .. } => (StatusCode::BAD_REQUEST, "CursorAhead"),
        };
        Self::new(status, name, sentence(&error))
    }
}
