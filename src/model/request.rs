//! Requests of an agent to a person: permissions and questions.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::words::words;
use super::{Decision, RequestId};

/// What an agent asks.
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
    /// Our id, unique within the session.
    pub request_id: RequestId,
    /// The id the agent knows the request by.
    pub agent_request_id: String,
    /// What is asked.
    pub body: RequestBody,
}

impl OpenRequest {
    /// The request in one line.
    pub fn headline(&self) -> &str {
        match &self.body {
            RequestBody::Permission { title, .. } => title,
            RequestBody::Question { question, .. } => question,
        }
    }
}

words! {
    /// How a request was closed.
    pub enum RequestOutcome {
        /// Permitted this time.
        AllowOnce = "allow-once",
        /// Permitted for the rest of the session.
        AllowAlways = "allow-always",
        /// Not permitted.
        Deny = "deny",
        /// A question was answered.
        Answered = "answered",
        /// A question was declined.
        Declined = "declined",
        /// Nobody needs the answer any more.
        Cancelled = "cancelled",
        /// The agent that asked is gone.
        AgentGone = "agent-gone",
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

words! {
    /// Who or what closed a request.
    pub enum AnsweredBy {
        /// A person on the page.
        Page = "page",
        /// A program with the token.
        Api = "api",
        /// A permission rule.
        Rule = "rule",
        /// The permission mode.
        Mode = "mode",
        /// The agent withdrew it, or ended.
        Agent = "agent",
        /// The turn was interrupted.
        Interrupt = "interrupt",
        /// The session was closed.
        Close = "close",
        /// The server was stopped.
        Shutdown = "shutdown",
        /// The server was restarted.
        Restart = "restart",
        /// The timeout passed.
        Timeout = "timeout",
        /// The disk refused writes.
        Storage = "storage",
        /// A budget is spent, and the turn was stopped.
        Budget = "budget",
    }
}
