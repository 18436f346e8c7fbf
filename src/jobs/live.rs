//! The portal's long poll of a job or a task.

use std::sync::Arc;

use serde_json::Value;
use tokio::time::Instant;

use super::record::View;
use super::run::Run;
use crate::model::Seq;
use crate::session::{BATCH_RESPONSES, LONGEST_WAIT, LiveError, Readers, SHARED};

/// Responses on their way to a reader. The reader's position moves only with [`RunDelivery::delivered`]; a caller that hangs
/// up before that loses nothing.
pub struct RunDelivery {
    /// In order, never empty.
    pub responses: Vec<Value>,
    /// The reader has everything up to this record then.
    pub through: Seq,
    claim: Claim,
}

impl RunDelivery {
    /// The responses are on the wire.
    pub fn delivered(&self) {
        self.claim.readers.advance(&self.claim.token, self.through);
        self.claim.run.positions_changed.notify_one();
    }
}

/// One call's right to read with its token.
struct Claim {
    run: Arc<Run>,
    readers: Arc<Readers>,
    token: String,
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.readers.finish(&self.token);
    }
}

impl Run {
    /// The next response of the shared cursor.
    pub async fn live_one(self: &Arc<Self>, view: View) -> Result<RunDelivery, LiveError> {
        self.poll(view, SHARED, None, 1).await
    }

    /// The unread responses of a token. A new token starts at `after`, or at the beginning.
    pub async fn live_batch(
        self: &Arc<Self>,
        view: View,
        token: &str,
        after: Option<Seq>,
    ) -> Result<RunDelivery, LiveError> {
        self.poll(view, token, after, BATCH_RESPONSES).await
    }

    async fn poll(
        self: &Arc<Self>,
        view: View,
        token: &str,
        after: Option<Seq>,
        limit: usize,
    ) -> Result<RunDelivery, LiveError> {
        let log = &self.log;
        let readers = log.readers(view).await?;
        let new_reader = log.new_reader(view, after)?;
        // The shared cursor of a finished run is drained whenever somebody comes.
        let new_reader = if token == SHARED { crate::session::NewReader::StartsAfter(0) } else { new_reader };
        let mut position = readers.claim(token, new_reader).await?;
        let claim = Claim { run: Arc::clone(self), readers, token: token.to_owned() };
        let mut committed = log.watch();
        let deadline = Instant::now() + LONGEST_WAIT;
        loop {
            committed.borrow_and_update();
            let is_over = || log.view_over(view).is_some();
            let was_over = is_over();
            let batch = log.read(view, position, limit).await?;
            if !batch.responses.is_empty() {
                return Ok(RunDelivery { responses: batch.responses, through: batch.through, claim });
            }
            position = batch.through;
            if was_over && claim.readers.done(token, is_over) {
                self.positions_changed.notify_one();
                return Err(LiveError::Closed);
            }
            tokio::select! {
                () = tokio::time::sleep_until(deadline) => return Err(LiveError::Timeout),
                () = self.stopping.cancelled() => return Err(LiveError::Timeout),
                changed = committed.changed() => if changed.is_err() {
                    return Err(LiveError::NotFound);
                },
            }
        }
    }
}
