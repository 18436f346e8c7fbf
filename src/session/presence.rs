//! Who is looking at a session or job right now, so that nobody is notified of what they see anyway.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::time::Instant;

use super::viewers::RECENTLY;
use crate::model::StreamId;

/// Streams that somebody leaves are remembered; old ones are removed when there are this many.
const SWEEP_AT: usize = 256;

/// Who is looking. Only pages in view and readers that can answer count: a program that reads a log is nobody.
#[derive(Debug, Default)]
pub struct Presence {
    looking: Mutex<HashMap<StreamId, Looking>>,
}

#[derive(Debug)]
struct Looking {
    count: usize,
    last_left: Instant,
}

/// Somebody who is looking until this is dropped.
#[derive(Debug)]
pub struct PresenceGuard {
    presence: Arc<Presence>,
    stream: StreamId,
}

impl Presence {
    /// Counts somebody until the guard is dropped.
    pub fn enter(self: &Arc<Self>, stream: impl Into<StreamId>) -> PresenceGuard {
        let stream = stream.into();
        let mut looking = self.looking.lock();
        if looking.len() >= SWEEP_AT {
            looking.retain(|_, one| one.is_here());
        }
        looking.entry(stream).or_insert_with(|| Looking { count: 0, last_left: Instant::now() }).count += 1;
        PresenceGuard { presence: Arc::clone(self), stream }
    }

    /// Whether somebody is looking, or was a moment ago: pages poll.
    pub fn is_watched(&self, stream: StreamId) -> bool {
        self.looking.lock().get(&stream).is_some_and(Looking::is_here)
    }
}

impl Looking {
    fn is_here(&self) -> bool {
        self.count > 0 || self.last_left.elapsed() < RECENTLY
    }
}

impl Drop for PresenceGuard {
    fn drop(&mut self) {
        if let Some(one) = self.presence.looking.lock().get_mut(&self.stream) {
            one.count -= 1;
            one.last_left = Instant::now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::SessionId;

    #[tokio::test(start_paused = true)]
    async fn somebody_is_looking_until_a_moment_after_leaving() {
        let presence = Arc::new(Presence::default());
        let (one, other) = (SessionId::from_number(1), SessionId::from_number(2));
        assert!(!presence.is_watched(one.into()));
        let guard = presence.enter(one);
        assert!(presence.is_watched(one.into()) && !presence.is_watched(other.into()));
        drop(guard);
        assert!(presence.is_watched(one.into()), "a page polls");
        tokio::time::advance(RECENTLY).await;
        assert!(!presence.is_watched(one.into()));
    }

    #[tokio::test(start_paused = true)]
    async fn those_who_left_long_ago_are_forgotten() {
        let presence = Arc::new(Presence::default());
        for number in 1..5_000 {
            drop(presence.enter(SessionId::from_number(number)));
            tokio::time::advance(std::time::Duration::from_secs(1)).await;
        }
        assert!(presence.looking.lock().len() <= SWEEP_AT);
    }
}
