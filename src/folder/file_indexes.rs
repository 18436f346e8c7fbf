//! The files of folders that somebody is typing about, kept for a moment.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::FileIndex;

/// New files are found after this time.
const FRESH_FOR: Duration = Duration::from_secs(10);
/// The names of a large folder take some megabytes.
const MOST_KEPT: usize = 4;

/// Indexes of the folders that were asked for last.
#[derive(Debug, Default)]
pub struct FileIndexes {
    kept: Mutex<Vec<Kept>>,
}

#[derive(Debug)]
struct Kept {
    folder: PathBuf,
    index: Arc<FileIndex>,
    read_at: Instant,
}

impl FileIndexes {
    /// The files of a folder, if they were read a moment ago.
    pub fn get(&self, folder: &Path) -> Option<Arc<FileIndex>> {
        let mut kept = self.kept.lock();
        kept.retain(|one| one.read_at.elapsed() < FRESH_FOR);
        kept.iter().find(|one| one.folder == folder).map(|one| Arc::clone(&one.index))
    }

    /// Keeps the files of a folder for the next time.
    pub fn put(&self, folder: PathBuf, index: FileIndex) -> Arc<FileIndex> {
        let index = Arc::new(index);
        let mut kept = self.kept.lock();
        kept.retain(|one| one.folder != folder);
        if kept.len() >= MOST_KEPT {
            kept.remove(0);
        }
        kept.push(Kept { folder, index: Arc::clone(&index), read_at: Instant::now() });
        index
    }
}
