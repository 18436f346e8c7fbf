//! Who is watching a session and how far each reader has read. Requests depend on whether anybody could answer them,
//! and the tail on which events a reader still needs.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use parking_lot::Mutex;
use tokio::time::{Duration, Instant};

use crate::model::Seq;

/// A reader that polls is detached between its calls, and a broken stream reconnects: both still count as watching
/// for this long.
pub(super) const RECENTLY: Duration = Duration::from_secs(10);
/// Readers that leave within this time of each other are remembered together, at the lowest of their positions.
const LEFT_TOGETHER: Duration = Duration::from_secs(1);

/// Readers attached to one session right now, and to all of them.
#[derive(Debug)]
pub(super) struct Viewers {
    everywhere: Arc<AtomicUsize>,
    readers: Mutex<Attached>,
}

#[derive(Debug)]
struct Attached {
    next_id: u64,
    positions: HashMap<u64, Arc<AtomicU64>>,
    /// Where readers were that left a moment ago, oldest first.
    left: VecDeque<(Instant, Seq)>,
    last_left: Instant,
}

/// A reader that is attached until this is dropped.
#[derive(Debug)]
pub struct ViewerGuard {
    viewers: Arc<Viewers>,
    id: u64,
    position: Arc<AtomicU64>,
}

impl Viewers {
    pub fn new(everywhere: Arc<AtomicUsize>) -> Self {
        Self {
            everywhere,
            readers: Mutex::new(Attached {
                next_id: 0,
                positions: HashMap::new(),
                left: VecDeque::new(),
                last_left: Instant::now(),
            }),
        }
    }

    /// Attaches a reader that has everything up to `position`. `None` when `limit` readers are attached already.
    pub fn attach(self: &Arc<Self>, position: Seq, limit: usize) -> Option<ViewerGuard> {
        let mut readers = self.readers.lock();
        if readers.positions.len() >= limit {
            return None;
        }
        let id = readers.next_id;
        readers.next_id += 1;
        let position = Arc::new(AtomicU64::new(position));
        readers.positions.insert(id, Arc::clone(&position));
        self.everywhere.fetch_add(1, Ordering::Relaxed);
        Some(ViewerGuard { viewers: Arc::clone(self), id, position })
    }

    /// Since when nobody watches; `None` while somebody does.
    pub fn unattended_since(&self) -> Option<Instant> {
        let readers = self.readers.lock();
        readers.positions.is_empty().then_some(readers.last_left)
    }

    /// The number up to which every reader has read, those that left a moment ago included. `None` without readers.
    pub fn lowest_position(&self) -> Option<Seq> {
        let mut readers = self.readers.lock();
        while readers.left.front().is_some_and(|(at, _)| at.elapsed() >= RECENTLY) {
            readers.left.pop_front();
        }
        let attached = readers.positions.values().map(|position| position.load(Ordering::Relaxed));
        attached.chain(readers.left.iter().map(|(_, position)| *position)).min()
    }
}

impl ViewerGuard {
    /// The reader has everything up to this number.
    pub fn has_read(&self, through: Seq) {
        self.position.store(through, Ordering::Relaxed);
    }
}

impl Drop for ViewerGuard {
    fn drop(&mut self) {
        let (now, position) = (Instant::now(), self.position.load(Ordering::Relaxed));
        let mut readers = self.viewers.readers.lock();
        readers.positions.remove(&self.id);
        readers.last_left = now;
        match readers.left.back_mut() {
            Some((at, lowest)) if now - *at < LEFT_TOGETHER => *lowest = position.min(*lowest),
            _ => readers.left.push_back((now, position)),
        }
        while readers.left.front().is_some_and(|(at, _)| now - *at >= RECENTLY) {
            readers.left.pop_front();
        }
        self.viewers.everywhere.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_reader_that_left_counts_a_moment_longer() {
        let viewers = Arc::new(Viewers::new(Arc::default()));
        assert_eq!(viewers.lowest_position(), None);
        let fast = viewers.attach(0, 9).expect("room");
        let slow = viewers.attach(3, 9).expect("room");
        fast.has_read(8);
        assert_eq!(viewers.lowest_position(), Some(3));
        drop(slow);
        tokio::time::advance(RECENTLY.saturating_sub(Duration::from_millis(1))).await;
        assert_eq!((viewers.lowest_position(), viewers.readers.lock().positions.len()), (Some(3), 1));
        tokio::time::advance(Duration::from_millis(1)).await;
        assert_eq!(viewers.lowest_position(), Some(8));
        drop(fast);
        tokio::time::advance(RECENTLY).await;
        assert_eq!(viewers.lowest_position(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn readers_that_come_and_go_leave_a_bounded_trace() {
        let viewers = Arc::new(Viewers::new(Arc::default()));
        for position in 0..10_000 {
            drop(viewers.attach(position, 1).expect("the last one has left"));
            tokio::time::advance(Duration::from_millis(10)).await;
        }
        assert!(viewers.readers.lock().left.len() <= 11);
        assert!(viewers.lowest_position() >= Some(10_000 - 1_101), "those of the last seconds count");
    }

    #[test]
    fn the_limit_holds_at_the_moment_of_attaching() {
        let viewers = Arc::new(Viewers::new(Arc::default()));
        let first = viewers.attach(0, 1);
        assert!(first.is_some() && viewers.attach(0, 1).is_none());
        drop(first);
        assert!(viewers.attach(0, 1).is_some());
    }
}
