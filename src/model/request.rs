//! Requests of an agent to a person: permissions and questions.

use serde::{Deserialize, Serialize};

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
        /// Offered answers; free text is always allowed.
        choices: Option<Vec<String>>,
    },
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
