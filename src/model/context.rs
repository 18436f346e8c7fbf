//! How full an agent's memory of the conversation is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Tokens of the conversation, and how many fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContextUsage {
    /// Now.
    pub current_tokens: u64,
    /// At most.
    pub token_limit: u64,
}
