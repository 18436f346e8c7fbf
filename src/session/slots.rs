//! How many agent processes run at once: a limit, and a line in which everybody is served in the order of their coming.
//!
//! What must always hold here: never more slots than the limit are held; whoever stops waiting leaves the line; nobody
//! is passed by somebody who came later.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::watch;

/// The slots of a server. Clones share them.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    line: Arc<watch::Sender<Line>>,
}

#[derive(Debug)]
struct Line {
    /// 0 for no limit.
    limit: usize,
    held: usize,
    waiting: VecDeque<u64>,
    tickets: u64,
}

impl Line {
    fn has_room(&self) -> bool {
        self.limit == 0 || self.held < self.limit
    }
}

/// The right to run one process. Dropping it gives it back.
#[derive(Debug)]
pub(super) struct Slot {
    line: Arc<watch::Sender<Line>>,
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.line.send_modify(|line| line.held -= 1);
    }
}

/// A place in the line. Dropping it leaves the line.
#[derive(Debug)]
pub(super) struct Place {
    ticket: u64,
    line: Arc<watch::Sender<Line>>,
    news: watch::Receiver<Line>,
    told: Option<usize>,
}

/// What happens to somebody who waits.
#[derive(Debug)]
pub(super) enum Served {
    /// So many are before them, themselves included.
    Position(usize),
    Slot(Slot),
}

impl Slots {
    /// 0 for as many as there are sessions.
    pub fn new(limit: usize) -> Self {
        let line = Line { limit, held: 0, waiting: VecDeque::new(), tickets: 0 };
        Self { line: Arc::new(watch::Sender::new(line)) }
    }

    pub fn limit(&self) -> usize {
        self.line.borrow().limit
    }

    /// Joins the line.
    pub fn join(&self) -> Place {
        let mut ticket = 0;
        self.line.send_modify(|line| {
            line.tickets += 1;
            ticket = line.tickets;
            line.waiting.push_back(ticket);
        });
        Place { ticket, line: Arc::clone(&self.line), news: self.line.subscribe(), told: None }
    }

    /// Waits until somebody waits: whoever holds a slot without need gives it up then.
    /// Does nothing until it is polled, because every step of every session makes one of these.
    pub async fn wanted(&self) {
        let mut news = self.line.subscribe();
        if news.wait_for(|line| !line.waiting.is_empty() && !line.has_room()).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// How many are held, and how many wait.
    pub fn figures(&self) -> (usize, usize) {
        let line = self.line.borrow();
        (line.held, line.waiting.len())
    }
}

impl Place {
    /// The next thing to know: another position, or the slot. May be dropped at any point without losing anything.
    pub async fn served(&mut self) -> Served {
        loop {
            let position = self.news.borrow_and_update().waiting.iter().position(|ticket| *ticket == self.ticket);
            if let Some(slot) = position.filter(|position| *position == 0).and_then(|_| self.take()) {
                return Served::Slot(slot);
            }
            let position = position.map_or(1, |position| position + 1);
            if self.told.replace(position) != Some(position) {
                return Served::Position(position);
            }
            if self.news.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// The slot, if it is one's turn and there is one.
    fn take(&self) -> Option<Slot> {
        let taken = self.line.send_if_modified(|line| {
            let is_served = line.has_room() && line.waiting.front() == Some(&self.ticket);
            if is_served {
                line.waiting.pop_front();
                line.held += 1;
            }
            is_served
        });
        taken.then(|| Slot { line: Arc::clone(&self.line) })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.line.send_if_modified(|line| {
            let before = line.waiting.len();
            line.waiting.retain(|ticket| *ticket != self.ticket);
            line.waiting.len() != before
        });
    }
}

#[cfg(test)]
mod tests {
    use std::task::Poll;

    use futures_util::poll;

    use super::*;

    async fn slot(place: &mut Place) -> Option<Slot> {
        loop {
            match poll!(Box::pin(place.served())) {
                Poll::Ready(Served::Slot(slot)) => return Some(slot),
                Poll::Ready(Served::Position(_)) => {}
                Poll::Pending => return None,
            }
        }
    }

    async fn position(place: &mut Place) -> usize {
        match place.served().await {
            Served::Position(position) => position,
            Served::Slot(_) => panic!("served"),
        }
    }

    #[tokio::test]
    async fn everybody_is_served_in_the_order_of_their_coming_and_knows_their_position() {
        let slots = Slots::new(1);
        let (mut first, mut second, mut third) = (slots.join(), slots.join(), slots.join());
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
    async fn whoever_goes_away_leaves_the_line_and_no_limit_is_none() {
        let slots = Slots::new(1);
        let (mut first, second, mut third) = (slots.join(), slots.join(), slots.join());
        let held = slot(&mut first).await.expect("there is one");
        drop(second);
        assert_eq!(position(&mut third).await, 1);
        drop(held);
        assert!(slot(&mut third).await.is_some());
        let free = Slots::new(0);
        let mut all = Vec::new();
        for _ in 0..100 {
            all.push(slot(&mut free.join()).await.expect("as many as one likes"));
        }
        assert_eq!(free.figures(), (100, 0));
    }

    #[tokio::test]
    async fn those_who_hold_a_slot_hear_that_somebody_waits_for_one() {
        let slots = Slots::new(1);
        let held = slot(&mut slots.join()).await.expect("there is one");
        let mut wanted = Box::pin(slots.wanted());
        assert!(poll!(&mut wanted).is_pending());
        let waiting = slots.join();
        wanted.await;
        drop(waiting);
        assert!(poll!(Box::pin(slots.wanted())).is_pending());
        drop(held);
    }
}
