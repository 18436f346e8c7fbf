//! Positions of portal readers, so that they continue after a restart, and which browsers are logged in.

use crate::model::{Seq, StreamId, Timestamp};

/// A reader's position in a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReaderPosition {
    /// Whose log.
    pub stream: StreamId,
    /// The reader's token; empty for the shared cursor.
    pub token: String,
    /// The number of the last event it got.
    pub position: Seq,
    /// It got the response that the session, job or task is closed.
    pub done: bool,
    /// When it last read.
    pub seen_at: Timestamp,
}

/// A browser that is logged in, identified by hashes of its cookie and secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredLogin {
    /// The hash of its cookie.
    pub cookie_hash: String,
    /// The hash of the secret in its page's storage.
    pub secret_hash: String,
    /// When it must log in again.
    pub expires_at: Timestamp,
}
