//! Names of sessions and logs, and numbers of events.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The number of an event in its log. The first event has number 1; 0 means "before everything".
pub type Seq = u64;

/// What a log belongs to. Every log is numbered, reserved, written and read in the same way, whatever its owner is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StreamId {
    /// The log of a session.
    Session(SessionId),
    /// The log of the job with this number.
    Job(u32),
}

impl StreamId {
    /// The session that the log belongs to, if it belongs to one.
    pub fn session(self) -> Option<SessionId> {
        match self {
            Self::Session(id) => Some(id),
            Self::Job(_) => None,
        }
    }
}

impl From<SessionId> for StreamId {
    fn from(id: SessionId) -> Self {
        Self::Session(id)
    }
}

impl fmt::Display for StreamId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Session(id) => id.fmt(formatter),
            Self::Job(number) => write!(formatter, "job-{number}"),
        }
    }
}

/// A session's id, written `session-N`. `N` is never given twice in the life of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(u32);

impl SessionId {
    /// The id with the given number.
    pub fn from_number(number: u32) -> Self {
        Self(number)
    }

    /// The number behind `session-`.
    pub fn number(self) -> u32 {
        self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "session-{}", self.0)
    }
}

/// The text is not of the form `session-N`.
#[derive(Debug, thiserror::Error)]
#[error("not a session id")]
pub struct InvalidSessionId;

impl FromStr for SessionId {
    type Err = InvalidSessionId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.strip_prefix("session-").ok_or(InvalidSessionId)?;
        // `u32::from_str` would also take "+1" and "01", which would give one session several names.
        let canonical =
            !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
        if !canonical {
            return Err(InvalidSessionId);
        }
        digits.parse().map(Self).map_err(|_| InvalidSessionId)
    }
}

impl Serialize for SessionId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SessionId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_has_exactly_one_name() {
        assert_eq!("session-12".parse::<SessionId>().expect("valid"), SessionId(12));
        for wrong in
            ["session-", "session-0", "session-01", "session-+1", "session-1 ", "task-1", "1", "session-99999999999"]
        {
            assert!(wrong.parse::<SessionId>().is_err(), "{wrong}");
        }
    }
}
