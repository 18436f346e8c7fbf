//! The status of all sessions, for the inbox: the latest of each, never a queue that could overflow.

use std::collections::{BTreeMap, HashMap};

use parking_lot::Mutex;
use serde::Serialize;
use tokio::sync::watch;

use crate::model::{RequestId, SessionId, SessionState, Timestamp};

/// A summary of an open request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingRequest {
    /// Its id.
    pub request_id: RequestId,
    /// `permission` or `question`.
    pub kind: &'static str,
    /// The request in one line.
    pub headline: String,
    /// When it was asked; `None` for requests of earlier versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked_at: Option<Timestamp>,
}

/// The status of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionStatus {
    /// Which.
    pub session_id: SessionId,
    /// Its title.
    pub title: Option<String>,
    /// What it is doing; `None` when it was deleted.
    pub state: Option<SessionState>,
    /// More about that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// What waits for a person.
    pub pending: Vec<PendingRequest>,
}

/// Readers ask for everything that changed since a version; a slow one misses intermediate states, never the last.
#[derive(Debug)]
pub struct SessionFeed {
    board: Mutex<Board>,
    version: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Board {
    version: u64,
    entries: HashMap<SessionId, (u64, SessionStatus)>,
    by_version: BTreeMap<u64, SessionId>,
}

impl Default for SessionFeed {
    fn default() -> Self {
        Self { board: Mutex::default(), version: watch::Sender::new(0) }
    }
}

impl SessionFeed {
    /// Replaces the status of a session, if it changed.
    pub fn post(&self, entry: SessionStatus) {
        let mut board = self.board.lock();
        if !board.entries.get(&entry.session_id).is_some_and(|(_, known)| *known == entry) {
            self.put(&mut board, entry);
        }
    }

    /// Adds a status, unless the session has one, which is newer.
    pub fn publish_if_unknown(&self, entry: SessionStatus) {
        let mut board = self.board.lock();
        if !board.entries.contains_key(&entry.session_id) {
            self.put(&mut board, entry);
        }
    }

    fn put(&self, board: &mut Board, entry: SessionStatus) {
        let id = entry.session_id;
        board.version += 1;
        let version = board.version;
        if let Some((old, _)) = board.entries.insert(id, (version, entry)) {
            board.by_version.remove(&old);
        }
        board.by_version.insert(version, id);
        self.version.send_replace(version);
    }

    /// Removes deleted and closed sessions, except those newer than a version, because slow readers may not have got
    /// them yet.
    pub fn forget_ended(&self, through: u64) {
        let mut board = self.board.lock();
        let is_over = |state: Option<SessionState>| matches!(state, None | Some(SessionState::Closed));
        let over: Vec<(u64, SessionId)> = board
            .entries
            .values()
            .filter(|(version, entry)| *version <= through && is_over(entry.state))
            .map(|(version, entry)| (*version, entry.session_id))
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
    pub fn since(&self, version: u64) -> (u64, Vec<SessionStatus>) {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(number: u32, state: SessionState) -> SessionStatus {
        SessionStatus {
            session_id: SessionId::from_number(number),
            title: None,
            state: Some(state),
            detail: None,
            pending: Vec::new(),
        }
    }

    #[test]
    fn what_is_read_from_the_store_does_not_replace_what_a_session_said() {
        let session_feed = SessionFeed::default();
        session_feed.post(entry(1, SessionState::Working));
        session_feed.publish_if_unknown(entry(1, SessionState::Ready));
        session_feed.publish_if_unknown(entry(2, SessionState::Ready));
        assert_eq!(session_feed.since(0).1, [entry(1, SessionState::Working), entry(2, SessionState::Ready)]);
    }

    #[test]
    fn a_slow_reader_gets_the_last_word_on_each_session_once() {
        let session_feed = SessionFeed::default();
        session_feed.post(entry(1, SessionState::Starting));
        session_feed.post(entry(2, SessionState::Ready));
        session_feed.post(entry(1, SessionState::Working));
        session_feed.post(entry(1, SessionState::Working));
        let (version, entries) = session_feed.since(0);
        assert_eq!(entries, [entry(2, SessionState::Ready), entry(1, SessionState::Working)]);
        assert_eq!(session_feed.since(version).1, []);
    }

    #[test]
    fn ended_sessions_are_forgotten_once_their_end_is_old() {
        let session_feed = SessionFeed::default();
        session_feed.post(entry(1, SessionState::Closed));
        session_feed.post(entry(2, SessionState::Ready));
        session_feed.post(SessionStatus { state: None, ..entry(3, SessionState::Ready) });
        let old = session_feed.version();
        session_feed.post(entry(4, SessionState::Closed));
        session_feed.forget_ended(old);
        assert_eq!(session_feed.since(0).1, [entry(2, SessionState::Ready), entry(4, SessionState::Closed)]);
    }
}
