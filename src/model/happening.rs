//! What a person may want to be notified of.

use serde::{Deserialize, Serialize};

use super::words::words;
use super::{JobId, SessionId, StreamId};

words! {
    /// The kinds of happenings that notifications are about.
    pub enum HappeningKind {
        /// Something waits for a person.
        NeedsYou = "needs-you",
        /// A turn or a job ended well.
        Finished = "finished",
        /// A turn or a job failed, or a session cannot continue.
        Failed = "failed",
    }
}

impl HappeningKind {
    /// For people.
    pub fn headline(self) -> &'static str {
        match self {
            Self::NeedsYou => "Needs your input",
            Self::Finished => "Finished",
            Self::Failed => "Failed",
        }
    }
}

/// What a happening is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum HappeningSubject {
    /// A session.
    Session(SessionId),
    /// A job.
    Job(JobId),
}

impl HappeningSubject {
    /// `session` or `job`.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Session(_) => "session",
            Self::Job(_) => "job",
        }
    }

    /// The subject of what a log reports; `None` for a task, which is part of a session or job.
    pub fn of(stream: StreamId) -> Option<Self> {
        match stream {
            StreamId::Session(id) => Some(Self::Session(id)),
            StreamId::Job(id) => Some(Self::Job(id)),
            StreamId::Task(_) => None,
        }
    }

    /// Its log.
    pub fn stream(self) -> StreamId {
        match self {
            Self::Session(id) => id.into(),
            Self::Job(id) => id.into(),
        }
    }
}

impl std::fmt::Display for HappeningSubject {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.stream().fmt(formatter)
    }
}

/// Something that happened to a session or job. It is committed together with what it reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Happening {
    /// Names this happening within its session or job, such as `request-12`. Nobody is notified of the same one twice.
    pub key: String,
    /// Its kind.
    pub kind: HappeningKind,
    /// In a word: `permission`, `question`, `login`, `gate`, an error class, `interrupted`; empty if there is nothing to add.
    pub reason: String,
    /// What the agent asked or said, shortened. Sent only to targets that ask for it.
    pub text: String,
    /// How long the turn or job took, if that is known.
    pub duration_ms: Option<u64>,
}

impl Happening {
    /// The longest text that is kept.
    const LONGEST_TEXT: usize = 1_000;

    /// A text, shortened.
    pub fn shortened(text: &str) -> String {
        match text.char_indices().nth(Self::LONGEST_TEXT) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text.to_owned(),
        }
    }
}
