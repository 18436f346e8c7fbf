//! The summary for an agent that has lost its own session, read from the log.

use std::time::Duration;

use super::Actor;
use crate::session::summary::Summary;

/// How long the last events may take to be committed; without them the summary is only a little older.
const COMMITTED_WITHIN: Duration = Duration::from_secs(5);

impl Actor {
    /// The summary, if the machine needs one and anything was asked of the lost session.
    pub(super) async fn summary(&mut self) -> Option<String> {
        let waiting = self.machine.needs_summary()?;
        self.flush().await;
        let (last, mut head) = (self.journal.last(), self.journal.watch());
        let committed = head.wait_for(|head| head.committed >= last);
        if tokio::time::timeout(COMMITTED_WITHIN, committed).await.is_err() {
            tracing::warn!(session = %self.id, "the last events are missing in the summary: they are not committed yet");
        }
        let mut summary = Summary::without(waiting);
        if let Err(error) = self.read_log(0, |_, response| summary.apply(response)).await {
            tracing::warn!(session = %self.id, %error, "cannot read the log, so the agent gets no summary of it");
            return None;
        }
        summary.text()
    }
}
