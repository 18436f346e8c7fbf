//! The process limit: how many agent processes may run at once, with a fair queue.
//!
//! Invariants: no more slots are held than the limit allows, a dropped request leaves the queue, and requests are
//! served in order.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use tokio::sync::watch;

/// The slots of a server. Clones share them.
#[derive(Clone, Debug)]
pub(super) struct ProcessSlots {
    queue: Arc<watch::Sender<Queue>>,
}

#[derive(Debug)]
struct Queue {
    /// 0 for no limit.
    limit: usize,
    held: usize,
    waiting: VecDeque<u64>,
    tickets: u64,
}

impl Queue {
    fn has_room(&self) -> bool {
        self.limit == 0 || self.held < self.limit
    }
}

/// The right to run one agent process. Dropping it releases the slot.
#[derive(Debug)]
pub struct ProcessSlot {
    queue: Arc<watch::Sender<Queue>>,
}

impl Drop for ProcessSlot {
    fn drop(&mut self) {
        self.queue.send_modify(|queue| queue.held -= 1);
    }
}

/// A request for a slot. Dropping it leaves the queue.
#[derive(Debug)]
pub struct SlotRequest {
    ticket: u64,
    queue: Arc<watch::Sender<Queue>>,
    changes: watch::Receiver<Queue>,
    reported: Option<QueuePosition>,
}

/// The position of a request in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuePosition {
    /// Starts at 1; the first request gets the next free slot.
    pub position: usize,
    /// The process limit.
    pub limit: usize,
}

impl fmt::Display for QueuePosition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { position, limit } = self;
        write!(
            formatter,
            "waiting for one of {limit} agent processes (limits.agent_processes), position {position} in the queue"
        )
    }
}

/// The next step of a request.
#[derive(Debug)]
pub enum SlotStep {
    /// Its position in the queue changed.
    Queued(QueuePosition),
    /// It got its slot.
    Granted(ProcessSlot),
}

impl ProcessSlots {
    /// 0 for no limit.
    pub fn new(limit: usize) -> Self {
        let queue = Queue { limit, held: 0, waiting: VecDeque::new(), tickets: 0 };
        Self { queue: Arc::new(watch::Sender::new(queue)) }
    }

    /// Changes the limit; 0 for none. Slots that are held stay held.
    pub fn set_limit(&self, limit: usize) {
        self.queue.send_modify(|queue| queue.limit = limit);
    }

    /// Joins the queue.
    pub fn request(&self) -> SlotRequest {
        let mut ticket = 0;
        self.queue.send_modify(|queue| {
            queue.tickets += 1;
            ticket = queue.tickets;
            queue.waiting.push_back(ticket);
        });
        SlotRequest { ticket, queue: Arc::clone(&self.queue), changes: self.queue.subscribe(), reported: None }
    }

    /// Resolves when a request is waiting and no slot is free, so that an idle holder can release its slot.
    /// Lazy until polled, because every step of every session creates one.
    pub async fn wanted(&self) {
        let mut changes = self.queue.subscribe();
        if changes.wait_for(|queue| !queue.waiting.is_empty() && !queue.has_room()).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// The number of held slots and of waiting requests.
    pub fn figures(&self) -> (usize, usize) {
        let queue = self.queue.borrow();
        (queue.held, queue.waiting.len())
    }
}

impl SlotRequest {
    /// The next change: another position, or the slot. Cancel-safe.
    pub async fn next(&mut self) -> SlotStep {
        loop {
            let (position, limit) = {
                let queue = self.changes.borrow_and_update();
                (queue.waiting.iter().position(|ticket| *ticket == self.ticket), queue.limit)
            };
            if let Some(slot) = position.filter(|position| *position == 0).and_then(|_| self.take()) {
                return SlotStep::Granted(slot);
            }
            let position = QueuePosition { position: position.map_or(1, |position| position + 1), limit };
            if self.reported.replace(position) != Some(position) {
                return SlotStep::Queued(position);
            }
            if self.changes.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// The slot, for callers that do not show a position.
    pub async fn granted(mut self) -> ProcessSlot {
        loop {
            if let SlotStep::Granted(slot) = self.next().await {
                return slot;
            }
        }
    }

    /// The slot, if this request is first and one is free.
    fn take(&self) -> Option<ProcessSlot> {
        let taken = self.queue.send_if_modified(|queue| {
            let is_granted = queue.has_room() && queue.waiting.front() == Some(&self.ticket);
            if is_granted {
                queue.waiting.pop_front();
                queue.held += 1;
            }
            is_granted
        });
        taken.then(|| ProcessSlot { queue: Arc::clone(&self.queue) })
    }
}

impl Drop for SlotRequest {
    fn drop(&mut self) {
        self.queue.send_if_modified(|queue| {
            let before = queue.waiting.len();
            queue.waiting.retain(|ticket| *ticket != self.ticket);
            queue.waiting.len() != before
        });
    }
}

#[cfg(test)]
mod tests {
    use std::task::Poll;

    use futures_util::poll;

    use super::*;

    async fn slot(request: &mut SlotRequest) -> Option<ProcessSlot> {
        loop {
            match poll!(Box::pin(request.next())) {
                Poll::Ready(SlotStep::Granted(slot)) => return Some(slot),
                Poll::Ready(SlotStep::Queued(_)) => {}
                Poll::Pending => return None,
            }
        }
    }

    async fn position(request: &mut SlotRequest) -> usize {
        match request.next().await {
            SlotStep::Queued(position) => position.position,
            SlotStep::Granted(_) => panic!("granted"),
        }
    }

    #[tokio::test]
    async fn requests_are_granted_in_order_and_know_their_position() {
        let slots = ProcessSlots::new(1);
        let (mut first, mut second, mut third) = (slots.request(), slots.request(), slots.request());
        let held = slot(&mut first).await.expect("there is one");
        assert_eq!((position(&mut second).await, position(&mut third).await), (1, 2));
        assert!(slot(&mut third).await.is_none());
        assert_eq!(slots.figures(), (1, 2));
        drop(held);
        assert!(slot(&mut third).await.is_none(), "the second one goes first");
        let held = slot(&mut second).await.expect("its turn");
        assert_eq!(position(&mut third).await, 1);
        drop(held);
        assert!(slot(&mut third).await.is_some());
        assert_eq!(slots.figures(), (0, 0));
    }

    #[tokio::test]
    async fn a_dropped_request_leaves_the_queue_and_no_limit_is_none() {
        let slots = ProcessSlots::new(1);
        let (mut first, second, mut third) = (slots.request(), slots.request(), slots.request());
        let held = slot(&mut first).await.expect("there is one");
        drop(second);
        assert_eq!(position(&mut third).await, 1);
        drop(held);
        assert!(slot(&mut third).await.is_some());
        let free = ProcessSlots::new(0);
        let mut all = Vec::new();
        for _ in 0..100 {
            all.push(slot(&mut free.request()).await.expect("no limit"));
        }
        assert_eq!(free.figures(), (100, 0));
    }

    #[tokio::test]
    async fn holders_learn_that_somebody_waits() {
        let slots = ProcessSlots::new(1);
        let held = slot(&mut slots.request()).await.expect("there is one");
        let mut wanted = Box::pin(slots.wanted());
        assert!(poll!(&mut wanted).is_pending());
        let waiting = slots.request();
        wanted.await;
        drop(waiting);
        assert!(poll!(Box::pin(slots.wanted())).is_pending());
        drop(held);
    }

    #[tokio::test]
    async fn a_higher_limit_lets_the_next_request_through() {
        let slots = ProcessSlots::new(1);
        let _held = slot(&mut slots.request()).await.expect("there is one");
        let mut waiting = slots.request();
        assert!(slot(&mut waiting).await.is_none());
        slots.set_limit(2);
        assert!(slot(&mut waiting).await.is_some());
    }
}
