//! The status of sessions, for the inbox.

use schemars::JsonSchema;
use serde::Serialize;

use super::status_feed::{FeedEntry, StatusFeed};
use crate::model::{RequestId, SessionId, SessionState, SessionSummary, Timestamp};

/// A summary of an open request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PendingRequest {
    /// Its id.
    pub request_id: RequestId,
    /// `permission` or `question`.
    pub kind: &'static str,
    /// The request in one line.
    pub headline: String,
    /// When it was asked; `None` for requests of earlier versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked_at: Option<Timestamp>,
}

/// The status of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionStatus {
    /// Which.
    pub session_id: SessionId,
    /// Its title.
    pub title: Option<String>,
    /// What it is doing; `None` when it was deleted.
    pub state: Option<SessionState>,
    /// More about that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// What waits for a person.
    pub pending: Vec<PendingRequest>,
    /// Its folder; approximate if its name is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub working_directory: Option<String>,
    /// Whether a turn ended that no page has shown.
    pub unread: bool,
    /// Whether its last turn failed.
    pub failed: bool,
}

impl SessionStatus {
    /// The status of a session as the store has it, without its requests.
    pub fn of_summary(summary: SessionSummary) -> Self {
        Self {
            session_id: summary.id,
            unread: summary.is_unread(),
            failed: summary.has_failed(),
            working_directory: summary.profile.working_directory.map(|folder| folder.to_string_lossy().into_owned()),
            title: summary.profile.title,
            state: Some(summary.state),
            detail: summary.state_detail,
            pending: Vec::new(),
        }
    }

    /// The session was deleted.
    pub fn deleted(session_id: SessionId) -> Self {
        Self {
            session_id,
            title: None,
            state: None,
            detail: None,
            pending: Vec::new(),
            working_directory: None,
            unread: false,
            failed: false,
        }
    }
}

impl FeedEntry for SessionStatus {
    type Key = SessionId;

    fn key(&self) -> SessionId {
        self.session_id
    }

    /// Deleted or closed.
    fn is_over(&self) -> bool {
        matches!(self.state, None | Some(SessionState::Closed))
    }
}

/// The status of all sessions.
pub type SessionFeed = StatusFeed<SessionStatus>;

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(number: u32, state: SessionState) -> SessionStatus {
        SessionStatus { state: Some(state), ..SessionStatus::deleted(SessionId::from_number(number)) }
    }

    #[test]
    fn what_is_read_from_the_store_does_not_replace_what_a_session_said() {
        let session_feed = SessionFeed::default();
        session_feed.post(entry(1, SessionState::Working));
        session_feed.publish_if_unknown(entry(1, SessionState::Ready));
        session_feed.publish_if_unknown(entry(2, SessionState::Ready));
        assert_eq!(session_feed.since(0).1, [entry(1, SessionState::Working), entry(2, SessionState::Ready)]);
    }

    #[test]
    fn a_slow_reader_gets_the_last_word_on_each_session_once() {
        let session_feed = SessionFeed::default();
        session_feed.post(entry(1, SessionState::Starting));
        session_feed.post(entry(2, SessionState::Ready));
        session_feed.post(entry(1, SessionState::Working));
        session_feed.post(entry(1, SessionState::Working));
        let (version, entries) = session_feed.since(0);
        assert_eq!(entries, [entry(2, SessionState::Ready), entry(1, SessionState::Working)]);
        assert_eq!(session_feed.since(version).1, []);
    }

    #[test]
    fn ended_sessions_are_forgotten_once_their_end_is_old() {
        let session_feed = SessionFeed::default();
        session_feed.post(entry(1, SessionState::Closed));
        session_feed.post(entry(2, SessionState::Ready));
        session_feed.post(SessionStatus::deleted(SessionId::from_number(3)));
        let old = session_feed.version();
        session_feed.post(entry(4, SessionState::Closed));
        session_feed.forget_ended(old);
        assert_eq!(session_feed.since(0).1, [entry(2, SessionState::Ready), entry(4, SessionState::Closed)]);
    }
}
