//! MCP servers that sessions get.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One server: a program on this machine, or an address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct McpServer {
    /// `stdio`, `http` or `sse`; empty to derive it from the other keys.
    #[serde(rename = "type", skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// The program, for `stdio`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub command: String,
    /// Its arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Further environment variables.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// The address, for `http` and `sse`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub url: String,
    /// Headers to send.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// The tools to offer; empty for all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
}

impl McpServer {
    /// `stdio`, `http` or `sse`.
    pub fn transport(&self) -> &str {
        match self.kind.as_str() {
            "" if self.url.is_empty() => "stdio",
            "" => "http",
            "local" => "stdio",
            other => other,
        }
    }

    /// What is wrong with it, if anything.
    pub fn problem(&self) -> Option<String> {
        match self.transport() {
            "stdio" if self.command.is_empty() => Some("command is missing: set it to the program to start".to_owned()),
            "http" | "sse" if self.url.is_empty() => {
                Some("url is missing: set it to the address of the server".to_owned())
            }
            "stdio" if !self.url.is_empty() => Some("command and url are both set; keep one".to_owned()),
            "stdio" | "http" | "sse" => None,
            other => Some(format!("type is {other:?}; it must be \"stdio\", \"http\" or \"sse\"")),
        }
    }
}
