//! The status of many things, for the inbox: the latest of each, never a queue that could overflow.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::hash::Hash;

use parking_lot::Mutex;
use tokio::sync::watch;

/// The status of one thing.
pub trait FeedEntry: Clone + PartialEq + Debug {
    /// What tells things apart.
    type Key: Copy + Eq + Hash + Debug;
    /// Which thing.
    fn key(&self) -> Self::Key;
    /// Whether nothing more is to be said about it.
    fn is_over(&self) -> bool;
}

/// Readers ask for everything that changed since a version; a slow one misses intermediate states, never the last.
#[derive(Debug)]
pub struct StatusFeed<E: FeedEntry> {
    board: Mutex<Board<E>>,
    version: watch::Sender<u64>,
}

#[derive(Debug)]
struct Board<E: FeedEntry> {
    version: u64,
    entries: HashMap<E::Key, (u64, E)>,
    by_version: BTreeMap<u64, E::Key>,
}

impl<E: FeedEntry> Default for StatusFeed<E> {
    fn default() -> Self {
        let board = Board { version: 0, entries: HashMap::new(), by_version: BTreeMap::new() };
        Self { board: Mutex::new(board), version: watch::Sender::new(0) }
    }
}

impl<E: FeedEntry> StatusFeed<E> {
    /// Replaces the status of a thing, if it changed.
    pub fn post(&self, entry: E) {
        let mut board = self.board.lock();
        if !board.entries.get(&entry.key()).is_some_and(|(_, known)| *known == entry) {
            self.put(&mut board, entry);
        }
    }

    /// Adds a status, unless the thing has one, which is newer.
    pub fn publish_if_unknown(&self, entry: E) {
        let mut board = self.board.lock();
        if !board.entries.contains_key(&entry.key()) {
            self.put(&mut board, entry);
        }
    }

    fn put(&self, board: &mut Board<E>, entry: E) {
        let id = entry.key();
        board.version += 1;
        let version = board.version;
        if let Some((old, _)) = board.entries.insert(id, (version, entry)) {
            board.by_version.remove(&old);
        }
        board.by_version.insert(version, id);
        self.version.send_replace(version);
    }

    /// Removes what is over, except what is newer than a version, because slow readers may not have got it yet.
    pub fn forget_ended(&self, through: u64) {
        let mut board = self.board.lock();
        let over: Vec<(u64, E::Key)> = board
            .entries
            .values()
            .filter(|(version, entry)| *version <= through && entry.is_over())
            .map(|(version, entry)| (*version, entry.key()))
            .collect();
        for (version, id) in over {
            board.by_version.remove(&version);
            board.entries.remove(&id);
        }
    }

    /// The version of the newest entry.
    pub fn version(&self) -> u64 {
        self.board.lock().version
    }

    /// Everything newer than a version, oldest first, and the version to ask with next time.
    pub fn since(&self, version: u64) -> (u64, Vec<E>) {
        let board = self.board.lock();
        let entries = board
            .by_version
            .range(version + 1..)
            .filter_map(|(_, id)| board.entries.get(id).map(|(_, entry)| entry.clone()))
            .collect();
        (board.version, entries)
    }

    /// Subscribes to new versions.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.version.subscribe()
    }
}
