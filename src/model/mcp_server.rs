//! MCP servers, as every runtime's encoder gets them.

use std::collections::BTreeMap;

/// A server that offers tools to an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpServer {
    /// How the agent reaches it.
    pub transport: McpTransport,
    /// The tools to offer; `None` for all.
    pub tools: Option<Vec<String>>,
    /// How long a tool call may take, in milliseconds.
    pub timeout_ms: Option<u64>,
}

/// How an agent reaches an MCP server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum McpTransport {
    /// A program that the agent starts and talks to over its standard input and output.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables beside the agent's own.
        env: BTreeMap<String, String>,
        /// The folder to start it in.
        cwd: Option<String>,
    },
    /// An address that speaks streamable HTTP.
    Http(McpAddress),
    /// An address that speaks server-sent events.
    Sse(McpAddress),
}

/// Where a remote MCP server is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct McpAddress {
    /// The URL.
    pub url: String,
    /// Headers of every request.
    pub headers: BTreeMap<String, String>,
}

impl McpTransport {
    /// The word used in the API and the configuration.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Stdio { .. } => "stdio",
            Self::Http(_) => "http",
            Self::Sse(_) => "sse",
        }
    }
}

/// A session's servers: the configured ones and the session's own, which win by name. `None` removes a configured one.
pub fn merged_mcp_servers(
    configured: &BTreeMap<String, McpServer>,
    own: &BTreeMap<String, Option<McpServer>>,
) -> BTreeMap<String, McpServer> {
    let mut servers = configured.clone();
    for (name, server) in own {
        match server {
            Some(server) => servers.insert(name.clone(), server.clone()),
            None => servers.remove(name),
        };
    }
    servers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(url: &str) -> McpServer {
        let address = McpAddress { url: url.to_owned(), headers: BTreeMap::new() };
        McpServer { transport: McpTransport::Http(address), tools: None, timeout_ms: None }
    }

    #[test]
    fn a_sessions_own_servers_replace_and_remove_configured_ones() {
        let configured = [("files".to_owned(), at("http://a")), ("web".to_owned(), at("http://b"))].into();
        let own = [
            ("files".to_owned(), Some(at("http://own"))),
            ("web".to_owned(), None),
            ("new".to_owned(), Some(at("http://c"))),
        ]
        .into();
        let expected = [("files".to_owned(), at("http://own")), ("new".to_owned(), at("http://c"))].into();
        assert_eq!(merged_mcp_servers(&configured, &own), expected);
    }
}
