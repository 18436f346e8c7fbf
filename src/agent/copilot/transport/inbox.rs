//! The queue of messages for one session. The reader of the shared stream adds messages and never waits; the session
//! receives them. Bounded by bytes: a session that cannot keep up loses messages, and a marker shows where.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::message::FromProgram;

/// The most bytes in the queue. A single message may be larger; it is accepted if the queue is empty.
pub(super) const MOST_BYTES: usize = 16 * 1024 * 1024;
/// From here on, the reader yields to other tasks, so that a session that is slightly behind catches up.
const GIVES_WAY_FROM: usize = MOST_BYTES / 4;
/// The most requests accepted even if the queue is full. The program waits for each, so there are never many.
const MOST_BYTES_OF_REQUESTS: usize = 1024 * 1024;

#[derive(Debug, Default)]
struct Waiting {
    messages: VecDeque<FromProgram>,
    bytes: usize,
    /// A [`FromProgram::Dropped`] is queued, and only requests are added until the session has received everything.
    is_dropping: bool,
    has_ended: bool,
}

#[derive(Debug, Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    changed: Notify,
}

/// The reader's end. The queue ends when it is dropped.
#[derive(Debug)]
pub(super) struct InboxSender {
    shared: Arc<Shared>,
}

/// The session's end.
#[derive(Debug)]
pub(super) struct Inbox {
    shared: Arc<Shared>,
}

/// How full an inbox is after a message came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fullness {
    Fine,
    /// The session is behind: yield to it.
    Behind,
}

pub(super) fn inbox() -> (InboxSender, Inbox) {
    let shared = Arc::new(Shared::default());
    (InboxSender { shared: Arc::clone(&shared) }, Inbox { shared })
}

impl InboxSender {
    /// Adds a message, or drops it. Never waits.
    pub fn put(&self, message: FromProgram) -> Fullness {
        let mut waiting = self.shared.waiting.lock();
        let was_empty = waiting.messages.is_empty();
        let bytes = message.bytes();
        let is_request = matches!(message, FromProgram::Request { .. });
        let most = if is_request { MOST_BYTES + MOST_BYTES_OF_REQUESTS } else { MOST_BYTES };
        let is_dropped = !was_empty && (waiting.bytes + bytes > most || (waiting.is_dropping && !is_request));
        if !is_dropped {
            waiting.messages.push_back(message);
            waiting.bytes += bytes;
        } else if !std::mem::replace(&mut waiting.is_dropping, true) {
            waiting.messages.push_back(FromProgram::Dropped);
            waiting.bytes += FromProgram::Dropped.bytes();
        }
        let fullness = if waiting.bytes > GIVES_WAY_FROM { Fullness::Behind } else { Fullness::Fine };
        drop(waiting);
        if was_empty {
            self.shared.changed.notify_one();
        }
        fullness
    }
}

impl Drop for InboxSender {
    fn drop(&mut self) {
        self.shared.waiting.lock().has_ended = true;
        self.shared.changed.notify_one();
    }
}

impl Inbox {
    /// The next message; `None` when there will be no more. May be dropped at any point without losing anything.
    pub async fn recv(&mut self) -> Option<FromProgram> {
        loop {
            if let Some(message) = self.try_recv() {
                return Some(message);
            }
            {
                let waiting = self.shared.waiting.lock();
                if waiting.has_ended && waiting.messages.is_empty() {
                    return None;
                }
            }
            self.shared.changed.notified().await;
        }
    }

    /// The next message if one waits.
    pub fn try_recv(&mut self) -> Option<FromProgram> {
        let mut waiting = self.shared.waiting.lock();
        let message = waiting.messages.pop_front()?;
        waiting.bytes -= message.bytes();
        if waiting.messages.is_empty() {
            waiting.is_dropping = false;
        }
        Some(message)
    }

    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        self.shared.waiting.lock().bytes
    }
}

#[cfg(test)]
mod tests {
    use super::super::message::Frame;
    use super::*;

    fn message(json: &serde_json::Value) -> FromProgram {
        match Frame::read(json.to_string().into_bytes()) {
            Frame::Session { message, .. } => message,
            Frame::Client(_) => panic!("{json} is for a session"),
        }
    }

    fn event(bytes: usize) -> FromProgram {
        let data = serde_json::json!({ "text": "x".repeat(bytes) });
        let params = serde_json::json!({ "sessionId": "s", "event": { "type": "t", "data": data } });
        message(&serde_json::json!({ "method": "session.event", "params": params }))
    }

    fn request() -> FromProgram {
        let params = serde_json::json!({ "sessionId": "s" });
        message(&serde_json::json!({ "method": "userInput.request", "id": 1, "params": params }))
    }

    #[tokio::test]
    async fn what_a_session_does_not_take_is_bounded_and_it_learns_where_something_is_missing() {
        let (sender, mut inbox) = inbox();
        for _ in 0..1_000 {
            sender.put(event(100_000));
        }
        assert!(inbox.bytes() <= MOST_BYTES + 1_000, "{}", inbox.bytes());
        assert_eq!(sender.put(request()), Fullness::Behind);
        let (mut events, mut dropped, mut requests) = (0, 0, 0);
        while let Some(message) = inbox.try_recv() {
            match message {
                FromProgram::Event(_) => {
                    assert_eq!(dropped, 0, "nothing comes after the gap until the session has seen it");
                    events += 1;
                }
                FromProgram::Dropped => dropped += 1,
                FromProgram::Request { .. } => requests += 1,
            }
        }
        assert!((80..170).contains(&events), "{events}");
        assert_eq!((dropped, requests), (1, 1));
        assert_eq!(inbox.bytes(), 0);
        assert_eq!(sender.put(event(1)), Fullness::Fine);
        assert!(matches!(inbox.recv().await, Some(FromProgram::Event(_))), "it is taken again");
        drop(sender);
        assert!(inbox.recv().await.is_none());
    }

    #[tokio::test]
    async fn one_message_may_be_larger_than_all_that_may_wait() {
        let (sender, mut inbox) = inbox();
        sender.put(event(2 * MOST_BYTES));
        sender.put(event(1));
        assert!(matches!(inbox.recv().await, Some(FromProgram::Event(_))));
        assert!(matches!(inbox.recv().await, Some(FromProgram::Dropped)));
    }
}
