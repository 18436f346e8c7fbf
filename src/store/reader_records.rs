//! Where portal readers are, so that they continue after a restart.

use crate::model::{Seq, SessionId, Timestamp};

/// A reader's place in a session's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReaderPosition {
    /// Whose log.
    pub session: SessionId,
    /// The reader's token; empty for the shared cursor.
    pub token: String,
    /// The number of the last event it got.
    pub position: Seq,
    /// It heard that the session is closed.
    pub done: bool,
    /// When it last read.
    pub seen_at: Timestamp,
}
