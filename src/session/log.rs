//! A session's log as readers see it: committed events, from the tail or from the store.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

use super::tail::{Tail, TailBudget, TailRead};
use super::viewers::{ViewerGuard, Viewers};
use crate::model::{Seq, SessionId, Timestamp};
use crate::store::{CommitObserver, EventPage, Store, StoreError, StoredEvent};

/// What a tail may hold for readers that are a little behind.
const WATCHED_TAIL_BYTES: usize = 16 * 1024 * 1024;
/// What a tail holds when nobody watches, or when all tails together are large.
const SMALL_TAIL_BYTES: usize = 64 * 1024;
const ALL_TAILS_BYTES: usize = 256 * 1024 * 1024;
/// A reader that polls is away for a moment between its calls and still counts as watching.
const RECENTLY: Duration = Duration::from_secs(10);

/// Where a log ends, for those who wait for more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The last committed number.
    pub committed: Seq,
    /// When the session was closed.
    pub closed_at: Option<Timestamp>,
    /// The last number of a closed session. It may lie ahead of `committed` while the disk refuses.
    closed_after: Seq,
    /// The session was deleted.
    pub deleted: bool,
    /// The store will never take what was numbered: a defect, the session has failed.
    pub broken: bool,
}

impl Head {
    /// Closed, with everything it will ever say committed.
    pub fn is_complete(&self) -> bool {
        self.closed_at.is_some() && self.committed >= self.closed_after
    }
}

/// The log of one session.
pub struct SessionLog {
    session: SessionId,
    store: Store,
    tail: Mutex<Tail>,
    head: watch::Sender<Head>,
    viewers: Arc<Viewers>,
    budget: TailBudget,
    /// Cancelled when the store has rejected events.
    broken: CancellationToken,
}

impl SessionLog {
    pub(super) fn new(
        session: SessionId,
        store: Store,
        committed: Seq,
        closed_at: Option<Timestamp>,
        viewers: Viewers,
        budget: TailBudget,
    ) -> Self {
        Self {
            session,
            store,
            tail: Mutex::new(Tail::new(committed, budget.clone())),
            head: watch::Sender::new(Head {
                committed,
                closed_at,
                closed_after: committed,
                deleted: false,
                broken: false,
            }),
            viewers: Arc::new(viewers),
            budget,
            broken: CancellationToken::new(),
        }
    }

    /// Where the log ends now.
    pub fn head(&self) -> Head {
        *self.head.borrow()
    }

    /// Hears of every change of the head.
    pub fn watch(&self) -> watch::Receiver<Head> {
        self.head.subscribe()
    }

    pub(super) fn broken(&self) -> &CancellationToken {
        &self.broken
    }

    /// As [`Self::attach`], unless that many watch already.
    pub fn try_attach(&self, limit: usize) -> Option<ViewerGuard> {
        self.viewers.try_attach(limit)
    }

    /// Counts a reader as watching until the guard is dropped.
    pub fn attach(&self) -> ViewerGuard {
        self.viewers.attach()
    }

    pub(super) fn unattended_since(&self) -> Option<Instant> {
        self.viewers.unattended_since()
    }

    /// The next committed events after a number: at most `limit`, at most `max_bytes` unless one alone is larger.
    /// Empty when there is nothing new.
    pub async fn read_after(&self, after: Seq, limit: usize, max_bytes: usize) -> Result<Vec<StoredEvent>, StoreError> {
        let read = self.tail.lock().read(after, limit, max_bytes);
        match read {
            TailRead::Events(events) => Ok(events),
            TailRead::CaughtUp => Ok(Vec::new()),
            TailRead::Behind => {
                let page = EventPage { after, before: None, limit, max_bytes };
                Ok(self.store.events(self.session, page).await?.0)
            }
        }
    }

    /// Puts numbered events where they will be read from, once committed.
    pub(super) fn publish(&self, events: impl Iterator<Item = StoredEvent>) {
        let mut tail = self.tail.lock();
        events.for_each(|event| tail.push(event));
    }

    /// Takes back what the store refused.
    pub(super) fn withdraw(&self, from: Seq) {
        self.tail.lock().withdraw(from);
    }

    /// Gives the tail's memory back; readers go on from the store.
    pub(super) fn let_go(&self) {
        self.tail.lock().evict(0);
    }

    pub(super) fn set_closed(&self, closed_at: Timestamp, after: Seq) {
        self.head.send_modify(|head| {
            head.closed_at = Some(closed_at);
            head.closed_after = after;
        });
    }

    pub(super) fn set_reopened(&self) {
        self.head.send_modify(|head| head.closed_at = None);
    }

    pub(super) fn set_deleted(&self) {
        self.head.send_modify(|head| head.deleted = true);
    }

    fn kept_bytes(&self) -> usize {
        let watched = self.unattended_since().is_none_or(|since| since.elapsed() < RECENTLY);
        if watched && self.budget.used() < ALL_TAILS_BYTES { WATCHED_TAIL_BYTES } else { SMALL_TAIL_BYTES }
    }
}

impl CommitObserver for SessionLog {
    fn committed(&self, through: Seq) {
        if self.broken.is_cancelled() {
            // Something before this was rejected; readers must not see what follows it as if nothing were missing.
            return;
        }
        {
            let mut tail = self.tail.lock();
            tail.commit(through);
            tail.evict(self.kept_bytes());
        }
        self.head.send_modify(|head| head.committed = head.committed.max(through));
    }

    fn rejected(&self, _: &StoreError) {
        self.broken.cancel();
        let committed = self.head().committed;
        self.tail.lock().withdraw(committed + 1);
        self.head.send_modify(|head| head.broken = true);
    }
}
