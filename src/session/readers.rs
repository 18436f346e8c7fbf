//! The portal's readers of one list of responses: the shared cursor of `live` (the empty token) and one per token.

use std::collections::HashMap;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::sync::futures::Notified;
use tokio::time::{Duration, Instant};

use super::clock::now;
use crate::model::{Seq, StreamId};
use crate::store::ReaderPosition;

/// Tokens unused for this long are replaced by new ones when a session has reached its limit.
const MAY_BE_REPLACED_AFTER: Duration = Duration::from_mins(1);

/// A token in use is saved at least this often, so that it does not expire in the store.
const SAVED_AT_LEAST_EVERY: Duration = Duration::from_hours(1);

/// A caller that hung up and calls again at once may arrive before its old call has ended.
const RELEASE_WAIT: Duration = Duration::from_millis(500);

/// The token of the shared cursor.
pub const SHARED: &str = "";

/// The readers of a session, a job or a task.
#[derive(Debug)]
pub struct Readers {
    cursors: Mutex<HashMap<String, Cursor>>,
    limit: usize,
    finished: Notify,
}

#[derive(Clone, Debug)]
struct Cursor {
    position: Seq,
    /// It got the response that the session is closed.
    done: bool,
    /// A call is in progress.
    busy: bool,
    /// Its position is not saved yet.
    unsaved: bool,
    last_used: Instant,
    /// When its position was last saved: an idle one is saved occasionally too, or it would expire in the store.
    last_saved: Instant,
}

/// Why a reader cannot begin to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReaderRefused {
    /// Another call with this token is in progress.
    Busy,
    /// It got the response that the session is closed.
    Done,
    /// The token is new, and new ones are not allowed any more.
    NewReadersRefused,
    /// There are as many as there may be.
    TooMany,
}

/// How a new token may begin.
#[derive(Clone, Copy, Debug)]
pub enum NewReader {
    /// After this event.
    StartsAfter(Seq),
    /// Not at all.
    Refused,
}

impl Readers {
    /// Those that the store has, and at most `limit` tokens.
    pub fn new(saved: Vec<ReaderPosition>, limit: usize) -> Self {
        let cursors = saved
            .into_iter()
            .map(|reader| {
                let cursor = Cursor {
                    position: reader.position,
                    done: reader.done,
                    busy: false,
                    unsaved: false,
                    last_used: Instant::now(),
                    last_saved: Instant::now(),
                };
                (reader.token, cursor)
            })
            .collect();
        Self { cursors: Mutex::new(cursors), limit, finished: Notify::new() }
    }

    /// Marks the reader as busy and returns its position.
    pub fn begin(&self, token: &str, new_reader: NewReader) -> Result<Seq, ReaderRefused> {
        let mut cursors = self.cursors.lock();
        if !cursors.contains_key(token) {
            let NewReader::StartsAfter(position) = new_reader else { return Err(ReaderRefused::NewReadersRefused) };
            if token != SHARED {
                make_room(&mut cursors, self.limit)?;
            }
            let cursor = Cursor {
                position,
                done: false,
                busy: false,
                unsaved: true,
                last_used: Instant::now(),
                last_saved: Instant::now(),
            };
            cursors.insert(token.to_owned(), cursor);
        }
        let Some(cursor) = cursors.get_mut(token) else { return Err(ReaderRefused::NewReadersRefused) };
        cursor.last_used = Instant::now();
        cursor.unsaved |= cursor.last_saved.elapsed() > SAVED_AT_LEAST_EVERY;
        if cursor.busy {
            return Err(ReaderRefused::Busy);
        }
        if cursor.done {
            return Err(ReaderRefused::Done);
        }
        cursor.busy = true;
        Ok(cursor.position)
    }

    /// As [`Self::begin`], and waits a moment for an earlier call to release the reader.
    pub async fn claim(&self, token: &str, new_reader: NewReader) -> Result<Seq, ReaderRefused> {
        let deadline = Instant::now() + RELEASE_WAIT;
        loop {
            // Created before checking, so that a call that ends in between is not missed.
            let finish = self.next_finish();
            match self.begin(token, new_reader) {
                Err(ReaderRefused::Busy) => {
                    tokio::time::timeout_at(deadline, finish).await.map_err(|_| ReaderRefused::Busy)?;
                }
                other => return other,
            }
        }
    }

    /// The call is over.
    pub fn finish(&self, token: &str) {
        if let Some(cursor) = self.cursors.lock().get_mut(token) {
            cursor.busy = false;
            cursor.last_used = Instant::now();
        }
        self.finished.notify_waiters();
    }

    /// Resolves when a call ends that is in progress now.
    fn next_finish(&self) -> Notified<'_> {
        self.finished.notified()
    }

    /// The reader has everything up to this event.
    pub fn advance(&self, token: &str, position: Seq) {
        if let Some(cursor) = self.cursors.lock().get_mut(token) {
            cursor.position = cursor.position.max(position);
            cursor.unsaved = true;
        }
    }

    /// The reader is about to get the response that the session is closed. Returns whether it still is: a session that
    /// is reopened at the same moment is either seen as open here, or clears the mark afterwards.
    pub fn done(&self, token: &str, still_closed: impl FnOnce() -> bool) -> bool {
        let mut cursors = self.cursors.lock();
        let closed = still_closed();
        if closed && let Some(cursor) = cursors.get_mut(token) {
            cursor.done = true;
            cursor.unsaved = true;
        }
        closed
    }

    /// Whether a position is not saved yet.
    pub fn has_unsaved(&self) -> bool {
        self.cursors.lock().values().any(|cursor| cursor.unsaved)
    }

    /// The session was reopened: readers continue from where they were.
    pub fn reopen(&self) {
        for cursor in self.cursors.lock().values_mut() {
            cursor.done = false;
            cursor.unsaved = true;
        }
    }

    /// Positions to save. They stay unsaved until [`Self::saved`] is called.
    pub fn unsaved(&self, stream: impl Into<StreamId>) -> Vec<ReaderPosition> {
        let (seen_at, stream) = (now(), stream.into());
        self.cursors
            .lock()
            .iter()
            .filter(|(_, cursor)| cursor.unsaved)
            .map(|(token, cursor)| ReaderPosition {
                stream,
                token: token.clone(),
                position: cursor.position,
                done: cursor.done,
                seen_at,
            })
            .collect()
    }

    /// A position is in the store. A reader that has moved since is still unsaved.
    pub fn saved(&self, place: &ReaderPosition) {
        if let Some(cursor) = self.cursors.lock().get_mut(&place.token)
            && (cursor.position, cursor.done) == (place.position, place.done)
        {
            cursor.unsaved = false;
            cursor.last_saved = Instant::now();
        }
    }

    /// Removes tokens that have not been used for that long.
    pub fn expire(&self, unused_for: Duration) {
        self.cursors
            .lock()
            .retain(|token, cursor| token == SHARED || cursor.busy || cursor.last_used.elapsed() < unused_for);
    }
}

fn make_room(cursors: &mut HashMap<String, Cursor>, limit: usize) -> Result<(), ReaderRefused> {
    if cursors.len() < limit {
        return Ok(());
    }
    let oldest = cursors
        .iter()
        .filter(|(token, cursor)| {
            *token != SHARED && !cursor.busy && cursor.last_used.elapsed() >= MAY_BE_REPLACED_AFTER
        })
        .min_by_key(|(_, cursor)| cursor.last_used)
        .map(|(token, _)| token.clone());
    match oldest {
        Some(token) => {
            cursors.remove(&token);
            Ok(())
        }
        None => Err(ReaderRefused::TooMany),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FROM_START: NewReader = NewReader::StartsAfter(0);

    #[tokio::test(start_paused = true)]
    async fn a_full_session_replaces_the_token_unused_the_longest_and_refuses_while_all_are_in_use() {
        let readers = Readers::new(Vec::new(), 2);
        readers.begin("a", FROM_START).expect("first");
        readers.finish("a");
        readers.begin("b", FROM_START).expect("second");
        assert_eq!(readers.begin("c", FROM_START), Err(ReaderRefused::TooMany));
        tokio::time::advance(MAY_BE_REPLACED_AFTER).await;
        assert_eq!(readers.begin("c", FROM_START), Ok(0), "a was unused, b is in a call");
        assert_eq!(readers.begin("b", FROM_START), Err(ReaderRefused::Busy));
    }

    #[tokio::test(start_paused = true)]
    async fn unused_tokens_expire_and_the_shared_cursor_does_not() {
        let readers = Readers::new(Vec::new(), 9);
        for token in [SHARED, "a"] {
            readers.begin(token, FROM_START).expect("free");
            readers.advance(token, 7);
            readers.finish(token);
        }
        tokio::time::advance(Duration::from_mins(5)).await;
        readers.expire(Duration::from_mins(4));
        assert_eq!(readers.begin(SHARED, FROM_START), Ok(7));
        assert_eq!(readers.begin("a", FROM_START), Ok(0));
    }

    #[test]
    fn a_place_is_unsaved_until_it_is_in_the_store() {
        let readers = Readers::new(Vec::new(), 9);
        readers.begin("a", FROM_START).expect("free");
        readers.advance("a", 3);
        let id = crate::model::SessionId::from_number(1);
        let place = readers.unsaved(id).remove(0);
        assert_eq!(readers.unsaved(id)[0].position, 3, "the first save may have failed");
        readers.advance("a", 4);
        readers.saved(&place);
        assert_eq!(readers.unsaved(id)[0].position, 4, "it moved while it was being saved");
        readers.saved(&readers.unsaved(id)[0]);
        assert!(readers.unsaved(id).is_empty() && !readers.has_unsaved());
    }
}
