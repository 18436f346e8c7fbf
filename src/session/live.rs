//! The portal's long poll: one response from the shared cursor, or a batch for a token.

use std::sync::Arc;

use tokio::time::{Duration, Instant};

use super::handle::Session;
use super::readers::{NewReader, ReaderRefused, SHARED};
use super::viewers::ViewerGuard;
use super::{clock, log::SessionLog};
use crate::model::Seq;
use crate::store::{StoreError, StoredEvent};

/// How long a call waits for the first response.
pub const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// What arrives within this time of the first response comes in the same batch.
const COALESCE: Duration = Duration::from_millis(2);
/// The most responses of a batch.
pub const BATCH_RESPONSES: usize = 1_000;
/// The most bytes of a batch, unless one response alone is larger.
pub const BATCH_BYTES: usize = 1_000_000;

/// Why a call gets no response.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// Unknown, deleted, or closed and read to its end.
    #[error("there is no such session")]
    NotFound,
    /// Closed, and everything was read. Reported once.
    #[error("the session is closed")]
    Closed,
    /// Nothing came.
    #[error("no response within 5 seconds")]
    Timeout,
    /// Another call is waiting.
    #[error("another call is waiting")]
    ParallelCall,
    /// No more readers for this session.
    #[error("the session has reached its limit of readers; close one, or raise limits.readers_per_session")]
    TooManyReaders,
    /// `after` is beyond the end of the log.
    #[error("the last event is {last}; there is no event after {after} yet")]
    CursorAhead {
        /// What was asked for.
        after: Seq,
        /// What there is.
        last: Seq,
    },
    /// The store could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<ReaderRefused> for LiveError {
    fn from(reason: ReaderRefused) -> Self {
        match reason {
            ReaderRefused::Busy => Self::ParallelCall,
            ReaderRefused::Done | ReaderRefused::NewReadersRefused => Self::NotFound,
            ReaderRefused::TooMany => Self::TooManyReaders,
        }
    }
}

/// Responses on their way to a reader. The reader's position moves only with [`Delivery::delivered`]; a caller
/// that hangs up before that loses nothing.
pub struct Delivery {
    /// In order, never empty.
    pub events: Vec<StoredEvent>,
    claim: Claim,
    /// Attached until the responses are sent: a long batch takes a while.
    viewer: Option<ViewerGuard>,
}

impl Delivery {
    /// The responses are on the wire.
    pub fn delivered(&self) {
        if let Some(last) = self.events.last() {
            self.claim.session.readers.advance(&self.claim.token, last.seq);
            if let Some(viewer) = &self.viewer {
                viewer.has_read(last.seq);
            }
            self.claim.session.positions_changed.notify_one();
        }
    }

    /// The number of the last response.
    pub fn last_seq(&self) -> Seq {
        self.events.last().map_or(0, |event| event.seq)
    }
}

/// One call's right to read with its token.
struct Claim {
    session: Arc<Session>,
    token: String,
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.session.readers.finish(&self.token);
    }
}

impl Session {
    /// The next response of the shared cursor.
    pub async fn live_one(self: &Arc<Self>) -> Result<Delivery, LiveError> {
        let position = self.begin(SHARED, NewReader::StartsAfter(0)).await?;
        self.poll(SHARED, position, 1).await
    }

    /// The unread responses of a token. A new token starts at `after`, or at the beginning.
    pub async fn live_batch(self: &Arc<Self>, token: &str, after: Option<Seq>) -> Result<Delivery, LiveError> {
        let head = self.log.head();
        let new_reader = match head.closed_at {
            Some(closed_at) if clock::now().since(closed_at) > self.closed_grace => NewReader::Refused,
            _ => NewReader::StartsAfter(after.unwrap_or(0)),
        };
        if let Some(after) = after {
            self.check_cursor(after).await?;
        }
        let position = self.begin(token, new_reader).await?;
        self.poll(token, position, BATCH_RESPONSES).await
    }

    async fn begin(&self, token: &str, new_reader: NewReader) -> Result<Seq, LiveError> {
        Ok(self.readers.claim(token, new_reader).await?)
    }

    /// A cursor beyond every number that was ever given is a mistake of the caller.
    pub async fn check_cursor(&self, after: Seq) -> Result<(), LiveError> {
        let last = || self.log.head().committed.max(self.first_new_seq.saturating_sub(1));
        if after > last() {
            // A client may have read the number from the store a moment before the log learns of the commit.
            self.store.flush().await.map_err(LiveError::Store)?;
        }
        let last = last();
        if after > last { Err(LiveError::CursorAhead { after, last }) } else { Ok(()) }
    }

    async fn poll(self: &Arc<Self>, token: &str, position: Seq, limit: usize) -> Result<Delivery, LiveError> {
        let claim = Claim { session: Arc::clone(self), token: token.to_owned() };
        let log = &self.log;
        // Calls are limited by the tokens that a session may have, not here.
        let viewer = log.attach(position, usize::MAX);
        let mut head = log.watch();
        let deadline = Instant::now() + LONGEST_WAIT;
        loop {
            let seen = *head.borrow_and_update();
            if seen.deleted {
                return Err(LiveError::NotFound);
            }
            let events = log.read_after(position, limit, BATCH_BYTES).await?;
            if !events.is_empty() {
                return Ok(Delivery { events, claim, viewer });
            }
            if seen.is_complete() && self.readers.done(token, || self.log.head().is_complete()) {
                self.positions_changed.notify_one();
                return Err(LiveError::Closed);
            }
            if seen.broken {
                // The next call reloads the session.
                return Err(LiveError::Timeout);
            }
            tokio::select! {
                () = tokio::time::sleep_until(deadline) => return Err(LiveError::Timeout),
                () = self.stopping.cancelled() => return Err(LiveError::Timeout),
                () = self.gone() => return Err(LiveError::Timeout),
                changed = head.changed() => if changed.is_err() {
                    return Err(LiveError::NotFound);
                },
            }
            if limit > 1 {
                coalesce(log, position, limit).await;
            }
        }
    }
}

/// Waits a moment for the rest of a burst, unless the batch is full or the session just closed.
async fn coalesce(log: &SessionLog, position: Seq, limit: usize) {
    let head = log.head();
    let waiting = head.committed.saturating_sub(position);
    if !head.is_complete() && waiting > 0 && waiting < limit as u64 {
        tokio::time::sleep(COALESCE).await;
    }
}
