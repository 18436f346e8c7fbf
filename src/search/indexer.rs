//! The indexer: reads what was added to the logs and puts it into the full-text index, in the background.

use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::text;
use crate::model::{Seq, SessionId};
use crate::store::{EventPage, IndexBatch, IndexedText, Store, StoreError, StoredEvent};

/// Events in one batch, and bytes of them.
const EVENTS: usize = 500;
const BYTES: usize = 256 * 1024;
/// What is written in this time is indexed together.
const GATHER: Duration = Duration::from_millis(200);
/// A server that starts has other things to do first.
const START: Duration = Duration::from_millis(500);
/// After a failure, such as a full disk.
const RETRY: Duration = Duration::from_secs(15);

/// Indexes until the server stops. The relay never waits for it: the index has its own file, and the indexer rests as
/// long as it works.
pub async fn run_indexer(store: Store, stopping: CancellationToken) {
    let indexer = Indexer { store };
    let mut is_failing = false;
    tokio::select! {
        () = stopping.cancelled() => return,
        () = tokio::time::sleep(START) => {}
    }
    loop {
        let began = Instant::now();
        let rest = match indexer.step().await {
            Ok(Step::Indexed) => began.elapsed(),
            Ok(Step::Complete) => {
                tokio::select! {
                    () = stopping.cancelled() => return,
                    () = indexer.store.index_backlog().changed() => {}
                }
                GATHER
            }
            Err(StoreError::Closed) => return,
            // It is compared again at once, which replaces the file.
            Err(StoreError::Damaged { .. }) if !is_failing => {
                is_failing = true;
                continue;
            }
            Err(error) => {
                // Once for each time that it begins.
                if !is_failing {
                    tracing::warn!(%error, "could not write the search index; searches miss what is new until this works");
                }
                is_failing = true;
                RETRY
            }
        };
        is_failing &= rest == RETRY;
        tokio::select! {
            () = stopping.cancelled() => return,
            () = tokio::time::sleep(rest) => {}
        }
    }
}

struct Indexer {
    store: Store,
}

enum Step {
    Indexed,
    Complete,
}

impl Indexer {
    async fn step(&self) -> Result<Step, StoreError> {
        let backlog = self.store.index_backlog();
        if !backlog.is_compared() {
            self.store.compare_index().await?;
        }
        let Some((session, after)) = backlog.next() else { return Ok(Step::Complete) };
        let page = EventPage { after, before: None, limit: EVENTS, max_bytes: BYTES };
        let (events, _) = self.store.events(session, page).await?;
        match events.last().map(|event| event.seq) {
            Some(through) => self.index(session, after, through, events).await?,
            // The session was deleted, or its newest events were deltas of a block that has ended since.
            None => backlog.forget(session),
        }
        Ok(Step::Indexed)
    }

    async fn index(
        &self,
        session: SessionId,
        after: Seq,
        through: Seq,
        events: Vec<StoredEvent>,
    ) -> Result<(), StoreError> {
        // Reading texts takes a while, so not where sessions run.
        let texts = tokio::task::spawn_blocking(move || texts_of(&events)).await.map_err(|_| StoreError::Closed)?;
        self.store.index(IndexBatch { session, after, through, texts }).await
    }
}

fn texts_of(events: &[StoredEvent]) -> Vec<IndexedText> {
    let text = |event: &StoredEvent| {
        let found = text::of_event(&event.body)?;
        Some(IndexedText { seq: event.seq, time: event.time, text: found.text })
    };
    events.iter().filter_map(text).collect()
}
