//! MCP servers in Copilot's format, for the SDK protocol and for the configuration file of its CLI.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::model::{McpServer, McpTransport};

/// The `mcpServers` of `session.create` and `session.resume`, and of `--additional-mcp-config`.
pub(in crate::agent) fn encode<'a>(
    servers: impl IntoIterator<Item = (&'a String, &'a McpServer)>,
) -> Map<String, Value> {
    servers.into_iter().map(|(name, server)| (name.clone(), encode_one(server))).collect()
}

/// A session's servers; `None` if there are none.
pub(super) fn encode_all(servers: &BTreeMap<String, McpServer>) -> Option<Value> {
    (!servers.is_empty()).then(|| Value::Object(encode(servers)))
}

fn encode_one(server: &McpServer) -> Value {
    let mut value = match &server.transport {
        McpTransport::Stdio { command, args, env, cwd } => {
            let mut value = json!({ "type": "local", "command": command, "args": args, "env": env });
            if let Some(folder) = cwd {
                value["cwd"] = json!(folder);
            }
            value
        }
        McpTransport::Http(address) | McpTransport::Sse(address) => {
            json!({ "type": server.transport.as_str(), "url": address.url, "headers": address.headers })
        }
    };
    // Copilot needs the list of tools to offer, even for all tools.
    value["tools"] = server.tools.as_ref().map_or_else(|| json!(["*"]), |tools| json!(tools));
    if let Some(timeout) = server.timeout_ms {
        value["timeout"] = json!(timeout);
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::SessionOptions;

    #[test]
    fn servers_are_written_with_copilots_words() {
        let options = json!({ "mcpServers": {
            "files": { "command": "f", "args": ["-x"], "cwd": "/w", "tools": ["read"] },
            "web": { "url": "http://w", "headers": { "A": "b" }, "timeout": 5 },
        } });
        let options = SessionOptions::read(options.as_object().expect("an object")).expect("valid");
        let servers = crate::model::merged_mcp_servers(&BTreeMap::new(), &options.mcp_servers);
        assert_eq!(
            encode_all(&servers),
            Some(json!({
                "files": { "type": "local", "command": "f", "args": ["-x"], "env": {}, "cwd": "/w", "tools": ["read"] },
                "web": { "type": "http", "url": "http://w", "headers": { "A": "b" }, "tools": ["*"], "timeout": 5 },
            }))
        );
        assert_eq!(encode_all(&BTreeMap::new()), None);
    }
}
