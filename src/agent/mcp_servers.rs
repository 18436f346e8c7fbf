//! The MCP servers of a session, as Copilot writes them: by name, with `type`, `tools` and what the type needs.

use serde_json::{Map, Value, json};

use super::StartSpec;

/// The configured servers and the session's own, which win by name; `null` takes a configured one away.
pub(super) fn of_session(configured: &Map<String, Value>, spec: &StartSpec) -> Option<Map<String, Value>> {
    merged(configured, spec.options.get("mcpServers"))
}

/// The option that takes every configured server away.
pub(super) fn option_without(configured: &Map<String, Value>) -> (String, Value) {
    ("mcpServers".to_owned(), configured.keys().map(|name| (name.clone(), Value::Null)).collect())
}

fn merged(configured: &Map<String, Value>, own: Option<&Value>) -> Option<Map<String, Value>> {
    let mut servers = configured.clone();
    for (name, server) in own.and_then(Value::as_object).into_iter().flatten() {
        if server.is_null() {
            servers.remove(name);
        } else {
            servers.insert(name.clone(), complete(server));
        }
    }
    (!servers.is_empty()).then_some(servers)
}

/// Copilot wants to know the kind of a server and which of its tools to offer; people leave both out.
fn complete(server: &Value) -> Value {
    let mut server = server.clone();
    if let Some(fields) = server.as_object_mut() {
        let kind = if fields.contains_key("url") { "http" } else { "local" };
        fields.entry("type").or_insert_with(|| json!(kind));
        if fields["type"] == "stdio" {
            fields.insert("type".to_owned(), json!("local"));
        }
        fields.entry("tools").or_insert_with(|| json!(["*"]));
    }
    server
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sessions_own_servers_go_before_the_configured_ones_and_can_take_them_away() {
        let configured: Map<String, Value> = [
            ("files".to_owned(), json!({ "type": "local", "command": "a", "tools": ["*"] })),
            ("web".to_owned(), json!({ "type": "http", "url": "http://a", "tools": ["*"] })),
        ]
        .into_iter()
        .collect();
        let own = json!({ "files": { "command": "b", "tools": ["read"] }, "web": null, "new": { "url": "http://c" } });
        assert_eq!(
            merged(&configured, Some(&own)).map(Value::Object),
            Some(json!({
                "files": { "type": "local", "command": "b", "tools": ["read"] },
                "new": { "type": "http", "url": "http://c", "tools": ["*"] },
            }))
        );
        assert_eq!(merged(&Map::new(), None), None);
    }
}
