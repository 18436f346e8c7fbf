//! Runs the CLI on a scripted model, to check its behaviour.

use std::collections::BTreeMap;
use std::path::Path;

use crate::agent::{Owner, StartSpec};
use crate::model::McpServer;

/// The spec of a CLI session in the given folder on a model at the given URL, without the user's own MCP servers.
pub(in crate::agent) fn spec_of_cli_for_model_at(
    base_url: &str,
    folder: &Path,
    environment: &BTreeMap<String, String>,
    servers: &BTreeMap<String, McpServer>,
) -> StartSpec {
    let mut environment = environment.clone();
    environment.retain(|name, _| !name.starts_with("COPILOT_PROVIDER_"));
    let home = folder.join("home");
    for (name, value) in [
        ("COPILOT_PROVIDER_TYPE", "openai"),
        ("COPILOT_PROVIDER_BASE_URL", base_url),
        ("COPILOT_PROVIDER_API_KEY", "none"),
        ("COPILOT_PROVIDER_WIRE_API", "completions"),
        ("COPILOT_MODEL", "scripted-model"),
        ("COPILOT_OFFLINE", "true"),
        // The session must not appear in the agent's own list, because it could not be deleted there.
        ("COPILOT_HOME", &home.to_string_lossy()),
    ] {
        environment.insert(name.to_owned(), value.to_owned());
    }
    let mcp_servers = servers.keys().map(|name| (name.clone(), None)).collect();
    StartSpec { mcp_servers, environment, ..StartSpec::in_folder(Owner::Canary, folder) }
}
