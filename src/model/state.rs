//! What a session is doing.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The state of a session, as the API names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SessionState {
    /// The agent is being started.
    Starting,
    /// A prompt may come.
    Ready,
    /// A turn runs.
    Working,
    /// A turn runs and waits for a person.
    Waiting,
    /// The agent was lost and is being brought back.
    Recovering,
    /// The agent wants a login first.
    NeedsLogin,
    /// The agent could not be started or brought back.
    Failed,
    /// Ended by somebody; may be reopened.
    Closed,
}

impl SessionState {
    /// Every state there is, in the order of a session's life.
    pub const ALL: [SessionState; 8] = [
        Self::Starting,
        Self::Ready,
        Self::Working,
        Self::Waiting,
        Self::Recovering,
        Self::NeedsLogin,
        Self::Failed,
        Self::Closed,
    ];

    /// The word used in the API and in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Working => "working",
            Self::Waiting => "waiting",
            Self::Recovering => "recovering",
            Self::NeedsLogin => "needs-login",
            Self::Failed => "failed",
            Self::Closed => "closed",
        }
    }
}

impl fmt::Display for SessionState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl FromStr for SessionState {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|state| state.as_str() == text).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|state| state.as_str()).collect();
            format!("unknown session state {text:?}; there are {}", names.join(", "))
        })
    }
}
