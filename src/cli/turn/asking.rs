//! The requests of a session that are asked at a terminal, one after the other.

use std::collections::VecDeque;

use serde_json::{Map, Value};

use super::asked::{Answered, Asked, Meaning};
use crate::client::{ClientError, LocalServer};
use crate::model::{RequestId, SessionId};

/// Requests that wait, oldest first; the first one is asked.
#[derive(Debug, Default)]
pub(super) struct Asking {
    waiting: VecDeque<Asked>,
    /// The values of a form that were typed so far.
    values: Map<String, Value>,
}

impl Asking {
    /// Adds a request. Returns whether it is the one to ask now.
    pub fn add(&mut self, asked: Asked) -> bool {
        if self.waiting.iter().all(|known| known.id != asked.id) {
            self.waiting.push_back(asked);
            return self.waiting.len() == 1;
        }
        false
    }

    /// A request is closed. Returns whether it was the one that is asked.
    pub fn remove(&mut self, id: &RequestId) -> bool {
        let is_first = self.waiting.front().is_some_and(|first| first.id == *id);
        self.waiting.retain(|asked| asked.id != *id);
        if is_first {
            self.values.clear();
        }
        is_first
    }

    /// The request that is asked now.
    pub fn current(&self) -> Option<&Asked> {
        self.waiting.front()
    }

    /// What can be typed for it.
    pub fn choices(&self) -> Option<String> {
        self.current().map(|asked| asked.choices(&self.values))
    }

    /// What a typed line means for it.
    pub fn meaning(&mut self, line: &str) -> Option<(Asked, Meaning)> {
        let asked = self.waiting.front()?.clone();
        let meaning = asked.meaning(line, &mut self.values);
        Some((asked, meaning))
    }
}

/// Sends an answer. One that somebody else gave before is no failure.
pub(super) async fn send(
    server: &LocalServer,
    session: SessionId,
    request: &RequestId,
    answer: &Answered,
) -> Result<(), ClientError> {
    let sent = match answer {
        Answered::Permission(answer) => server.answer_permission(session, request, answer).await,
        Answered::Question(answer) => server.answer_question(session, request, answer).await,
    };
    match sent {
        Err(error) if matches!(error.name(), "AlreadyAnswered" | "RequestNotFound") => Ok(()),
        other => other,
    }
}
