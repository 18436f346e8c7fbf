//! A session's log as readers see it: committed events, from the tail or from the store.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

use super::answerers::Answerers;
use super::large_reads::LargeReads;
use super::tail::{Tail, TailBudget, TailRead};
use super::viewers::{RECENTLY, ViewerGuard, Viewers};
use crate::model::{Seq, SessionId, Timestamp};
use crate::store::{CommitObserver, EventPage, Store, StoreError, StoredEvent};

/// An attached reader that is less than this behind the end of the log gets every event, deltas of ended blocks
/// included.
const WATCHED_TAIL_BYTES: usize = 16 * 1024 * 1024;
/// What a watched tail holds although every attached reader has it, for new readers.
const NEWCOMERS_TAIL_BYTES: usize = 1024 * 1024;
/// What a tail holds when nobody watches, or when all tails together are large.
const SMALL_TAIL_BYTES: usize = 64 * 1024;
const ALL_TAILS_BYTES: usize = 256 * 1024 * 1024;
/// When to check a tail again that a reader still needs.
const NEXT_LOOK: Duration = Duration::from_secs(5);

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
    /// The store rejected numbered events for good: a bug; the session has failed.
    pub broken: bool,
}

impl Head {
    /// Closed, with all of its events committed.
    pub fn is_complete(&self) -> bool {
        self.closed_at.is_some() && self.committed >= self.closed_after
    }
}

/// The log of one session.
pub struct SessionLog {
    session: SessionId,
    store: Store,
    tail: Mutex<Tail>,
    /// Locked while a reader that is behind reads from the store: one at a time, so that they can share what is large
    /// and do not crowd out the readers of other sessions.
    behind: tokio::sync::Mutex<LargeReads>,
    head: watch::Sender<Head>,
    viewers: Arc<Viewers>,
    answerers: Arc<Answerers>,
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
            behind: tokio::sync::Mutex::default(),
            head: watch::Sender::new(Head {
                committed,
                closed_at,
                closed_after: committed,
                deleted: false,
                broken: false,
            }),
            viewers: Arc::new(viewers),
            answerers: Arc::default(),
            budget,
            broken: CancellationToken::new(),
        }
    }

    /// Those who read this session and could answer its requests.
    pub fn answerers(&self) -> &Arc<Answerers> {
        &self.answerers
    }

    /// Where the log ends now.
    pub fn head(&self) -> Head {
        *self.head.borrow()
    }

    /// Subscribes to changes of the head.
    pub fn watch(&self) -> watch::Receiver<Head> {
        self.head.subscribe()
    }

    pub(super) fn broken(&self) -> &CancellationToken {
        &self.broken
    }

    /// Counts a reader that has everything up to `position` as watching until the guard is dropped. `None` when `limit`
    /// readers watch already.
    pub fn attach(&self, position: Seq, limit: usize) -> Option<ViewerGuard> {
        self.viewers.attach(position, limit)
    }

    pub(super) fn unattended_since(&self) -> Option<Instant> {
        self.viewers.unattended_since()
    }

    /// The next committed events after a number: at most `limit`, at most `max_bytes` unless one alone is larger.
    /// Empty when there is nothing new.
    pub async fn read_after(&self, after: Seq, limit: usize, max_bytes: usize) -> Result<Vec<StoredEvent>, StoreError> {
        let mut after = after;
        loop {
            let read = {
                let mut tail = self.tail.lock();
                let read = tail.read(after, limit, max_bytes);
                if read == TailRead::CaughtUp {
                    self.drop_what_everybody_has(&mut tail);
                }
                read
            };
            let through = match read {
                TailRead::Events(events) => return Ok(events),
                TailRead::CaughtUp => return Ok(Vec::new()),
                TailRead::Behind(through) => through,
            };
            let mut events = self.read_from_store(after, limit, max_bytes).await?;
            // The store has dropped the deltas of ended blocks; the tail still has its part of them.
            events.truncate(events.partition_point(|event| event.seq <= through));
            if !events.is_empty() {
                return Ok(events);
            }
            after = through;
        }
    }

    async fn read_from_store(
        &self,
        after: Seq,
        limit: usize,
        max_bytes: usize,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        let mut large = self.behind.lock().await;
        if let Some(event) = large.find(after) {
            return Ok(vec![event]);
        }
        let page = EventPage { after, before: None, limit, max_bytes };
        let (mut events, _) = self.store.events(self.session, page).await?;
        large.share(after, &mut events);
        Ok(events)
    }

    /// Puts numbered events into the tail, before they are appended: readers find them there once they are committed.
    pub(super) fn stage(&self, events: impl Iterator<Item = StoredEvent>) {
        let mut tail = self.tail.lock();
        events.for_each(|event| tail.push(event));
    }

    /// Withdraws events that the store refused.
    pub(super) fn withdraw(&self, from: Seq) {
        self.tail.lock().withdraw(from);
    }

    /// Frees the tail's memory, except for what a reader in the window still needs. Returns when to call this again.
    pub(super) fn release_tail(&self) -> Option<Instant> {
        let lowest = self.viewers.lowest_position();
        let mut tail = self.tail.lock();
        tail.evict_through(lowest.unwrap_or(Seq::MAX), 0);
        if self.budget.used() >= ALL_TAILS_BYTES {
            tail.evict(SMALL_TAIL_BYTES);
        }
        (!tail.is_empty()).then(|| Instant::now() + NEXT_LOOK)
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

    /// Frees what every attached reader has, except for a little. This is done with every commit, and when a reader has
    /// caught up: after a turn there is no other commit, and the end of a long message would stay for seconds.
    fn drop_what_everybody_has(&self, tail: &mut Tail) {
        if tail.bytes() > NEWCOMERS_TAIL_BYTES
            && let Some(lowest) = self.viewers.lowest_position()
        {
            tail.evict_through(lowest, NEWCOMERS_TAIL_BYTES);
        }
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
            self.drop_what_everybody_has(&mut tail);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{DataFolder, StoreSettings};

    const LIMIT: usize = 100;
    const BYTES: usize = 1 << 20;

    /// A log with three events that only the tail has, as those of a block whose deltas the store has dropped.
    fn log(budget: TailBudget) -> (tempfile::TempDir, SessionLog) {
        let folder = tempfile::tempdir().expect("a folder");
        let data = DataFolder::lock(folder.path()).expect("locked");
        let store = Store::open(&data, StoreSettings::default()).expect("opened");
        let viewers = Viewers::new(Arc::default());
        let log = SessionLog::new(SessionId::from_number(1), store, 0, None, viewers, budget);
        log.stage((1..=3).map(event));
        log.committed(3);
        (folder, log)
    }

    fn event(seq: Seq) -> StoredEvent {
        StoredEvent { seq, time: Timestamp::from_millis(0), body: vec![b'x'; 100].into() }
    }

    async fn seqs(log: &SessionLog, after: Seq) -> Vec<Seq> {
        log.read_after(after, LIMIT, BYTES).await.expect("read").iter().map(|event| event.seq).collect()
    }

    #[tokio::test]
    async fn the_tail_is_kept_for_an_attached_reader_until_it_has_read_it() {
        let (_folder, log) = log(TailBudget::default());
        let reader = log.attach(0, LIMIT).expect("room");
        assert!(log.release_tail().is_some(), "to be called again");
        assert_eq!(seqs(&log, 0).await, [1, 2, 3]);
        reader.has_read(2);
        assert!(log.release_tail().is_some());
        assert_eq!(seqs(&log, 2).await, [3]);
        reader.has_read(3);
        assert_eq!((log.release_tail(), log.budget.used()), (None, 0));
    }

    #[tokio::test]
    async fn while_every_reader_keeps_up_little_is_held() {
        let budget = TailBudget::default();
        let (_folder, log) = log(budget.clone());
        let fast = log.attach(3, LIMIT).expect("room");
        let slow = log.attach(3, LIMIT).expect("room");
        log.stage((4..=20_000).map(event));
        log.committed(20_000);
        fast.has_read(20_000);
        assert_eq!(log.read_after(3, 1, 1).await.expect("read")[0].seq, 4, "the slow one finds the next event");
        slow.has_read(19_999);
        log.stage(std::iter::once(event(20_001)));
        log.committed(20_001);
        assert!(budget.used() <= NEWCOMERS_TAIL_BYTES, "{}", budget.used());
        assert_eq!(seqs(&log, 19_999).await, [20_000, 20_001]);
    }

    #[tokio::test]
    async fn when_the_slowest_reader_has_caught_up_a_long_message_is_not_held() {
        let budget = TailBudget::default();
        let (_folder, log) = log(budget.clone());
        let fast = log.attach(3, LIMIT).expect("room");
        let slow = log.attach(3, LIMIT).expect("room");
        log.stage((4..=20_000).map(event));
        log.stage(std::iter::once(StoredEvent { body: vec![b'x'; 20_000_000].into(), ..event(20_001) }));
        log.committed(20_001);
        fast.has_read(20_001);
        assert!(seqs(&log, 20_001).await.is_empty());
        assert_eq!(log.read_after(3, 1, 1).await.expect("read")[0].seq, 4, "the slow one finds the next event");
        slow.has_read(20_001);
        assert!(seqs(&log, 20_001).await.is_empty());
        assert!(budget.used() <= NEWCOMERS_TAIL_BYTES, "{}", budget.used());
    }

    #[tokio::test(start_paused = true)]
    async fn a_reader_that_left_may_come_back_for_the_rest_for_a_moment() {
        let (_folder, log) = log(TailBudget::default());
        drop(log.attach(1, LIMIT));
        tokio::time::advance(RECENTLY.saturating_sub(Duration::from_millis(1))).await;
        assert!(log.release_tail().is_some());
        assert_eq!(seqs(&log, 1).await, [2, 3]);
        tokio::time::advance(Duration::from_millis(1)).await;
        assert_eq!((log.release_tail(), log.budget.used()), (None, 0));
    }

    #[tokio::test]
    async fn a_reader_that_does_not_read_holds_little_when_all_tails_are_large() {
        let budget = TailBudget::default();
        let (_folder, log) = log(budget.clone());
        let _stalled = log.attach(0, LIMIT).expect("room");
        log.stage((4..=10_000).map(event));
        log.committed(10_000);
        let mut other = Tail::new(0, budget.clone());
        other.push(StoredEvent { body: vec![b'x'; ALL_TAILS_BYTES].into(), ..event(1) });
        assert!(log.release_tail().is_some());
        drop(other);
        assert!(budget.used() <= SMALL_TAIL_BYTES, "{}", budget.used());
    }
}
