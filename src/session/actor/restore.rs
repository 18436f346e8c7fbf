//! Restoring a session after a restart: its log is replayed through the machine.

use super::{Actor, Input};
use crate::model::{Response, Seq};
use crate::session::machine::Replay;
use crate::store::{EventPage, OpenTurn, StoreError};

const PAGE: usize = 1_000;
const PAGE_BYTES: usize = 8 * 1024 * 1024;

impl Actor {
    /// Closes what the last run left open, or continues it.
    pub async fn restore(&mut self, open: Option<OpenTurn>) -> Result<(), StoreError> {
        if let Some(open) = open {
            let replay = self.replay(&open).await?;
            self.machine.resume(&open, replay.finish());
        }
        self.drive(Input::Restarted).await;
        self.flush().await;
        Ok(())
    }

    /// A session that was just created: its agent is started before the first prompt.
    pub async fn begin(&mut self) {
        self.drive(Input::Created).await;
    }

    /// Runs prompts that were queued when the server stopped.
    pub async fn resume_queue(&mut self) {
        self.drive(Input::QueueResumed).await;
    }

    async fn replay(&mut self, open: &OpenTurn) -> Result<Replay, StoreError> {
        let mut replay = Replay::new(open);
        self.read_log(open.after, |seq, response| replay.apply(seq, response)).await?;
        Ok(replay)
    }

    /// Reads the log after this number, page by page.
    pub(super) async fn read_log(
        &mut self,
        mut after: Seq,
        mut apply: impl FnMut(Seq, &Response),
    ) -> Result<(), StoreError> {
        loop {
            let page = EventPage { after, before: None, limit: PAGE, max_bytes: PAGE_BYTES };
            let (events, _) = self.services.store.events(self.id, page).await?;
            let Some(last) = events.last() else { return Ok(()) };
            after = last.seq;
            for event in events {
                let response = std::str::from_utf8(&event.body).ok().and_then(Response::from_json);
                if let Some(response) = response {
                    apply(event.seq, &response);
                }
            }
        }
    }
}
