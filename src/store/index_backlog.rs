//! What the full-text index lacks: sessions whose logs have grown since they were indexed.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::model::{Seq, SessionId};

/// Sessions that the index is behind on. The store's writer adds to it, the indexer works through it.
#[derive(Debug, Default)]
pub struct IndexBacklog {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    sessions: BTreeMap<SessionId, Position>,
    /// Event numbers that were indexed since the index was complete.
    done: u64,
    is_compared: bool,
}

/// How far a session's index and its log go.
#[derive(Clone, Copy, Debug, Default)]
struct Position {
    indexed: Seq,
    last: Seq,
}

/// How much of the logs is indexed, in event numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexProgress {
    /// What is indexed of what was missing.
    pub done: u64,
    /// What was missing; 0 while that is not known yet.
    pub total: u64,
}

impl IndexBacklog {
    /// A session's log goes up to this number now.
    pub fn grew(&self, session: SessionId, last: Seq) {
        let position = |state: &mut State| {
            let position = state.sessions.entry(session).or_default();
            position.last = position.last.max(last);
        };
        position(&mut self.lock());
        self.changed.notify_one();
    }

    /// The index has a session up to `indexed`; its log goes up to `last`.
    pub fn compared(&self, session: SessionId, indexed: Seq, last: Seq) {
        let mut state = self.lock();
        let position = state.sessions.entry(session).or_default();
        position.indexed = indexed;
        position.last = position.last.max(last);
    }

    /// Everything was compared.
    pub fn finish_comparison(&self) {
        self.lock().is_compared = true;
        self.changed.notify_one();
    }

    /// The index must be compared with the logs again, because it was damaged.
    pub fn restart(&self) {
        *self.lock() = State::default();
        self.changed.notify_one();
    }

    /// Whether the index was compared with the logs.
    pub fn is_compared(&self) -> bool {
        self.lock().is_compared
    }

    /// The index has a session up to this number now.
    pub fn indexed(&self, session: SessionId, through: Seq) {
        let mut state = self.lock();
        let position = state.sessions.entry(session).or_default();
        let before = position.remaining();
        position.indexed = position.indexed.max(through);
        let done = before - position.remaining();
        state.done += done;
        if state.next().is_none() {
            state.done = 0;
        }
    }

    /// A session was deleted.
    pub fn forget(&self, session: SessionId) {
        self.lock().sessions.remove(&session);
    }

    /// The newest session that the index is behind on, and how far it is indexed.
    pub fn next(&self) -> Option<(SessionId, Seq)> {
        self.lock().next()
    }

    /// Resolves when something was added, now or since the last call.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }

    /// How far the index is; `None` if it is complete.
    pub fn progress(&self) -> Option<IndexProgress> {
        let state = self.lock();
        let remaining: u64 = state.sessions.values().map(Position::remaining).sum();
        if !state.is_compared {
            return Some(IndexProgress { done: 0, total: 0 });
        }
        (remaining > 0).then_some(IndexProgress { done: state.done, total: state.done + remaining })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn next(&self) -> Option<(SessionId, Seq)> {
        let behind = self.sessions.iter().rev().find(|(_, position)| position.remaining() > 0);
        behind.map(|(session, position)| (*session, position.indexed))
    }
}

impl Position {
    fn remaining(&self) -> u64 {
        self.last.saturating_sub(self.indexed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_counts_what_was_missing_and_ends_when_nothing_is() {
        let backlog = IndexBacklog::default();
        let (old, new) = (SessionId::from_number(1), SessionId::from_number(2));
        assert_eq!(backlog.progress(), Some(IndexProgress { done: 0, total: 0 }), "not known yet");
        backlog.compared(old, 10, 30);
        backlog.compared(new, 5, 5);
        backlog.finish_comparison();
        assert_eq!(backlog.progress(), Some(IndexProgress { done: 0, total: 20 }));
        backlog.grew(new, 7);
        assert_eq!(backlog.next(), Some((new, 5)), "the newest first");
        backlog.indexed(new, 7);
        assert_eq!(backlog.progress(), Some(IndexProgress { done: 2, total: 22 }));
        assert_eq!(backlog.next(), Some((old, 10)));
        backlog.indexed(old, 30);
        assert_eq!((backlog.progress(), backlog.next()), (None, None));
        backlog.grew(old, 31);
        assert_eq!(backlog.progress(), Some(IndexProgress { done: 0, total: 1 }));
        backlog.forget(old);
        assert_eq!(backlog.progress(), None);
    }
}
