//! What describes a session, apart from its log.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{PermissionPolicy, Seq, SessionBudget, SessionId, SessionJob, SessionState, Timestamp};

/// What a session is made of: chosen at its start, some of it changed later.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionProfile {
    /// For people; `None` until it is set by a person or by the first prompt.
    pub title: Option<String>,
    /// A person chose the title, at the start or later, so an agent does not change it.
    pub title_is_given: bool,
    /// The runtime's name.
    pub runtime: String,
    /// The model's id, as the runtime knows it; empty for the agent's own default.
    pub model: String,
    /// Reasoning effort, where the runtime has levels.
    pub effort: Option<String>,
    /// Where the agent works; `None` for a session without a folder.
    pub working_directory: Option<PathBuf>,
    /// What the agent may do without asking.
    pub permissions: PermissionPolicy,
    /// Text put before the agent's own instructions.
    pub system_prompt: Option<String>,
    /// Options of the runtime, as the caller gave them.
    pub options: Map<String, Value>,
    /// Its own limits, beside the configured ones.
    pub budget: SessionBudget,
}

/// Who created a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SessionOrigin {
    /// A person, through the page or the command line.
    #[default]
    User,
    /// A job.
    Job,
    /// Another program, through the API.
    Api,
}

impl SessionOrigin {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::User, Self::Job, Self::Api];

    /// The word used in the API and in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Job => "job",
            Self::Api => "api",
        }
    }
}

/// The agent lost its own session, and a new one was started with a summary: what the notice of that says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LostSession {
    /// The number of the notice.
    pub seq: Seq,
    /// What happened, for people.
    pub message: String,
    /// What the agent said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// How the last turn of a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LastTurn {
    /// The number of its last event.
    pub end: Seq,
    /// It failed, or was cut off by something that nobody decided.
    pub is_failed: bool,
}

/// A session as lists show it.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionSummary {
    /// Which session.
    pub id: SessionId,
    /// What it is made of.
    pub profile: SessionProfile,
    /// Who created it.
    pub origin: SessionOrigin,
    /// The job and task that it works for.
    pub job: Option<SessionJob>,
    /// What it is doing.
    pub state: SessionState,
    /// More about the state, for people.
    pub state_detail: Option<String>,
    /// When it was started.
    pub created_at: Timestamp,
    /// When something last happened in it.
    pub updated_at: Timestamp,
    /// When it was closed, if it is.
    pub closed_at: Option<Timestamp>,
    /// The number of its last event; 0 for an empty log.
    pub last_seq: Seq,
    /// How many requests wait for a person.
    pub pending: u32,
    /// Its last turn, if one has ended.
    pub last_turn: Option<LastTurn>,
    /// A page has shown everything up to this event.
    pub seen_seq: Seq,
}

impl SessionSummary {
    /// Whether a turn ended that no page has shown. People follow sessions of jobs by their job.
    pub fn is_unread(&self) -> bool {
        self.job.is_none() && self.last_turn.is_some_and(|turn| turn.end > self.seen_seq)
    }

    /// Whether its last turn failed.
    pub fn has_failed(&self) -> bool {
        self.last_turn.is_some_and(|turn| turn.is_failed)
    }
}
