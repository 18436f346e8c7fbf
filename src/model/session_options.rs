//! The options of a session: a provider and MCP servers, which every runtime understands, and the runtime's own.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{McpAddress, McpServer, McpTransport, Provider, ProviderChoice, ProviderKind, WireApi};

const PROVIDER: &str = "provider";
const MCP_SERVERS: &str = "mcpServers";
const PROVIDER_FIELDS: [&str; 11] = [
    "type",
    "baseUrl",
    "wireApi",
    "apiKey",
    "bearerToken",
    "azure",
    "headers",
    "modelId",
    "wireModel",
    "maxPromptTokens",
    "maxOutputTokens",
];
const SERVER_FIELDS: [&str; 9] = ["type", "command", "args", "env", "cwd", "url", "headers", "tools", "timeout"];

/// A session's options with their types.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionOptions {
    /// Where its models come from; `None` leaves it to the model's name and the agent.
    pub provider: Option<ProviderChoice>,
    /// Its own MCP servers by name; `None` removes a configured one.
    pub mcp_servers: BTreeMap<String, Option<McpServer>>,
    /// The options that only its runtime knows.
    pub other: Map<String, Value>,
}

impl SessionOptions {
    /// Reads options as they are stored. Unknown fields of a provider or a server are ignored, because an older or
    /// newer version may have stored them.
    pub fn read(options: &Map<String, Value>) -> Result<Self, String> {
        let mut read = Self::default();
        for (name, value) in options {
            match name.as_str() {
                PROVIDER => read.provider = provider_choice(value)?,
                MCP_SERVERS => read.mcp_servers = mcp_servers(value)?,
                _ => {
                    read.other.insert(name.clone(), value.clone());
                }
            }
        }
        Ok(read)
    }

    /// Checks the options of a new session. Unlike [`Self::read`] it rejects unknown fields, which are mostly typos.
    pub fn check(options: &Map<String, Value>) -> Result<(), String> {
        Self::read(options)?;
        if let Some(Value::Object(fields)) = options.get(PROVIDER) {
            known_fields("options.provider", fields, &PROVIDER_FIELDS)?;
        }
        if let Some(Value::Object(servers)) = options.get(MCP_SERVERS) {
            for (name, server) in servers {
                if let Value::Object(fields) = server {
                    known_fields(&format!("options.mcpServers.{name}"), fields, &SERVER_FIELDS)?;
                }
            }
        }
        Ok(())
    }

    /// Whether the options choose a provider.
    pub fn choose_provider(options: &Map<String, Value>) -> bool {
        options.get(PROVIDER).is_some_and(|provider| !provider.is_null())
    }
}

fn known_fields(path: &str, fields: &Map<String, Value>, known: &[&str]) -> Result<(), String> {
    match fields.keys().find(|name| !known.contains(&name.as_str())) {
        Some(unknown) => Err(format!("{path}: unknown field {unknown:?}; expected one of {}", known.join(", "))),
        None => Ok(()),
    }
}

fn typed<T: DeserializeOwned>(path: &str, value: &Value) -> Result<T, String> {
    serde_json::from_value(value.clone()).map_err(|error| format!("{path}: {error}"))
}

/// What a value is, for error messages.
pub fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// A provider as the API has it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WrittenProvider {
    #[serde(rename = "type", default)]
    kind: Option<ProviderKind>,
    #[serde(default)]
    base_url: String,
    wire_api: Option<WireApi>,
    api_key: Option<String>,
    bearer_token: Option<String>,
    azure: Option<WrittenAzure>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    model_id: Option<String>,
    wire_model: Option<String>,
    max_prompt_tokens: Option<u64>,
    max_output_tokens: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WrittenAzure {
    api_version: Option<String>,
}

fn provider_choice(value: &Value) -> Result<Option<ProviderChoice>, String> {
    match value {
        Value::Null => Ok(None),
        Value::String(name) => Ok(Some(ProviderChoice::Configured(name.clone()))),
        Value::Object(_) => {
            let written: WrittenProvider = typed("options.provider", value)?;
            if written.base_url.is_empty() {
                return Err("options.provider: baseUrl is missing; it is the provider's address, such as \
                            \"http://localhost:11434/v1\""
                    .to_owned());
            }
            Ok(Some(ProviderChoice::Own(Box::new(Provider {
                kind: written.kind.unwrap_or_default(),
                base_url: written.base_url,
                wire_api: written.wire_api,
                api_key: written.api_key,
                bearer_token: written.bearer_token,
                api_version: written.azure.and_then(|azure| azure.api_version),
                headers: written.headers,
                model_id: written.model_id,
                wire_model: written.wire_model,
                max_prompt_tokens: written.max_prompt_tokens,
                max_output_tokens: written.max_output_tokens,
            }))))
        }
        other => Err(format!(
            "options.provider: expected the name of a configured provider or an object \
             {{type,baseUrl,apiKey,wireApi}}, got {}",
            kind_of(other)
        )),
    }
}

/// An MCP server as the API has it.
#[derive(Deserialize)]
struct WrittenServer {
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    command: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    cwd: Option<String>,
    #[serde(default)]
    url: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    tools: Option<Vec<String>>,
    timeout: Option<u64>,
}

fn mcp_servers(value: &Value) -> Result<BTreeMap<String, Option<McpServer>>, String> {
    match value {
        Value::Null => Ok(BTreeMap::new()),
        Value::Object(servers) => {
            servers.iter().map(|(name, server)| Ok((name.clone(), mcp_server(name, server)?))).collect()
        }
        other => Err(format!("options.mcpServers: expected an object of servers by name, got {}", kind_of(other))),
    }
}

fn mcp_server(name: &str, value: &Value) -> Result<Option<McpServer>, String> {
    if value.is_null() {
        return Ok(None);
    }
    let path = format!("options.mcpServers.{name}");
    if !value.is_object() {
        return Err(format!("{path}: expected an object with command or url, or null, got {}", kind_of(value)));
    }
    let written: WrittenServer = typed(&path, value)?;
    let kind = written.kind.as_deref().unwrap_or(if written.url.is_empty() { "stdio" } else { "http" });
    let address = || McpAddress { url: written.url.clone(), headers: written.headers.clone() };
    let transport = match kind {
        "stdio" | "local" if written.command.is_empty() => {
            return Err(format!("{path}: command is missing; it is the program to start"));
        }
        "http" | "sse" if written.url.is_empty() => {
            return Err(format!("{path}: url is missing; it is the server's address"));
        }
        "stdio" | "local" => {
            McpTransport::Stdio { command: written.command, args: written.args, env: written.env, cwd: written.cwd }
        }
        "http" => McpTransport::Http(address()),
        "sse" => McpTransport::Sse(address()),
        other => return Err(format!("{path}: unknown type {other:?}; expected stdio, http or sse")),
    };
    // A star stands for all tools.
    let tools = written.tools.filter(|tools| !tools.iter().any(|tool| tool == "*"));
    Ok(Some(McpServer { transport, tools, timeout_ms: written.timeout }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn map(value: Value) -> Map<String, Value> {
        let Value::Object(map) = value else { panic!("not an object: {value}") };
        map
    }

    #[test]
    fn a_provider_and_servers_are_read_into_their_types() {
        let options = map(json!({
            "provider": { "type": "azure", "baseUrl": "http://x", "apiKey": "k", "azure": { "apiVersion": "v" } },
            "mcpServers": {
                "files": { "command": "f", "args": ["-x"], "tools": ["read"] },
                "old": { "type": "local", "command": "o", "tools": ["*"] },
                "web": { "url": "http://w", "headers": { "A": "b" } },
                "gone": null,
            },
            "mode": "plan",
        }));
        assert_eq!(SessionOptions::check(&options), Ok(()));
        let read = SessionOptions::read(&options).expect("valid");
        let Some(ProviderChoice::Own(provider)) = &read.provider else { panic!("{read:?}") };
        assert_eq!((provider.kind, provider.api_version.as_deref()), (ProviderKind::Azure, Some("v")));
        let server = |name: &str| read.mcp_servers[name].as_ref().expect("kept");
        assert_eq!(server("files").tools, Some(vec!["read".to_owned()]));
        assert_eq!((server("old").transport.as_str(), &server("old").tools), ("stdio", &None));
        assert_eq!(server("web").transport.as_str(), "http");
        assert_eq!(read.mcp_servers["gone"], None);
        assert_eq!(read.other, map(json!({ "mode": "plan" })));
    }

    #[test]
    fn nothing_given_is_nothing_chosen() {
        let options = map(json!({ "provider": null, "mcpServers": null }));
        assert_eq!(SessionOptions::read(&options), Ok(SessionOptions::default()));
        assert!(!SessionOptions::choose_provider(&options));
        assert!(SessionOptions::choose_provider(&map(json!({ "provider": "x" }))));
    }

    #[test]
    fn an_error_names_the_field_and_what_was_expected() {
        for (options, words) in [
            (json!({ "provider": 7 }), ["options.provider", "got a number"]),
            (json!({ "provider": {} }), ["options.provider", "baseUrl is missing"]),
            (json!({ "provider": { "baseUrl": "x", "type": "openrouter" } }), ["options.provider", "anthropic"]),
            (json!({ "provider": { "baseUrl": "x", "apikey": "k" } }), ["\"apikey\"", "apiKey"]),
            (json!({ "mcpServers": [] }), ["options.mcpServers", "got an array"]),
            (json!({ "mcpServers": { "a": { "args": [] } } }), ["options.mcpServers.a", "command is missing"]),
            (json!({ "mcpServers": { "a": { "type": "http" } } }), ["options.mcpServers.a", "url is missing"]),
            (json!({ "mcpServers": { "a": { "type": "pigeon", "url": "u" } } }), ["\"pigeon\"", "stdio, http or sse"]),
            (json!({ "mcpServers": { "a": { "command": "c", "argv": [] } } }), ["\"argv\"", "args"]),
            (json!({ "mcpServers": { "a": { "command": "c", "args": "x" } } }), ["options.mcpServers.a", "sequence"]),
        ] {
            let error = SessionOptions::check(&map(options.clone())).expect_err("invalid");
            assert!(words.iter().all(|word| error.contains(word)), "{options}: {error}");
        }
    }

    #[test]
    fn stored_options_with_fields_of_another_version_stay_readable() {
        let options = map(json!({
            "provider": { "baseUrl": "x", "transport": "websockets" },
            "mcpServers": { "a": { "command": "c", "isDefaultServer": true } },
        }));
        assert!(SessionOptions::check(&options).is_err());
        assert!(SessionOptions::read(&options).is_ok());
    }
}
