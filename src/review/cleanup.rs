//! Deletes what belongs to sessions that are gone.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::reviews::Shared;
use crate::model::SessionId;

/// How often all folders are compared with the sessions.
const ROUND: Duration = Duration::from_mins(10);

impl Shared {
    /// Deletes a session's snapshots and copies when it is deleted, and, from time to time, those that were missed.
    pub(super) async fn clean_up(self: Arc<Self>) {
        let feed = Arc::clone(self.parts.sessions.session_feed());
        let mut changed = feed.watch();
        let mut seen = 0;
        let mut round = tokio::time::interval(ROUND);
        loop {
            tokio::select! {
                () = self.parts.stopping.cancelled() => return,
                _ = round.tick() => {
                    self.compare_with_sessions().await;
                    let left = self.make_room(None).await;
                    self.total_bytes.store(left, Ordering::Relaxed);
                }
                news = changed.changed() => {
                    if news.is_err() {
                        return;
                    }
                    let (version, entries) = feed.since(seen);
                    seen = version;
                    for entry in entries.iter().filter(|entry| entry.state.is_none()) {
                        self.remove(entry.session_id).await;
                    }
                }
            }
        }
    }

    async fn compare_with_sessions(&self) {
        let folder = self.parts.folder.clone();
        let listing = tokio::task::spawn_blocking(move || {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect::<Vec<SessionId>>()
        });
        for session in listing.await.unwrap_or_default() {
            if matches!(self.parts.sessions.store().session(session).await, Ok(None)) {
                self.remove(session).await;
            }
        }
    }

    async fn remove(&self, session: SessionId) {
        let folder = self.folder_of(session);
        let removed = tokio::task::spawn_blocking(move || match std::fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        });
        if let Ok(Err(error)) = removed.await {
            tracing::warn!(%session, %error, "could not delete the snapshots of a deleted session; trying again later");
        }
    }
}
