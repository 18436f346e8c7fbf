//! Claude Code on a model of our own, for a look at how it behaves.

use std::collections::BTreeMap;
use std::path::Path;

use crate::agent::{Owner, StartSpec};
use crate::model::McpServer;

/// Variables that choose another service.
const SERVICES: [&str; 3] = ["ANTHROPIC_", "CLAUDE_CODE_USE_", "CLAUDE_CONFIG_DIR"];

/// A session at an address that speaks Anthropic's messages beside `OpenAI`'s, with nothing of the user's own.
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
        // It adds the version itself.
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
