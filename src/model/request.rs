//! Requests of an agent to a person: permissions and questions.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Decision, RequestId};

/// What an agent wants to know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum RequestBody {
    /// May the agent do this?
    Permission {
        /// Family of the action: `shell`, `write`, `read`, `url`, `mcp` …
        kind: String,
        /// Name of the tool, for rules.
        tool: String,
        /// One line for a person.
        title: String,
        /// Exactly what would be done.
        detail: String,
        /// The decisions that make sense here.
        options: Vec<String>,
        /// The tool call the request belongs to.
        tool_call_id: Option<String>,
    },
    /// Something only a person can answer.
    Question {
        /// The question.
        question: String,
        /// More about it, as Markdown: a plan to approve, say.
        #[serde(default)]
        detail: Option<String>,
        /// Offered answers; free text is always allowed.
        choices: Option<Vec<String>>,
        /// A JSON Schema of an object whose values are wanted.
        #[serde(default)]
        form: Option<Value>,
        /// A page to visit.
        #[serde(default)]
        url: Option<String>,
    },
}

impl RequestBody {
    /// A question in words, perhaps with some answers to choose from.
    pub fn question(question: impl Into<String>, choices: Option<Vec<String>>) -> Self {
        Self::Question { question: question.into(), detail: None, choices, form: None, url: None }
    }
}

/// A request that waits for its one answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenRequest {
    /// Our id, unique within the session for good.
    pub request_id: RequestId,
    /// The id the agent knows the request by.
    pub agent_request_id: String,
    /// What is asked.
    pub body: RequestBody,
}

impl OpenRequest {
    /// One line that says what is asked.
    pub fn headline(&self) -> &str {
        match &self.body {
            RequestBody::Permission { title, .. } => title,
            RequestBody::Question { question, .. } => question,
        }
    }
}

/// How a request was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RequestOutcome {
    /// Permitted this time.
    AllowOnce,
    /// Permitted for the rest of the session.
    AllowAlways,
    /// Not permitted.
    Deny,
    /// A question was answered.
    Answered,
    /// A question was declined.
    Declined,
    /// Nobody needs the answer any more.
    Cancelled,
    /// The agent that asked is gone.
    AgentGone,
}

impl RequestOutcome {
    /// The word used in the API, the log and the store.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AllowOnce => "allow-once",
            Self::AllowAlways => "allow-always",
            Self::Deny => "deny",
            Self::Answered => "answered",
            Self::Declined => "declined",
            Self::Cancelled => "cancelled",
            Self::AgentGone => "agent-gone",
        }
    }
}

impl From<Decision> for RequestOutcome {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::AllowOnce => Self::AllowOnce,
            Decision::AllowAlways => Self::AllowAlways,
            Decision::Deny => Self::Deny,
        }
    }
}

/// Who or what closed a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AnsweredBy {
    /// A person on the page.
    Page,
    /// A program with the token.
    Api,
    /// A permission rule.
    Rule,
    /// The permission mode.
    Mode,
    /// The agent withdrew it, or ended.
    Agent,
    /// The turn was interrupted.
    Interrupt,
    /// The session was closed.
    Close,
    /// The server was stopped.
    Shutdown,
    /// The server was restarted.
    Restart,
    /// Time ran out.
    Timeout,
    /// The disk refused writes.
    Storage,
}

impl AnsweredBy {
    /// The word used in the API, the log and the store.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Api => "api",
            Self::Rule => "rule",
            Self::Mode => "mode",
            Self::Agent => "agent",
            Self::Interrupt => "interrupt",
            Self::Close => "close",
            Self::Shutdown => "shutdown",
            Self::Restart => "restart",
            Self::Timeout => "timeout",
            Self::Storage => "storage",
        }
    }
}
