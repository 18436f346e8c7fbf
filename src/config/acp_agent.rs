//! The user's own ACP agents.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Span;

/// One agent, the runtime `acp:NAME`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AcpAgent {
    /// The program: a path, or a name on the `PATH`.
    pub command: String,
    /// The arguments, usually a flag that turns ACP on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Further environment variables.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// What to tell people when it needs a login; empty for the agent's own message.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub login_hint: String,
    /// The id of the login method to request before a session; empty for none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub auth_method: String,
    /// Models to offer besides those that the agent lists.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<String>,
    /// How long it may take to answer after its start.
    pub hello_within: Span,
    /// End a session's process after this time without a prompt; empty for never.
    pub end_when_idle: Span,
}

impl Default for AcpAgent {
    fn default() -> Self {
        Self {
            command: String::new(),
            args: Vec::new(),
            env: BTreeMap::new(),
            login_hint: String::new(),
            auth_method: String::new(),
            models: Vec::new(),
            hello_within: Span::of(Duration::from_mins(1)),
            end_when_idle: Span::of(Duration::from_mins(15)),
        }
    }
}

impl AcpAgent {
    /// What is wrong with it, if anything.
    pub fn problem(&self) -> Option<String> {
        self.command.is_empty().then(|| "command is missing: set it to the program to start".to_owned())
    }
}
