//! Runs Claude Code on a scripted model, to check its behaviour.

use std::collections::BTreeMap;
use std::path::Path;

use crate::agent::{Owner, StartSpec};
use crate::model::McpServer;

/// Variables that select another service.
const SERVICES: [&str; 3] = ["ANTHROPIC_", "CLAUDE_CODE_USE_", "CLAUDE_CONFIG_DIR"];

/// A session on a model at a URL that serves Anthropic's messages API besides `OpenAI`'s, without the user's own
/// settings.
pub(in crate::agent::headless) fn spec_for_model_at(
    base_url: &str,
    folder: &Path,
    environment: &BTreeMap<String, String>,
    servers: &BTreeMap<String, McpServer>,
) -> StartSpec {
    let mut environment = environment.clone();
    environment.retain(|name, _| !SERVICES.iter().any(|beginning| name.starts_with(beginning)));
    let home = folder.join("home");
    for (name, value) in [
        // It appends the version itself.
        ("ANTHROPIC_BASE_URL", base_url.trim_end_matches('/').trim_end_matches("/v1")),
        ("ANTHROPIC_API_KEY", "none"),
        ("CLAUDE_CONFIG_DIR", &home.to_string_lossy()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("CLAUDE_CODE_MAX_RETRIES", "1"),
    ] {
        environment.insert(name.to_owned(), value.to_owned());
    }
    let mcp_servers = servers.keys().map(|name| (name.clone(), None)).collect();
    StartSpec { mcp_servers, environment, ..StartSpec::in_folder(Owner::Canary, folder) }
}
