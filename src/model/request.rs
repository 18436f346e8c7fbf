//! Requests of an agent to a person: permissions and questions.

use serde::{Deserialize, Serialize};
use serde_json::Value;

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
    pub request_id: String,
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
