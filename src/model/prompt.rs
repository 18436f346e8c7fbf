//! Prompts: what a person or program asks of an agent.

use serde::{Deserialize, Serialize};

use super::{PromptId, Usage};

/// A file or picture sent along with a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attachment {
    /// File name, for people and for the agent.
    pub name: String,
    /// Media type, such as `image/png`.
    pub mime: String,
    /// Content in base64.
    pub data: String,
}

/// How the turn of a prompt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PromptVerdict {
    /// The agent came to its end without an error.
    Succeeded,
    /// The agent reported an error or was lost.
    Failed,
    /// Somebody ended the turn, or the server stopped.
    Interrupted,
    /// The prompt was never sent: its session was closed while it waited.
    Dropped,
}

/// What is known of a prompt once its turn is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptOutcome {
    /// The prompt's id within its session.
    pub prompt_id: PromptId,
    /// The agent's final text: what it said after its last tool call.
    pub text: String,
    /// How the turn ended.
    pub verdict: PromptVerdict,
    /// What the turn cost, as far as the agent said.
    pub usage: Usage,
}
