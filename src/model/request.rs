//! Requests of an agent to a person: permissions and questions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::words::words;
use super::{Decision, RequestId, Timestamp};

/// What an agent asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
        /// The exact call as the agent gave it, in a form in which the same call is always the same text; empty if it
        /// is unknown. Requests of earlier versions have none.
        #[serde(default)]
        call: String,
        /// What it would read, if it would do nothing else.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reads: Option<Box<Reading>>,
        /// The files it would write, if it would do nothing else. Requests of earlier versions do not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        writes: Option<Box<Writing>>,
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

/// A file or folder that would be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reading {
    /// As the agent named it.
    pub path: String,
    /// It is inside the session's working directory, symbolic links resolved.
    #[serde(default)]
    pub is_inside: bool,
}

/// Files that would be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Writing {
    /// All of them, as the agent named them.
    pub paths: Vec<String>,
    /// They are inside the session's working directory, symbolic links resolved, and none of them belongs to git or
    /// configures Flightdeck.
    #[serde(default)]
    pub is_inside: bool,
}

impl RequestBody {
    /// What would be written, if nothing else would be done.
    pub fn writing_mut(&mut self) -> Option<&mut Writing> {
        match self {
            Self::Permission { writes, .. } => writes.as_deref_mut(),
            Self::Question { .. } => None,
        }
    }

    /// What would be read, if nothing else would be done.
    pub fn reading_mut(&mut self) -> Option<&mut Reading> {
        match self {
            Self::Permission { reads, .. } => reads.as_deref_mut(),
            Self::Question { .. } => None,
        }
    }

    /// A question in words, perhaps with some answers to choose from.
    pub fn question(question: impl Into<String>, choices: Option<Vec<String>>) -> Self {
        Self::Question { question: question.into(), detail: None, choices, form: None, url: None }
    }
}

/// A request that waits for its one answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenRequest {
    /// Our id, unique within the session.
    pub request_id: RequestId,
    /// The id the agent knows the request by.
    pub agent_request_id: String,
    /// When it was asked. Requests of earlier versions do not say.
    #[serde(default)]
    pub asked_at: Option<Timestamp>,
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

impl RequestOutcome {
    /// Whether the agent may do what it asked for.
    pub fn allows(self) -> bool {
        matches!(self, Self::AllowOnce | Self::AllowAlways)
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
        /// An earlier answer to the same request, which the agent did not receive in time.
        Grant = "grant",
        /// Another prompt was sent instead of an answer.
        Prompt = "prompt",
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
