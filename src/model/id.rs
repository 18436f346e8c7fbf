//! Names of sessions, logs, prompts, tokens, turns and requests, and numbers of events.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::text_schema::text_schema;

/// The number of an event in its log. The first event has number 1; 0 means "before everything".
pub type Seq = u64;

/// What a log belongs to. Every log is numbered, reserved, written and read in the same way, whatever its owner is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StreamId {
    /// The log of a session.
    Session(SessionId),
    /// The log of a job, with all of its tasks.
    Job(JobId),
    /// The log of a task that runs in somebody's session, outside a job. (Tasks of a job are in the job's log; their readers
    /// are kept under this name.)
    Task(TaskId),
}

impl StreamId {
    /// The session that the log belongs to, if it belongs to one.
    pub fn session(self) -> Option<SessionId> {
        match self {
            Self::Session(id) => Some(id),
            Self::Job(_) | Self::Task(_) => None,
        }
    }
}

impl From<SessionId> for StreamId {
    fn from(id: SessionId) -> Self {
        Self::Session(id)
    }
}

impl From<JobId> for StreamId {
    fn from(id: JobId) -> Self {
        Self::Job(id)
    }
}

impl From<TaskId> for StreamId {
    fn from(id: TaskId) -> Self {
        Self::Task(id)
    }
}

impl fmt::Display for StreamId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Session(id) => id.fmt(formatter),
            Self::Job(id) => id.fmt(formatter),
            Self::Task(id) => id.fmt(formatter),
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
        number_after("session-", text).map(Self).ok_or(InvalidSessionId)
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

text_schema!(SessionId, "The id of a session.", { "pattern": "^session-[1-9][0-9]*$" });

/// Declares an id that is a word and a number. The number is never given twice in the life of a database.
macro_rules! numbered_id {
    ($(#[$doc:meta])* $name:ident, $error:ident, $prefix:literal, $description:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(u32);

        impl $name {
            /// The id with the given number.
            pub fn from_number(number: u32) -> Self {
                Self(number)
            }

            /// The number behind the word.
            pub fn number(self) -> u32 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, concat!($prefix, "{}"), self.0)
            }
        }

        /// The text is no such id.
        #[derive(Debug, thiserror::Error)]
        #[error("not an id such as {}1", $prefix)]
        pub struct $error;

        impl FromStr for $name {
            type Err = $error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                number_after($prefix, text).map(Self).ok_or($error)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }

        text_schema!($name, $description, { "pattern": concat!("^", $prefix, "[1-9][0-9]*$") });
    };
}

numbered_id! {
    /// A job's id, written `job-N`.
    JobId, InvalidJobId, "job-", "The id of a job."
}

numbered_id! {
    /// The id of a task that runs or ran, written `task-N`.
    TaskId, InvalidTaskId, "task-", "The id of a task that runs or ran."
}

/// A prompt's id within its session, written `prompt-N`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PromptId(u32);

impl PromptId {
    /// The id with the given number; the first prompt has number 1.
    pub fn from_number(number: u32) -> Self {
        Self(number)
    }

    /// The number behind `prompt-`.
    pub fn number(self) -> u32 {
        self.0
    }

    /// The turn that this prompt begins.
    pub fn turn(self) -> TurnId {
        TurnId(format!("turn-{}", self.0))
    }
}

impl fmt::Display for PromptId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "prompt-{}", self.0)
    }
}

impl FromStr for PromptId {
    type Err = InvalidPromptId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        number_after("prompt-", text).map(Self).ok_or(InvalidPromptId)
    }
}

impl Serialize for PromptId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PromptId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

text_schema!(PromptId, "The id of a prompt within its session.", { "pattern": "^prompt-[1-9][0-9]*$" });

/// The text is not of the form `prompt-N`.
#[derive(Debug, thiserror::Error)]
#[error("not a prompt id")]
pub struct InvalidPromptId;

/// The id of a token with scopes, written `token-N`. `N` is never given twice in the life of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TokenId(u32);

impl TokenId {
    /// The id with the given number.
    pub fn from_number(number: u32) -> Self {
        Self(number)
    }

    /// The number behind `token-`.
    pub fn number(self) -> u32 {
        self.0
    }
}

impl fmt::Display for TokenId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "token-{}", self.0)
    }
}

/// The text is not of the form `token-N`.
#[derive(Debug, thiserror::Error)]
#[error("not a token id such as token-1; `flightdeck tokens list` shows them")]
pub struct InvalidTokenId;

impl FromStr for TokenId {
    type Err = InvalidTokenId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        number_after("token-", text).map(Self).ok_or(InvalidTokenId)
    }
}

impl Serialize for TokenId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

text_schema!(TokenId, "The id of a token.", { "pattern": "^token-[1-9][0-9]*$" });

/// A turn's id: ours, written `turn-N` after its prompt, or the one the agent gave it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TurnId(String);

/// A request's id within its session: ours, written `request-N` after the number of its event.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequestId(String);

impl RequestId {
    /// The id of a request whose event has this number. Numbers are never used twice, so neither is the id.
    pub fn of_event(seq: Seq) -> Self {
        Self(format!("request-{seq}"))
    }
}

macro_rules! text_id {
    ($name:ident) => {
        impl $name {
            /// The id as it is written.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }
    };
}

text_id!(TurnId);
text_id!(RequestId);

text_schema!(TurnId, "The id of a turn: `turn-3` begins with `prompt-3`, `turn-3.2` is its second step.", {});
text_schema!(RequestId, "The id of a request within its session.", {});

/// The number behind a prefix. `u32::from_str` would also take "+1" and "01", so that one id would have several spellings.
fn number_after(prefix: &str, text: &str) -> Option<u32> {
    let digits = text.strip_prefix(prefix)?;
    let is_canonical =
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    if is_canonical { digits.parse().ok() } else { None }
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

    #[test]
    fn a_job_and_a_task_have_exactly_one_name() {
        assert_eq!("job-3".parse::<JobId>().expect("valid").to_string(), "job-3");
        assert_eq!("task-4".parse::<TaskId>().expect("valid").number(), 4);
        for wrong in ["job-", "job-0", "job-03", "task-3", "3"] {
            assert!(wrong.parse::<JobId>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_token_has_exactly_one_name() {
        assert_eq!("token-7".parse::<TokenId>().expect("valid").to_string(), "token-7");
        for wrong in ["token-", "token-0", "token-07", "session-7", "7", "fdk_00"] {
            assert!(wrong.parse::<TokenId>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_prompt_has_exactly_one_name_and_names_its_turn() {
        let prompt: PromptId = "prompt-12".parse().expect("valid");
        assert_eq!((prompt.to_string(), prompt.turn()), ("prompt-12".to_owned(), TurnId::from("turn-12")));
        for wrong in ["prompt-", "prompt-0", "prompt-01", "turn-1", "12"] {
            assert!(wrong.parse::<PromptId>().is_err(), "{wrong}");
        }
    }
}
