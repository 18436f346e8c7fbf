//! Background work: saving reader positions, deleting old sessions, unloading unused ones.

use std::sync::Arc;
use std::time::Duration;

use super::sessions::{LoadedSession, Sessions};
use super::{Session, clock};
use crate::model::{SessionId, Timestamp};
use crate::search::run_indexer;
use crate::store::StoreHealth;

/// Sessions read at once to fill the inbox.
const PAGE: usize = 1_000;
/// Reader positions are saved this long after the first change.
const SAVE_AFTER: Duration = Duration::from_millis(500);
/// How often the cleanup runs.
const ROUND: Duration = Duration::from_mins(10);
/// How often unused sessions are unloaded.
const UNLOADING_ROUND: Duration = Duration::from_secs(20);
/// A session without readers for this long may be unloaded. Longer than a reader takes to reconnect for the rest of a
/// turn.
const UNREAD_FOR: Duration = Duration::from_secs(30);
/// Reader tokens unused for this long are deleted.
const TOKEN_LIFE: Duration = Duration::from_hours(24);

impl Sessions {
    /// Starts the background work; it ends with the server.
    pub fn start_housekeeping(&self) {
        let sessions = self.clone();
        self.shared.housekeeping.spawn(async move { sessions.save_positions_as_they_change().await });
        let sessions = self.clone();
        self.shared.housekeeping.spawn(async move { sessions.run_cleanup().await });
        let sessions = self.clone();
        self.shared.housekeeping.spawn(async move { sessions.unload_as_they_fall_idle().await });
        self.shared.housekeeping.spawn(run_indexer(self.store().clone(), self.shared.stopping.clone()));
    }

    async fn save_positions_as_they_change(&self) {
        loop {
            tokio::select! {
                () = self.shared.stopping.cancelled() => return,
                () = self.shared.positions_changed.notified() => {}
            }
            tokio::select! {
                () = self.shared.stopping.cancelled() => return,
                () = tokio::time::sleep(SAVE_AFTER) => {}
            }
            self.save_positions().await;
        }
    }

    pub(super) async fn save_positions(&self) {
        let mut sessions = self.in_memory();
        // The others can be unloaded meanwhile.
        sessions.retain(|session| session.readers.has_unsaved());
        let positions: Vec<_> = sessions.iter().flat_map(|session| session.readers.unsaved(session.id)).collect();
        if positions.is_empty() {
            return;
        }
        match self.store().save_reader_positions(positions.clone()).await {
            Ok(()) => {
                for place in &positions {
                    sessions.iter().filter(|session| place.stream == session.id.into()).for_each(|session| {
                        session.readers.saved(place);
                    });
                }
            }
            // They stay unsaved and are saved with the next change.
            Err(error) => tracing::warn!(
                error = %error,
                "could not save reader positions; after a restart, readers may get some events again"
            ),
        }
    }

    async fn run_cleanup(&self) {
        if let Err(error) = self.fill_session_feed(PAGE).await {
            tracing::warn!(error = %error, "could not fill the inbox");
        }
        let mut known_since_last_round = 0;
        loop {
            if let Err(error) = self.apply_retention().await {
                tracing::warn!(error = %error, "could not delete old sessions");
            }
            self.session_feed().forget_ended(known_since_last_round);
            known_since_last_round = self.session_feed().version();
            tokio::select! {
                () = self.shared.stopping.cancelled() => return,
                () = tokio::time::sleep(ROUND) => {}
            }
        }
    }

    fn in_memory(&self) -> Vec<Arc<Session>> {
        self.shared.loaded.lock().values().filter_map(|place| place.get().cloned()).collect()
    }

    /// Applies the configured retention: by age first, then by size.
    pub(super) async fn apply_retention(&self) -> Result<(), super::SessionError> {
        let retention = self.settings().retention;
        let store = self.store();
        store.expire_readers(before(clock::now(), TOKEN_LIFE)).await?;
        self.in_memory().iter().for_each(|session| session.readers.expire(TOKEN_LIFE));
        if let Some(max_age) = retention.max_age {
            let limit = before(clock::now(), max_age);
            while let Some(id) = store.longest_closed(limit).await? {
                self.forget(id, "age").await?;
            }
        }
        if let Some(max_bytes) = retention.max_bytes {
            while store.used_bytes().await? > max_bytes {
                let Some(id) = store.longest_closed(clock::now()).await? else {
                    tracing::warn!(
                        max_bytes,
                        "the database is larger than retention.max_bytes and no closed session is left to delete"
                    );
                    return Ok(());
                };
                self.forget(id, "size").await?;
            }
        }
        store.remove_unused_blobs().await?;
        Ok(())
    }

    async fn forget(&self, id: SessionId, reason: &str) -> Result<(), super::SessionError> {
        tracing::info!(session = %id, reason, "deleting a closed session according to the retention settings");
        self.delete(id).await
    }

    async fn unload_as_they_fall_idle(&self) {
        loop {
            tokio::select! {
                () = self.shared.stopping.cancelled() => return,
                () = tokio::time::sleep(UNLOADING_ROUND) => self.unload_unused(),
            }
        }
    }

    /// Unloads idle sessions that have no readers; they are loaded again when needed. Their actors end because their last
    /// handle is dropped.
    fn unload_unused(&self) {
        // What the disk refuses is kept in memory, and a session that waits for it could not be loaded again.
        if *self.store().health().borrow() == StoreHealth::Good {
            self.shared.loaded.lock().retain(|_, place| !is_unused(place));
        }
    }
}

/// Whether nothing else holds the place or the session: both are counted under the lock that hands them out, so no
/// command can be sent to an actor that is at rest.
fn is_unused(place: &LoadedSession) -> bool {
    let Some(session) = place.get() else { return false };
    let head = session.log.head();
    Arc::strong_count(place) == 1
        && Arc::strong_count(session) == 1
        && session.rest.is_at_rest()
        && session.log.unattended_since().is_some_and(|since| since.elapsed() >= UNREAD_FOR)
        && (head.closed_at.is_none() || head.is_complete())
        && !session.readers.has_unsaved()
}

fn before(now: Timestamp, span: Duration) -> Timestamp {
    let span = i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
    Timestamp::from_millis(now.as_millis().saturating_sub(span))
}
