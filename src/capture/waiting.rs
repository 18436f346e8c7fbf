//! The sessions of agents that wait for their callers, and how a request finds its own.

use std::collections::HashMap;
use std::time::Instant;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::fingerprint::Fingerprint;
use super::turn::Turn;
use super::{Answer, Recording};

/// A call that waits for its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OpenCall {
    /// Our id, which the caller has.
    pub id: String,
    /// The agent's id of the call.
    pub call_id: String,
    /// The agent's id for the request.
    pub request_id: String,
}

/// What a session of an agent waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WaitsFor {
    /// Whose conversation it is.
    pub token: String,
    /// The conversation up to here.
    pub conversation: Fingerprint,
    /// The calls, in order; none if the session waits for the user's next message.
    pub calls: Vec<OpenCall>,
}

/// Where a waiting session is.
pub(super) enum Place {
    /// Connected: a turn sent here is answered.
    Connected { turns: mpsc::Sender<Turn>, leave: CancellationToken },
    /// On the agent's disk.
    OnDisk,
}

pub(super) struct Entry {
    pub waits_for: WaitsFor,
    pub place: Place,
    since: Instant,
}

#[derive(Default)]
struct Lists {
    /// By the agent's id of the session.
    sessions: HashMap<String, Entry>,
    /// By our id of a call.
    by_call: HashMap<String, String>,
    /// By token and conversation, of sessions without open calls.
    by_conversation: HashMap<(String, Fingerprint), String>,
    /// Answers whose callers may ask for them again, by token and request.
    unheard: HashMap<(String, Fingerprint), Recording>,
}

/// All of them.
#[derive(Default)]
pub(super) struct Waiting(Mutex<Lists>);

impl Waiting {
    /// A session waits from now on. Returns how to ask another one to leave the memory, if there are more than `most`.
    pub fn add(&self, session: &str, waits_for: WaitsFor, place: Place, most: usize) -> Option<CancellationToken> {
        let mut lists = self.0.lock();
        for call in &waits_for.calls {
            lists.by_call.insert(call.id.clone(), session.to_owned());
        }
        if waits_for.calls.is_empty() {
            let key = (waits_for.token.clone(), waits_for.conversation.clone());
            lists.by_conversation.insert(key, session.to_owned());
        }
        lists.sessions.insert(session.to_owned(), Entry { waits_for, place, since: Instant::now() });
        let connected = |entry: &&Entry| matches!(entry.place, Place::Connected { .. });
        if lists.sessions.values().filter(connected).count() <= most {
            return None;
        }
        let oldest = lists.sessions.values().filter(connected).min_by_key(|entry| entry.since)?;
        match &oldest.place {
            Place::Connected { leave, .. } => Some(leave.clone()),
            Place::OnDisk => None,
        }
    }

    /// Removes a session; `None` if somebody else has taken it.
    pub fn remove(&self, session: &str) -> Option<Entry> {
        self.0.lock().remove(session)
    }

    /// Takes the session that waits for the results of these calls of that conversation, if it is the caller's.
    pub fn take_by_calls(&self, token: &str, calls: &[&str], conversation: &Fingerprint) -> Option<(String, Entry)> {
        let mut lists = self.0.lock();
        let session = lists.by_call.get(*calls.first()?)?.clone();
        let entry = lists.sessions.get(&session)?;
        let covers = entry.waits_for.calls.len() == calls.len()
            && entry.waits_for.calls.iter().all(|open| calls.iter().filter(|id| **id == open.id).count() == 1);
        let is_same = entry.waits_for.token == token && entry.waits_for.conversation == *conversation;
        (covers && is_same).then(|| lists.remove(&session).map(|entry| (session, entry)))?
    }

    /// Takes the session that waits for the next message of that conversation.
    pub fn take_by_conversation(&self, token: &str, conversation: &Fingerprint) -> Option<(String, Entry)> {
        let mut lists = self.0.lock();
        let session = lists.by_conversation.get(&(token.to_owned(), conversation.clone()))?.clone();
        lists.remove(&session).map(|entry| (session, entry))
    }

    /// Cancelled when a session has to leave the memory.
    pub fn leave_token(&self, session: &str) -> Option<CancellationToken> {
        match &self.0.lock().sessions.get(session)?.place {
            Place::Connected { leave, .. } => Some(leave.clone()),
            Place::OnDisk => None,
        }
    }

    /// What a session waits for, unless its caller has come.
    pub fn waits_for(&self, session: &str) -> Option<WaitsFor> {
        Some(self.0.lock().sessions.get(session)?.waits_for.clone())
    }

    /// Removes a session that is on disk, or that nobody waits in. `false` if it is connected.
    pub fn remove_from_disk(&self, session: &str) -> bool {
        let mut lists = self.0.lock();
        let is_connected =
            lists.sessions.get(session).is_some_and(|entry| matches!(entry.place, Place::Connected { .. }));
        if !is_connected {
            lists.remove(session);
        }
        !is_connected
    }

    /// How many wait in memory, and how many on disk.
    pub fn count(&self) -> (usize, usize) {
        let lists = self.0.lock();
        let on_disk = lists.sessions.values().filter(|entry| matches!(entry.place, Place::OnDisk)).count();
        (lists.sessions.len() - on_disk, on_disk)
    }

    /// An answer is being made; an identical request after a hang-up gets it too.
    pub fn record(&self, token: &str, request: &Fingerprint, recording: &Recording) {
        self.0.lock().unheard.insert((token.to_owned(), request.clone()), recording.clone());
    }

    /// How many answers have lost their caller.
    pub fn unheard(&self) -> usize {
        self.0.lock().unheard.values().filter(|recording| recording.is_unheard()).count()
    }

    /// The answer to an identical request whose caller hung up.
    pub fn hear_again(&self, token: &str, request: &Fingerprint) -> Option<Answer> {
        self.0.lock().unheard.get(&(token.to_owned(), request.clone()))?.read_again()
    }

    /// The answer is no longer kept.
    pub fn forget(&self, token: &str, request: &Fingerprint, recording: &Recording) {
        let mut lists = self.0.lock();
        let key = (token.to_owned(), request.clone());
        if lists.unheard.get(&key).is_some_and(|kept| kept.is_same(recording)) {
            lists.unheard.remove(&key);
        }
    }
}

impl Lists {
    fn remove(&mut self, session: &str) -> Option<Entry> {
        let entry = self.sessions.remove(session)?;
        for call in &entry.waits_for.calls {
            self.by_call.remove(&call.id);
        }
        let key = (entry.waits_for.token.clone(), entry.waits_for.conversation.clone());
        if self.by_conversation.get(&key).is_some_and(|listed| listed == session) {
            self.by_conversation.remove(&key);
        }
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits_for(calls: &[&str]) -> WaitsFor {
        let call = |id: &&str| OpenCall { id: (*id).to_owned(), call_id: String::new(), request_id: String::new() };
        WaitsFor { token: "t".to_owned(), conversation: "c".to_owned(), calls: calls.iter().map(call).collect() }
    }

    #[test]
    fn only_its_own_caller_with_all_results_of_the_same_conversation_takes_a_session_and_only_once() {
        let waiting = Waiting::default();
        waiting.add("s", waits_for(&["a", "b"]), Place::OnDisk, 1);
        let take = |token: &str, calls: &[&str], conversation: &str| {
            waiting.take_by_calls(token, calls, &conversation.to_owned()).is_some()
        };
        assert!(!take("other", &["a", "b"], "c"), "another token");
        assert!(!take("t", &["a"], "c"), "not all results");
        assert!(!take("t", &["a", "b", "x"], "c"), "too many");
        assert!(!take("t", &["a", "a"], "c"), "one twice");
        assert!(!take("t", &["a", "b"], "edited"), "another history");
        assert!(take("t", &["b", "a"], "c"));
        assert!(!take("t", &["a", "b"], "c"), "a second use");
        waiting.add("idle", waits_for(&[]), Place::OnDisk, 1);
        assert!(waiting.take_by_conversation("t", &"x".to_owned()).is_none());
        assert!(waiting.take_by_conversation("t", &"c".to_owned()).is_some());
        assert!(waiting.take_by_conversation("t", &"c".to_owned()).is_none());
        assert_eq!(waiting.count(), (0, 0));
    }

    #[test]
    fn the_session_that_has_waited_longest_leaves_the_memory_first() {
        let waiting = Waiting::default();
        let connected = || {
            let (turns, _) = mpsc::channel(1);
            let leave = CancellationToken::new();
            (Place::Connected { turns, leave: leave.clone() }, leave)
        };
        let (first, first_leaves) = connected();
        assert!(waiting.add("one", waits_for(&["a"]), first, 1).is_none());
        let leaving = waiting.add("two", waits_for(&["b"]), connected().0, 1).expect("one too many");
        leaving.cancel();
        assert!(first_leaves.is_cancelled());
        assert_eq!(waiting.count(), (2, 0));
    }
}
