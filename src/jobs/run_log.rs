//! The log of a run as readers see it: committed records only.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::watch;

use super::progress::Progress;
use super::record::{Record, View};
use crate::model::{Seq, StreamId, Timestamp};
use crate::session::{BATCH_BYTES, LiveError, NewReader, Readers, now};
use crate::store::{EventPage, ReaderPosition, Store, StoreError, StoredEvent};

/// Records that are read at once.
const PAGE: usize = 1_000;

/// The log of a job, or of a task outside a job.
pub struct RunLog {
    stream: StreamId,
    store: Store,
    committed: watch::Sender<Seq>,
    progress: Mutex<Progress>,
    readers: tokio::sync::Mutex<HashMap<StreamId, Arc<Readers>>>,
    closed_grace: Duration,
    readers_limit: usize,
}

/// What a reader gets.
pub struct Batch {
    /// The responses, in order.
    pub responses: Vec<Value>,
    /// The reader has everything up to this record.
    pub through: Seq,
}

impl RunLog {
    pub(super) fn new(
        stream: StreamId,
        store: Store,
        progress: Progress,
        committed: Seq,
        closed_grace: Duration,
        readers_limit: usize,
    ) -> Self {
        Self {
            stream,
            store,
            committed: watch::Sender::new(committed),
            progress: Mutex::new(progress),
            readers: tokio::sync::Mutex::default(),
            closed_grace,
            readers_limit,
        }
    }

    /// Whose log it is.
    pub fn stream(&self) -> StreamId {
        self.stream
    }

    /// How far the run has come.
    pub fn progress(&self) -> Progress {
        self.progress.lock().clone()
    }

    /// The number of the last record, and changes of it.
    pub fn watch(&self) -> watch::Receiver<Seq> {
        self.committed.subscribe()
    }

    /// The number of the last record.
    pub fn committed(&self) -> Seq {
        *self.committed.borrow()
    }

    /// When the run was over.
    pub fn ended_at(&self) -> Option<Timestamp> {
        self.progress.lock().ended_at
    }

    /// Records were committed.
    pub(super) fn append(&self, records: &[Record], time: Timestamp, last: Seq) {
        {
            let mut progress = self.progress.lock();
            for record in records {
                progress.apply(record, time);
            }
            if let StreamId::Task(task) = self.stream {
                progress.end_with_task(task);
            }
        }
        self.committed.send_replace(last);
    }

    /// A page of the log, as it is stored.
    pub async fn events(&self, after: Seq, limit: usize) -> Result<(Vec<StoredEvent>, bool), StoreError> {
        self.page(EventPage { after, before: None, limit, max_bytes: 8 * BATCH_BYTES }).await
    }

    /// A page of what is announced. The store may be a moment ahead, and who has read a record must find its effect in
    /// [`Self::progress`].
    async fn page(&self, page: EventPage) -> Result<(Vec<StoredEvent>, bool), StoreError> {
        let committed = self.committed();
        let (mut events, more) = self.store.events(self.stream, page).await?;
        let read = events.len();
        events.retain(|event| event.seq <= committed);
        let is_whole = events.len() == read;
        Ok((events, more && is_whole))
    }

    /// The responses of a view after a record: at most `limit`.
    pub(super) async fn read(&self, view: View, after: Seq, limit: usize) -> Result<Batch, StoreError> {
        let mut batch = Batch { responses: Vec::new(), through: after };
        let mut bytes = 0;
        loop {
            let page = EventPage { after: batch.through, before: None, limit: PAGE, max_bytes: BATCH_BYTES };
            let (events, more) = self.page(page).await?;
            for event in events {
                let response =
                    serde_json::from_slice(&event.body).ok().and_then(|record: Record| record.response(view));
                if let Some(response) = response {
                    if batch.responses.len() == limit || bytes > BATCH_BYTES {
                        return Ok(batch);
                    }
                    bytes += event.body.len();
                    batch.responses.push(response);
                }
                batch.through = event.seq;
            }
            if !more {
                return Ok(batch);
            }
        }
    }

    /// When a view ended: nothing more comes.
    pub(super) fn view_over(&self, view: View) -> Option<Timestamp> {
        let progress = self.progress.lock();
        match view {
            View::Job => progress.ended_at,
            View::Task(task) => progress.task_over(task),
        }
    }

    fn view_stream(&self, view: View) -> StreamId {
        match view {
            View::Job => self.stream,
            View::Task(task) => StreamId::Task(task),
        }
    }

    /// The readers of a view.
    pub(super) async fn readers(&self, view: View) -> Result<Arc<Readers>, StoreError> {
        let stream = self.view_stream(view);
        let mut all = self.readers.lock().await;
        if let Some(readers) = all.get(&stream) {
            return Ok(Arc::clone(readers));
        }
        let saved = self.store.reader_positions(stream).await?;
        let readers = Arc::new(Readers::new(saved, self.readers_limit));
        all.insert(stream, Arc::clone(&readers));
        Ok(readers)
    }

    /// How a new token may begin.
    pub(super) fn new_reader(&self, view: View, after: Option<Seq>) -> Result<NewReader, LiveError> {
        let last = self.committed();
        if let Some(after) = after.filter(|after| *after > last) {
            return Err(LiveError::CursorAhead { after, last });
        }
        Ok(match self.view_over(view) {
            Some(over) if now().since(over) > self.closed_grace => NewReader::Refused,
            _ => NewReader::StartsAfter(after.unwrap_or(0)),
        })
    }

    /// The run continues after its end: readers that got the response that it is over may read again.
    pub(super) async fn reopen_readers(&self) {
        for readers in self.readers.lock().await.values() {
            readers.reopen();
        }
    }

    /// Positions of readers that are not saved.
    pub(super) async fn unsaved_positions(&self) -> Vec<ReaderPosition> {
        let all = self.readers.lock().await;
        all.iter().flat_map(|(stream, readers)| readers.unsaved(*stream)).collect()
    }

    /// Positions are in the store.
    pub(super) async fn positions_saved(&self, positions: &[ReaderPosition]) {
        let all = self.readers.lock().await;
        for position in positions {
            if let Some(readers) = all.get(&position.stream) {
                readers.saved(position);
            }
        }
    }
}
