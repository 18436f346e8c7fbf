//! What a caller gets: pieces that every dialect encodes in its own way.

use std::sync::Arc;

use parking_lot::Mutex;
use serde::Serialize;
use tokio::sync::watch;

use super::{CaptureError, ToolCall};
use crate::model::Usage;

/// A piece of an answer, in the order in which the model produced it. Exactly one piece ends an answer: [`Piece::End`] or
/// [`Piece::Failed`]; nothing follows it.
#[derive(Clone, Debug)]
pub enum Piece {
    /// More reasoning.
    Reasoning(String),
    /// More text.
    Text(String),
    /// Tool calls, complete and in order. At most one such piece, after all text.
    Calls(Vec<ToolCall>),
    /// The end.
    End {
        /// Why the model stopped.
        stop: StopReason,
        /// What the agent reported, summed over all model calls of this answer; `None` if it reported nothing.
        usage: Option<Usage>,
    },
    /// The answer failed, possibly after some text.
    Failed(CaptureError),
}

/// Why the model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It was done.
    Stop,
    /// It called tools.
    ToolCalls,
    /// The answer reached its length limit.
    Length,
    /// The model's service filtered the answer.
    ContentFilter,
}

/// How an answer was made; the value of the response header `x-flightdeck-capture`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A new session of the agent, which waits for the caller's next request.
    Fresh,
    /// A session of the agent that waited for this request.
    Held,
    /// A new session of the agent, destroyed after the answer.
    Destroyed,
}

impl Origin {
    /// The header's value.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Held => "held",
            Self::Destroyed => "destroyed",
        }
    }
}

/// The pieces of one answer, kept until the answer is no longer needed: a caller that hung up and asks again reads them
/// from the beginning.
#[derive(Clone)]
pub struct Recording(Arc<Recorded>);

struct Recorded {
    id: String,
    origin: Mutex<Origin>,
    pieces: Mutex<Vec<Piece>>,
    /// How many there are.
    count: watch::Sender<usize>,
    reading: watch::Sender<Reading>,
}

/// Whether somebody reads an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// A caller is connected.
    Connected,
    /// The caller hung up before the end.
    HungUp,
    /// The caller has all of it.
    Delivered,
}

impl Recording {
    /// A recording of an answer that is probably made like this.
    pub fn new(origin: Origin) -> Self {
        Self(Arc::new(Recorded {
            id: uuid::Uuid::new_v4().simple().to_string(),
            origin: Mutex::new(origin),
            pieces: Mutex::default(),
            count: watch::Sender::new(0),
            reading: watch::Sender::new(Reading::Connected),
        }))
    }

    /// Adds a piece. Nothing is added after the end.
    pub fn push(&self, piece: Piece) {
        let mut pieces = self.0.pieces.lock();
        if pieces.last().is_some_and(Piece::is_end) {
            return;
        }
        pieces.push(piece);
        self.0.count.send_replace(pieces.len());
    }

    /// Whether the answer is complete.
    pub fn has_ended(&self) -> bool {
        self.0.pieces.lock().last().is_some_and(Piece::is_end)
    }

    /// Whether this is the same recording.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// How the answer is made. Final once the first piece is there.
    pub fn origin(&self) -> Origin {
        *self.0.origin.lock()
    }

    /// The answer is made in another way than was expected.
    pub fn set_origin(&self, origin: Origin) {
        *self.0.origin.lock() = origin;
    }

    /// Whether its caller hung up.
    pub fn is_unheard(&self) -> bool {
        *self.0.reading.borrow() == Reading::HungUp
    }

    /// Whether somebody reads it, and changes of that.
    pub fn reading(&self) -> watch::Receiver<Reading> {
        self.0.reading.subscribe()
    }

    /// A reader from the beginning, if no other caller is connected and none has all of it.
    pub fn read_again(&self) -> Option<Answer> {
        let hung_up = self.0.reading.send_if_modified(|reading| {
            let hung_up = *reading == Reading::HungUp;
            *reading = if hung_up { Reading::Connected } else { *reading };
            hung_up
        });
        hung_up.then(|| self.reader())
    }

    /// The first reader.
    pub fn reader(&self) -> Answer {
        Answer { recording: self.clone(), count: self.0.count.subscribe(), next: 0 }
    }
}

impl Piece {
    /// Whether nothing follows it.
    pub fn is_end(&self) -> bool {
        matches!(self, Self::End { .. } | Self::Failed(_))
    }
}

/// An answer as its caller reads it. Dropping it before its end is a hang-up.
pub struct Answer {
    recording: Recording,
    count: watch::Receiver<usize>,
    next: usize,
}

impl Answer {
    /// An answer that is already complete, for tests.
    #[cfg(test)]
    pub fn of(pieces: Vec<Piece>) -> Self {
        let recording = Recording::new(Origin::Fresh);
        for piece in pieces {
            recording.push(piece);
        }
        recording.reader()
    }

    /// How it is made. Final once the first piece is there.
    pub fn origin(&self) -> Origin {
        self.recording.origin()
    }

    /// Its id: 32 hexadecimal digits, for the dialect to put its own prefix before.
    pub fn id(&self) -> &str {
        &self.recording.0.id
    }

    /// The next piece; `None` after the end. Cancel-safe.
    pub async fn next(&mut self) -> Option<Piece> {
        loop {
            self.count.borrow_and_update();
            let piece = self.recording.0.pieces.lock().get(self.next).cloned();
            match piece {
                Some(piece) => {
                    self.next += 1;
                    if piece.is_end() {
                        self.recording.0.reading.send_replace(Reading::Delivered);
                    }
                    return Some(piece);
                }
                None if *self.recording.0.reading.borrow() == Reading::Delivered => return None,
                None => {}
            }
            self.count.changed().await.ok()?;
        }
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.recording.0.reading.send_if_modified(|reading| {
            let hung_up = *reading == Reading::Connected;
            *reading = if hung_up { Reading::HungUp } else { *reading };
            hung_up
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end() -> Piece {
        Piece::End { stop: StopReason::Stop, usage: None }
    }

    #[tokio::test]
    async fn a_caller_that_hung_up_reads_the_answer_again_from_its_beginning() {
        let recording = Recording::new(Origin::Fresh);
        let mut first = recording.reader();
        recording.push(Piece::Text("one".to_owned()));
        assert!(matches!(first.next().await, Some(Piece::Text(text)) if text == "one"));
        assert!(recording.read_again().is_none(), "somebody still reads it");
        drop(first);
        assert_eq!(*recording.reading().borrow(), Reading::HungUp);
        let mut again = recording.read_again().expect("nobody reads it");
        recording.push(end());
        recording.push(Piece::Text("never".to_owned()));
        assert!(matches!(again.next().await, Some(Piece::Text(text)) if text == "one"));
        assert!(matches!(again.next().await, Some(Piece::End { .. })));
        assert!(again.next().await.is_none());
        drop(again);
        assert!(recording.read_again().is_none(), "it was delivered");
    }
}
