//! Large events that readers had to fetch from the store, shared among those that fetch the same one: many readers that
//! come late and stop at the same long message hold it once.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use bytes::Bytes;

use crate::model::{Seq, Timestamp};
use crate::store::StoredEvent;

/// Events from this size on are shared.
const SHARED_FROM: usize = 64 * 1024;

/// By the number after which the event was read. The log only grows, so the event that followed a number once is the
/// one that follows it now.
#[derive(Debug, Default)]
pub(super) struct LargeReads(HashMap<Seq, LargeEvent>);

#[derive(Debug)]
struct LargeEvent {
    seq: Seq,
    time: Timestamp,
    body: Weak<Bytes>,
}

/// Lives as long as any slice of the event's bytes.
struct Owner(Arc<Bytes>);

impl AsRef<[u8]> for Owner {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl LargeReads {
    /// The event that follows this number, if it is large and some reader still holds it.
    pub fn find(&self, after: Seq) -> Option<StoredEvent> {
        let event = self.0.get(&after)?;
        let body = Bytes::from_owner(Owner(event.body.upgrade()?));
        Some(StoredEvent { seq: event.seq, time: event.time, body })
    }

    /// Shares a page that consists of one large event: readers that ask for it while it is held get the same bytes.
    pub fn share(&mut self, after: Seq, page: &mut [StoredEvent]) {
        let [event] = page else { return };
        if event.body.len() < SHARED_FROM {
            return;
        }
        let body = Arc::new(std::mem::take(&mut event.body));
        self.0.retain(|_, event| event.body.strong_count() > 0);
        self.0.insert(after, LargeEvent { seq: event.seq, time: event.time, body: Arc::downgrade(&body) });
        event.body = Bytes::from_owner(Owner(body));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(seq: Seq, size: usize) -> StoredEvent {
        StoredEvent { seq, time: Timestamp::from_millis(0), body: vec![b'x'; size].into() }
    }

    #[test]
    fn a_large_event_is_held_once_and_only_while_somebody_reads_it() {
        let mut reads = LargeReads::default();
        let mut page = [event(8, SHARED_FROM)];
        let before = page[0].body.as_ptr();
        reads.share(7, &mut page);
        let last_piece = page[0].body.split_off(10);
        let found = reads.find(7).expect("held");
        assert_eq!((found.seq, found.body.as_ptr()), (8, before), "the same bytes");
        drop((page, found));
        assert!(reads.find(7).is_some(), "a piece of it is held");
        drop(last_piece);
        assert_eq!(reads.find(7), None);
        reads.share(9, &mut [event(10, SHARED_FROM)]);
        assert_eq!(reads.0.len(), 1, "what nobody holds is forgotten");
    }

    #[test]
    fn small_events_are_not_remembered() {
        let mut reads = LargeReads::default();
        reads.share(0, &mut [event(1, SHARED_FROM - 1)]);
        reads.share(1, &mut [event(2, SHARED_FROM), event(3, 1)]);
        assert!(reads.0.is_empty());
    }
}
