//! What a caller is told about a failure of the model or the agent.

use super::{CaptureError, ErrorKind};
use crate::agent::failure::Failure;
use crate::model::ErrorClass;

pub(super) fn error(failure: &Failure) -> CaptureError {
    let (kind, code) = match failure.class {
        ErrorClass::RateLimit => (ErrorKind::Limited, Some("rate_limit_exceeded")),
        ErrorClass::Quota | ErrorClass::Budget => (ErrorKind::Limited, Some("insufficient_quota")),
        ErrorClass::ModelUnavailable => (ErrorKind::NotFound, Some("model_not_found")),
        ErrorClass::ContextTooLong => (ErrorKind::Invalid, Some("context_length_exceeded")),
        ErrorClass::ContentFilter => (ErrorKind::Invalid, Some("content_filter")),
        ErrorClass::InvalidRequest | ErrorClass::ToolConflict => (ErrorKind::Invalid, None),
        ErrorClass::Auth => (ErrorKind::Unavailable, Some("agent_not_logged_in")),
        ErrorClass::Timeout => (ErrorKind::TimedOut, None),
        _ => (ErrorKind::Failed, None),
    };
    let error = CaptureError { code, ..CaptureError::new(kind, failure.message.clone()) };
    match failure.retry_after {
        Some(after) => error.with_retry_after(after),
        None => error,
    }
}
