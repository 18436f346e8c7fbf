//! Keeps the snapshots of all sessions within a limit.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::record::{Outcome, Record};
use super::reviews::{Shared, TAKEN_AT_ONCE};
use crate::folder::SnapshotStore;
use crate::model::SessionId;

const DELETED: &str = "The snapshots were deleted to make room (`limits.snapshot_bytes`).";

/// What one session takes.
struct Holding {
    session: SessionId,
    bytes: u64,
    used: SystemTime,
}

impl Shared {
    /// Deletes the snapshots of the sessions that have not worked for the longest time, until the rest is within the limit.
    /// Those of `current` stay. Returns how much is left.
    pub(super) async fn make_room(&self, current: Option<SessionId>) -> u64 {
        let limit = self.parts.sessions.settings().snapshot_bytes;
        // Nobody takes one meanwhile.
        let Ok(_places) = self.taking.acquire_many(TAKEN_AT_ONCE).await else { return 0 };
        let folder = self.parts.folder.clone();
        let deleted = tokio::task::spawn_blocking(move || delete_oldest(&folder, limit, current));
        deleted.await.unwrap_or(0)
    }
}

fn delete_oldest(folder: &Path, limit: u64, current: Option<SessionId>) -> u64 {
    let mut holdings = holdings(folder);
    holdings.sort_by_key(|holding| holding.used);
    let mut total: u64 = holdings.iter().map(|holding| holding.bytes).sum();
    for Holding { session, bytes, .. } in holdings {
        if total <= limit {
            break;
        }
        if Some(session) == current || bytes == 0 {
            continue;
        }
        match delete_snapshots(&folder.join(session.to_string())) {
            Ok(()) => {
                total = total.saturating_sub(bytes);
                tracing::info!(%session, bytes, "deleted the snapshots of a session to make room");
            }
            Err(error) => tracing::warn!(%session, %error, "could not delete the snapshots of a session"),
        }
    }
    total
}

fn holdings(folder: &Path) -> Vec<Holding> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let holding = |entry: std::fs::DirEntry| {
        let session: SessionId = entry.file_name().to_str()?.parse().ok()?;
        let used = Record::changed_at(&entry.path()).unwrap_or(SystemTime::UNIX_EPOCH);
        Some(Holding { session, bytes: SnapshotStore::in_folder(snapshots(&entry.path())).bytes(), used })
    };
    entries.filter_map(holding).collect()
}

/// The reason is recorded first, so that no turn names a snapshot that is gone.
fn delete_snapshots(folder: &Path) -> std::io::Result<()> {
    let mut record = Record::read(folder);
    record.replace_snapshots(&Outcome::Skipped(DELETED.to_owned()));
    record.write(folder)?;
    std::fs::remove_dir_all(snapshots(folder))
}

/// Where the snapshots of a session are, in its folder.
pub(super) fn snapshots(folder: &Path) -> PathBuf {
    folder.join("snapshots")
}
