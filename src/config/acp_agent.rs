//! Agents of the user's own that speak ACP.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Span;

/// One agent, by the name that makes it the runtime `acp:NAME`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AcpAgent {
    /// The program: a path, or a name on the `PATH`.
    pub command: String,
    /// What makes it an ACP agent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Its environment, beside the user's.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// What to do when it wants a login; empty for what it says itself.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub login_hint: String,
    /// The id of the login method to ask for before a session; empty for none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub auth_method: String,
    /// Models to offer beside those that it names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<String>,
    /// How long it may take to answer at its start.
    pub hello_within: Span,
    /// A session's process ends when nothing was asked of it for this long; empty for never.
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
        self.command.is_empty().then(|| "command is missing: it names the program to start".to_owned())
    }
}
